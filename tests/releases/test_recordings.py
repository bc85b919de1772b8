"""Recordings of the previous release: read, verified, rerun and forked, under their own keys."""

from pathlib import Path
from typing import Any

import pytest
from antiphon_shared.events import ToolsRequested

from antiphon import Tool, ToolContext
from antiphon.recording.files import read_lines
from antiphon.recording.lines import EventLine, Line
from antiphon.replay.forking.changes import read_changes
from antiphon.replay.forking.fork_session import fork
from antiphon.replay.rerun import rerun
from antiphon.replay.verify import verify, verify_lines
from tests.messages_server import Scripted, serving
from tests.rows import each_row

RECORDINGS = sorted((Path(__file__).parent / "recordings").glob("*.jsonl"))
ANSWER_DIFFERS = {
    # Readers no longer see what a model is to do next; in older filings the two cannot be distinguished.
    "of_two_writes_one_is_approved": "uncertainty[0].message",
    # The answer names the calls that may have taken effect.
    "a_plain_write_that_a_crash_left_unknown": "answer",
}
"""The part of each recording's answer that later releases deliberately write differently."""
SCOPES = read_changes(sets=["ANTIPHON_TOOL_DISPATCHER_DEFAULT_SCOPES=read,write"])


def requests_in(lines: list[Line]) -> list[ToolsRequested]:
    found = [line.event for line in lines if isinstance(line, EventLine)]
    assert {event.format for event in found} == {1}
    return [event.data for event in found if isinstance(event.data, ToolsRequested)]


def test_the_releases_have_eight_recordings() -> None:
    assert len(RECORDINGS) == 8


@each_row("path", RECORDINGS, ids=lambda path: path.stem)
def test_each_is_decided_the_same_today(path: Path) -> None:
    report = verify(path)
    if path.stem in ANSWER_DIFFERS:
        assert ANSWER_DIFFERS[path.stem] in str(report.first)
    else:
        assert (report.is_same, report.answer) == (True, "same"), report.first


async def test_each_runs_again_with_the_same_response() -> None:
    for report in await rerun(RECORDINGS):
        name = Path(report.path).stem
        assert report.is_same == (name not in ANSWER_DIFFERS), report
        assert (report.first is None) == (name not in ANSWER_DIFFERS), report.first


async def test_writes_keep_their_keys_after_a_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = []

    def send(arguments: dict[str, Any], context: ToolContext) -> str:
        keys.append(context.idempotency_key)
        return "sent"

    to = {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}
    (path,) = (path for path in RECORDINGS if path.stem == "a_plain_write_in_order")
    async with serving(Scripted(text="Both are on their way.")) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        tool = Tool("send_letter", "Sends a letter.", to, send, effect="write")
        lines = await fork(list(read_lines(path)), "tools.requested@1", SCOPES, [tool])
    (request,) = requests_in(lines)
    assert keys == [call.idempotency_key for call in request.calls]
    assert keys == [f"default/{path.stem}/1/toolu_{n}" for n in (1, 2)]
    assert verify_lines(lines).is_same, verify_lines(lines).first
