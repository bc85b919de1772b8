"""Recorded sessions in steps, forked and rerun: each step keeps its tools."""

from pathlib import Path

import pytest
from antiphon_shared.events import ReasoningRequested, StepBegun, ToolsRequested

from antiphon.recording.files import read_lines
from antiphon.recording.lines import Line
from antiphon.replay.forking.changes import read_changes
from antiphon.replay.forking.event_at import NoSuchPoint
from antiphon.replay.forking.fork_session import fork
from antiphon.replay.verify import verify_lines
from tests.antiphon.recording.recorded import events
from tests.antiphon.replay.forking.test_fork_session import answer, check_that_a_rerun_is_the_same
from tests.messages_server import Scripted, Use, serving
from tests.recordings.folder import FOLDER
from tests.recordings.scenarios.outputs import FITS, PLAN

SAME_TOOLS = ["tests.flows.validating_tools", "tests.recordings.few_tools"]
OTHER_TOOLS = [*SAME_TOOLS, "examples.weather"]
VALIDATORS = ("validate_full", "validate_minimal")
VALIDATES = Scripted(uses=tuple(Use(name=name, input={"plan": PLAN}) for name in VALIDATORS))
COUNTS = Scripted(uses=(Use(name="count_berths", input={"harbour": "Skagen"}),))
BOOKS, BOOKED = (
    Scripted(uses=(Use(name="store_note", input={"text": "Skagen"}),)),
    Scripted(text='{"booked": true}'),
)
WRITES = "ANTIPHON_TOOL_DISPATCHER_DEFAULT_SCOPES=read,write"


@pytest.fixture
def in_order() -> list[Line]:
    (path,) = FOLDER.glob("steps_that_are_taken_in_order.jsonl*")
    return list(read_lines(path))


@pytest.mark.parametrize("tools", [SAME_TOOLS, OTHER_TOOLS], ids=["the same tools", "other tools"])
async def test_a_fork_in_a_later_step_continues_in_it_with_only_its_tools(
    in_order: list[Line], tools: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replies = (COUNTS, VALIDATES, Scripted(text=FITS), BOOKS, BOOKED)
    async with serving(*replies) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        lines = await fork(in_order, "reasoning.requested@3", read_changes("another", [WRITES]), tools)
    live = [line.event.data for line in events(lines) if line.n > round_of(in_order, 3)]
    offered = [data.tools for data in live if isinstance(data, ReasoningRequested)]
    assert offered == [*[VALIDATORS] * 2, ("store_note",), ("repeat_call", "store_note")]
    back = next(data for data in live if isinstance(data, ToolsRequested))
    assert "count_berths" not in back.allowed
    assert "step `discovery` is done" in (back.calls[0].refused or "")
    assert [data.step for data in live if isinstance(data, StepBegun)] == ["booking"]
    assert answer(lines).result == {"booked": True}
    assert verify_lines(lines).is_same, verify_lines(lines).first
    await check_that_a_rerun_is_the_same(lines, tmp_path)


def round_of(lines: list[Line], round: int) -> int:
    """Return the number of the request for a reply in that round."""
    return next(
        line.n
        for line in events(lines)
        if isinstance(asked := line.event.data, ReasoningRequested) and asked.round == round
    )


async def test_a_fork_in_the_last_round_of_an_attempt_needs_tools_for_the_next_attempt() -> None:
    (path,) = FOLDER.glob("a_step_that_is_done_at_the_second_attempt.jsonl*")
    with pytest.raises(NoSuchPoint, match="can call tools"):
        await fork(list(read_lines(path)), "reasoning.requested@7", read_changes("another"))
