"""Recordings of runs are checked against today's code, node by node."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from antiphon_shared.events import EventData, ResponseReady, ToolsCompleted, ToolsRequested
from antiphon_shared.events.step_records import RunRecord

from antiphon.recording.files import read_lines, write_lines
from antiphon.recording.lines import End, EventLine, Line, RecordLine, SpecificationLine
from antiphon.recording.settings import own_redaction
from antiphon.replay.redacted_lines import redacted
from antiphon.replay.report import REDACTED_CHANGE, Reason
from antiphon.replay.reports.text import headline
from antiphon.replay.update import updated
from antiphon.replay.verify import verify_lines
from antiphon.workflows import publish, start
from coordinator.runs.memory import stored_changes
from coordinator.runs.state import RunState
from tests.antiphon.replay.runs.travel import ended_lines, pipeline, run_in, specification

NAMES = ("chain", "cheap", "dear", "fan", "undo", "ask", "approved", "unfit", "secret")


@pytest.mark.parametrize("name", NAMES)
def test_a_recorded_run_is_the_same_today_with_every_step_checked(
    runs: dict[str, list[Line]], name: str
) -> None:
    report = verify_lines(runs[name])

    assert (report.result, report.answer) == ("same", "same")
    records = [line for line in runs[name] if isinstance(line, RecordLine)]
    assert sum(report.steps.values()) == len(records)


def test_a_recording_holds_the_specification_of_its_run(runs: dict[str, list[Line]]) -> None:
    (line,) = [line for line in runs["chain"] if isinstance(line, SpecificationLine)]

    assert line.specification["workflows"].keys() == specification().workflows.keys()


def test_a_run_without_its_specification_is_reported_as_unchecked(runs: dict[str, list[Line]]) -> None:
    report = verify_lines([line for line in runs["chain"] if not isinstance(line, SpecificationLine)])

    assert report.result == "unchecked"
    assert any("lacks the specification" in reason.why for reason in report.unchecked)


def test_the_first_difference_is_named_with_its_node(runs: dict[str, list[Line]]) -> None:
    """Given a log in which another flight was booked than the specification says."""

    def other_flight(data: EventData) -> EventData:
        if not isinstance(data, ToolsRequested) or data.node != "b":
            return data
        call = data.calls[0].model_copy(update={"arguments": {"id": "F4"}})
        return data.model_copy(update={"calls": (call,)})

    report = verify_lines(changed(runs["chain"], other_flight))

    assert report.first is not None
    assert (report.first.node, report.first.path) == ("b", "calls[0].arguments.id")
    assert (report.first.expected, report.first.got) == ("F4", "F3")
    assert "node b: antiphon.tools.requested.v1" in headline(report)


def test_another_answer_is_a_difference(runs: dict[str, list[Line]]) -> None:
    def other_answer(data: EventData) -> EventData:
        return data.model_copy(update={"result": 1}) if isinstance(data, ResponseReady) else data

    report = verify_lines(changed(runs["chain"], other_answer))

    assert (report.result, report.answer) == ("diverged", "different")


def test_a_state_that_differs_from_the_record_diverges_by_its_digest(
    runs: dict[str, list[Line]],
) -> None:
    report = verify_lines(with_other_digest(runs["chain"]))

    assert report.first is not None
    assert (report.first.output, report.first.path) == ("state", "digest")


def test_a_digest_over_redacted_values_is_unchecked(runs: dict[str, list[Line]]) -> None:
    lines = with_other_digest(runs["chain"])
    assert isinstance(lines[-1], End)

    report = verify_lines([*lines[:-1], lines[-1].model_copy(update={"redactions": 3})])

    assert report.result == "unchecked"
    assert report.unchecked == {Reason("coordinator", REDACTED_CHANGE): 1}


def test_a_redacted_run_holds_no_secret_and_verifies(runs: dict[str, list[Line]], tmp_path: Path) -> None:
    """Neither the run's params nor its specification."""
    shown = redacted(runs["secret"], own_redaction())
    write_lines(tmp_path / "secret.jsonl", shown)

    text = (tmp_path / "secret.jsonl").read_text()
    assert "open-sesame-17" not in text
    assert "a-key-of-the-author" not in text
    assert '"$password"' in text, "a reference is no secret"
    assert verify_lines(list(read_lines(tmp_path / "secret.jsonl"))).result == "same"


def test_the_state_rebuilt_from_the_log_equals_the_live_one() -> None:
    """After every event, the digests of all changes and the resulting states are equal."""
    import asyncio

    from antiphon.replay.steps.repeat import Replay

    async def live() -> tuple[list[Line], RunState]:
        async with pipeline() as antiphon:
            lines = await run_in(antiphon, "fan")
            first = next(line.event for line in lines if isinstance(line, EventLine))
            state = RunState()
            for _, change in await stored_changes(antiphon.open_bus().session(first.subject)):
                state.apply(change)
            return lines, state

    lines, state = asyncio.run(live())
    replay = Replay()
    for line in lines:
        replay.read(line)

    assert replay.runs is not None
    assert replay.runs.state == state


def test_a_missing_decision_on_an_event_of_a_run_is_unchecked(
    runs: dict[str, list[Line]],
) -> None:
    """Given a log of which one decision was left out, as if its event had been lost."""
    decided = [
        line for line in runs["dear"] if isinstance(line, RecordLine) and isinstance(line.record, RunRecord)
    ]
    brought = next(
        line
        for line in runs["dear"]
        if isinstance(line, EventLine) and isinstance(line.event.data, ToolsCompleted)
    )
    assert decided[1].record.of == brought.event.id
    removed = {decided[1].record.of}

    lines: list[Line] = []
    for line in runs["dear"]:
        is_of = isinstance(line, RecordLine) and line.record.of in removed
        if not is_of:
            lines.append(line)

    assert verify_lines(lines).result == "unchecked"


@pytest.mark.parametrize("is_any_published", [False, True])
async def test_a_run_of_an_unpublished_workflow_gives_advice_and_replays(
    is_any_published: bool, tmp_path: Path
) -> None:
    async with pipeline() as antiphon:
        if is_any_published:
            path = tmp_path / "w.yaml"
            path.write_text(
                'version: "1"\ndomain: d\nworkflows: {w: {description: D., graph: {a: {type: wait, seconds: 1}}}}'
            )
            await publish(antiphon, [path])
        run_id = await start(antiphon, "nothing")
        response = await antiphon.result(run_id)
        lines = await ended_lines(antiphon, run_id)
    help = "There are: w." if is_any_published else "publish its file with `antiphon workflows publish FILE`."
    assert response.answer.endswith(help)
    assert verify_lines(lines).is_same


@pytest.mark.parametrize("name", NAMES)
def test_an_update_leaves_a_current_run_unchanged(runs: dict[str, list[Line]], name: str) -> None:
    def without_header(lines: list[Line]) -> list[Line]:
        return lines[1:]

    assert without_header(list(updated(runs[name]))) == without_header(runs[name])


def test_verifying_a_run_imports_no_event_loop_and_no_pool(
    runs: dict[str, list[Line]], tmp_path: Path
) -> None:
    write_lines(tmp_path / "fan.jsonl", runs["fan"])
    program = (
        "import sys; from pathlib import Path; from antiphon.replay.verify import verify; "
        f"print(verify(Path({str(tmp_path / 'fan.jsonl')!r})).result); "
        "print({name.partition('.')[0] for name in sys.modules} & {'asyncio', 'anthropic', 'duckdb', 'redis'})"
        "; print('concurrent.futures' in sys.modules)"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120
    )

    assert done.stdout.split("\n")[:3] == ["same", "set()", "False"]


def changed(lines: list[Line], change: Callable[[EventData], EventData]) -> list[Line]:
    """Return the recording with the data of its events changed."""

    def one(line: Line) -> Line:
        if not isinstance(line, EventLine):
            return line
        data: Any = change(line.event.data)
        return replace(line, event=line.event.model_copy(update={"data": data}))

    return [one(line) for line in lines]


def with_other_digest(lines: list[Line]) -> list[Line]:
    """Return the recording with another digest in the record of the run's second decision."""
    seen = 0
    new: list[Line] = []
    for line in lines:
        if isinstance(line, RecordLine) and isinstance(line.record, RunRecord):
            seen += 1
            if seen == 2:
                line = RecordLine.of(line.record.model_copy(update={"changed": "0" * 16}))
        new.append(line)
    return new
