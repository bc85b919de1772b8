"""A recording contains all that it names, under the right hash: a change of either is reported."""

from pathlib import Path

import pytest
from antiphon_shared.events import ToolsCompleted
from antiphon_shared.events.step_records import ExchangeRecord
from antiphon_shared.process.errors import UnreadableEvent

from antiphon.recording.files import read_lines
from antiphon.recording.lines import Line, RecordLine, SpecificationLine
from antiphon.replay.verify import verify_lines
from tests.antiphon.recording.changed import with_event

KEPT = Path(__file__).parents[3] / "recordings"


def kept(name: str) -> list[Line]:
    """Return a kept recording, which verifies."""
    lines = list(read_lines(KEPT / name))
    assert verify_lines(lines).result == "same"
    return lines


def test_a_content_that_a_record_names_is_in_a_line() -> None:
    lines = kept("a_call_that_is_cut_off.jsonl")
    for n, line in enumerate(lines):
        if isinstance(line, RecordLine) and isinstance(line.record, ExchangeRecord):
            named = line.record.model_copy(update={"contents": (*line.record.contents, "0" * 32)})
            lines[n] = line.model_copy(update={"record": named})
            break

    with pytest.raises(UnreadableEvent, match=r"names the content 0{32}, which no earlier line holds"):
        verify_lines(lines)


def test_a_specification_is_the_one_of_its_hash() -> None:
    lines = kept("a_run_of_which_nobody_approves.jsonl.gz")
    n, line = next((n, one) for n, one in enumerate(lines) if isinstance(one, SpecificationLine))
    lines[n] = line.model_copy(update={"specification": {**line.specification, "version": "another"}})

    report = verify_lines(lines)

    assert report.result == "unchecked"
    assert any(f"not the one of the hash {line.hash}" in reason.why for reason in report.unchecked)


def test_a_result_names_an_alternative_of_its_tool() -> None:
    lines = kept("another_tool_answers_for_one_that_fails.jsonl.gz")

    def other(data: ToolsCompleted) -> ToolsCompleted:
        results = [one.model_copy(update={"substitute": "other"}) for one in data.results]
        return data.model_copy(update={"results": tuple(results)})

    report = verify_lines(with_event(lines, ToolsCompleted, other))

    assert report.result == "diverged"
    found = [(one.component, one.output, one.path) for one in report.divergences]
    assert ("tool_dispatcher", "results", "[0].substitute") in found
