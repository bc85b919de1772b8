"""Recorded up to an event, live from there: on a Redis of its own, with the offline model and with a scripted one."""

from pathlib import Path

import pytest
from antiphon_shared.events import ReasoningCompleted, ReasoningRequested, ResponseReady, ToolsRequested
from antiphon_shared.events.step_records import ForkRecord
from antiphon_shared.process.clock import utc_now
from antiphon_shared.process.errors import ConfigurationError

from antiphon.recording.files import read_lines, write_lines
from antiphon.recording.lines import EventLine, Header, Line, RecordLine
from antiphon.replay.forking.changes import read_changes
from antiphon.replay.forking.event_at import NoSuchPoint
from antiphon.replay.forking.fork_session import digest_of_lines, fork
from antiphon.replay.rerun import rerun
from antiphon.replay.verify import verify, verify_lines
from tests.antiphon.recording.recorded import events
from tests.messages_server import Scripted, Use, serving

TOOLS = ["examples.courses"]
SECOND = "reasoning.requested@2"
OFFLINE = read_changes("offline")


def answer(lines: list[Line]) -> ResponseReady:
    data = events(lines)[-1].event.data
    assert isinstance(data, ResponseReady)
    return data


async def test_with_nothing_changed_the_answer_is_the_same(courses_lines: list[Line]) -> None:
    lines = await fork(courses_lines, SECOND, OFFLINE, TOOLS)
    assert answer(lines).answer == answer(courses_lines).answer
    assert answer(lines).sources == answer(courses_lines).sources
    report = verify_lines(lines)
    assert (report.is_same, report.answer) == (True, "same"), report.first


async def test_a_fork_keeps_the_lines_before_its_point_as_recorded(courses_lines: list[Line]) -> None:
    lines = await fork(courses_lines, SECOND, OFFLINE, TOOLS)
    at = next(n for n, line in enumerate(lines) if is_fork(line))
    assert lines[1:at] == courses_lines[1:at]
    last = lines[at - 2]  # followed by the record of its step
    assert isinstance(last, EventLine)
    assert isinstance(last.event.data, ReasoningRequested)
    assert [line.n for line in events(lines)] == list(range(1, len(events(lines)) + 1))
    assert all(line.event.time > last.event.time for line in events(lines)[last.n :])


async def test_a_fork_knows_its_parent(courses_lines: list[Line]) -> None:
    changes = read_changes("offline", ["max_rounds=2"])
    header = (await fork(courses_lines, SECOND, changes, TOOLS))[0]
    assert isinstance(header, Header)
    assert header.parent is not None
    assert header.parent.digest == digest_of_lines(courses_lines)
    assert (header.parent.event, header.parent.session_id) == (11, header.session_id)
    assert header.parent.changes == {"max_rounds": "2", "model": "offline"}


async def test_a_lowered_limit_ends_the_session_with_its_current_facts(courses_lines: list[Line]) -> None:
    lines = await fork(courses_lines, SECOND, read_changes("offline", ["max_rounds=2"]), TOOLS)
    assert (answer(lines).status, answer(lines).termination_reason) == ("partial", "max_rounds_reached")
    assert answer(lines).rounds_used == 2
    assert verify_lines(lines).is_same, verify_lines(lines).first


@pytest.mark.parametrize(
    "place", ["3", "briefing.ready@1", "reasoning.completed@1", "tools.requested@1", "19"]
)
async def test_a_session_can_be_forked_at_any_component(courses_lines: list[Line], place: str) -> None:
    lines = await fork(courses_lines, place, OFFLINE, TOOLS)
    assert answer(lines).answer == answer(courses_lines).answer
    assert verify_lines(lines).is_same, verify_lines(lines).first


async def test_a_fork_keeps_the_time_left_until_the_deadline(courses_lines: list[Line]) -> None:
    """The deadline keeps the remaining time, independent of the age of the recording."""
    before = utc_now()
    lines = await fork(courses_lines, SECOND, OFFLINE, TOOLS)
    (record,) = (line.record for line in lines if isinstance(line, RecordLine) and is_fork(line))
    assert isinstance(record, ForkRecord)
    (asked,) = record.redelivered
    assert asked.time >= before
    request = events(courses_lines)[10].event
    assert isinstance(request.data, ReasoningRequested)
    left = request.data.deadline - request.time
    assert ReasoningRequested.model_validate({**request.data.model_dump(), **asked.changed}).deadline == (
        asked.time + left
    )


async def test_another_model_and_another_prompt_are_asked_from_there_on(
    courses_lines: list[Line], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prompt = tmp_path / "prompt.md"
    prompt.write_text("Answer in one word.\n")
    changes = read_changes("another", prompt=(str(prompt), prompt.read_text()))
    async with serving(Scripted(text="Payments [F5].", model="another")) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        lines = await fork(courses_lines, SECOND, changes, TOOLS)
    (request,) = server.requests
    assert request.body["model"] == "another"
    assert request.body["system"][0]["text"] == "Answer in one word."
    assert "# Facts" in request.body["messages"][0]["content"]
    assert answer(lines).answer.startswith("Payments")
    replied = next(line.event.data for line in events(lines)[11:])
    assert isinstance(replied, ReasoningCompleted)
    assert replied.model == "another"
    report = verify_lines(lines)
    assert report.is_same, report.first
    await check_that_a_rerun_is_the_same(lines, tmp_path)
    header = lines[0]
    assert isinstance(header, Header)
    assert header.parent is not None
    assert header.prompts["reason"] == header.parent.changes["prompt"]
    assert "another" in header.models


async def test_other_tools_are_offered_and_called_from_there_on(
    courses_lines: list[Line], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving(
        Scripted(uses=(Use(name="forecast"),)),
        Scripted(text="Done."),
    ) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        lines = await fork(courses_lines, SECOND, read_changes(), ["examples.weather"])
    offered = {tool["name"] for tool in server.requests[0].body["tools"]}
    assert "search_course_content" not in offered
    requested = next(
        line.event.data for line in events(lines)[11:] if isinstance(line.event.data, ToolsRequested)
    )
    assert "search_course_content" not in requested.allowed
    assert verify_lines(lines).is_same, verify_lines(lines).first


async def test_a_fork_can_be_forked(courses_lines: list[Line], tmp_path: Path) -> None:
    path = tmp_path / "fork.jsonl.gz"
    write_lines(path, await fork(courses_lines, SECOND, read_changes("offline", ["max_rounds=5"]), TOOLS))
    lines = await fork(
        list(read_lines(path)), "tools.requested@2", read_changes("offline", ["max_rounds=2"]), TOOLS
    )
    write_lines(path, lines)
    assert answer(lines).termination_reason == "max_rounds_reached"
    assert sum(map(is_fork, lines)) == 2
    assert verify(path).is_same, verify(path).first
    await check_that_a_rerun_is_the_same(lines, tmp_path)


async def test_a_fork_that_may_call_tools_requires_them(courses_lines: list[Line]) -> None:
    with pytest.raises(NoSuchPoint, match="search_course_content") as refused:
        await fork(courses_lines, SECOND, OFFLINE)
    assert "--tools" in refused.value.hint


async def test_an_answer_is_assembled_again_without_any_tools(courses_lines: list[Line]) -> None:
    lines = await fork(courses_lines, "assembly.requested", OFFLINE)
    assert answer(lines).answer == answer(courses_lines).answer


async def test_an_unavailable_model_is_not_replaced_by_another(courses_lines: list[Line]) -> None:
    with pytest.raises(ConfigurationError, match="no API key"):
        await fork(courses_lines, SECOND, read_changes("another"), TOOLS)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("max_rounds", "the value is missing"),
        ("colour=red", "no limit or setting"),
        ("ANTIPHON_REDIS_URL=redis://x", "private Redis"),
    ],
)
def test_an_invalid_change_is_refused(given: str, why: str) -> None:
    with pytest.raises(ConfigurationError, match=why):
        read_changes(sets=[given])


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("max_rounds=0", "max_rounds"),
        ("max_rounds=many", "max_rounds"),
        ("deadline_s=0.000001", "had passed"),
    ],
)
async def test_a_limit_that_makes_no_sense_is_refused(
    courses_lines: list[Line], given: str, why: str
) -> None:
    with pytest.raises(ConfigurationError, match=why):
        await fork(courses_lines, SECOND, read_changes("offline", [given]), TOOLS)


async def test_a_changed_setting_applies_only_in_the_fork(
    courses_lines: list[Line], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTIPHON_REASONING_ENGINE_MAX_OUTPUT_TOKENS", raising=False)
    changes = read_changes("offline", ["ANTIPHON_REASONING_ENGINE_MAX_OUTPUT_TOKENS=77"])
    lines = await fork(courses_lines, "reasoning.requested@3", changes, TOOLS)
    record = [line.record for line in lines if isinstance(line, RecordLine)][-4:]
    assert 77 in [getattr(one, "max_output_tokens", 0) for one in record]
    with pytest.raises(ConfigurationError, match="is not a setting"):
        await fork(
            courses_lines, SECOND, read_changes("offline", ["ANTIPHON_REASONING_ENGINE_COLOUR=1"]), TOOLS
        )


async def check_that_a_rerun_is_the_same(lines: list[Line], folder: Path) -> None:
    """Check that a rerun from the event where the fork left its parent is the same."""
    write_lines(folder / "again.jsonl", lines)
    (again,) = await rerun([folder / "again.jsonl"])
    assert again.is_same, again
    assert again.first is None, again.first
    assert again.events == len(events(lines))


def is_fork(line: Line) -> bool:
    return isinstance(line, RecordLine) and isinstance(line.record, ForkRecord)
