"""Events sent to other sessions are recorded and compared: queries that begin them, and reports of their ends."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from antiphon_shared.events.step_records import DecisionRecord, RunRecord, SendRecord

from antiphon.recording.files import read_lines, write_lines
from antiphon.recording.lines import Line, RecordLine
from antiphon.recording.redaction.redact import Redaction
from antiphon.recording.settings import RecordingSettings
from antiphon.replay.redacted_lines import redacted
from antiphon.replay.report import Divergence
from antiphon.replay.update import updated
from antiphon.replay.verify import verify_lines

NAMES = ("reasons", "reasoned", "calls", "calls_run", "waits", "waits_run")


@pytest.mark.parametrize("name", NAMES)
def test_sessions_around_runs_are_the_same_today_with_every_step_checked(
    around: dict[str, list[Line]], name: str, tmp_path: Path
) -> None:
    write_lines(tmp_path / "it.jsonl", around[name])
    lines = list(read_lines(tmp_path / "it.jsonl"))

    report = verify_lines(lines)

    assert (report.result, report.unchecked) == ("same", {})
    assert sum(report.steps.values()) == sum(isinstance(line, RecordLine) for line in lines)
    assert len(sends(lines)) == 1
    assert list(updated(lines))[1:] == lines[1:]


def test_another_question_of_a_node_is_a_difference_at_the_node(around: dict[str, list[Line]]) -> None:
    first = differing(around["reasons"], query="What is the price for 4?")

    assert (first.node, first.output) == ("pick", "sends")
    assert first.path.endswith("[0].data.query")
    assert (first.expected, first.got) == ("What is the price for 4?", "What is the price for 3?")


def test_other_arguments_of_a_run_that_a_model_has_called_are_a_difference(
    around: dict[str, list[Line]],
) -> None:
    options = {"workflow": {"name": "cheapest_flight", "params": {"city": "Porto"}}}

    first = differing(around["calls"], options=options)

    assert first.path.endswith("[0].data.options.workflow.params.city")
    assert (first.expected, first.got) == ("Porto", "Lisbon")


@pytest.mark.parametrize("name", ["reasoned", "calls_run", "waits_run"])
def test_news_of_another_call_is_a_difference(around: dict[str, list[Line]], name: str) -> None:
    first = differing(around[name], round=7)

    assert (first.output, first.expected, first.got) == ("sends", 7, 1)


@pytest.mark.parametrize("name", NAMES)
def test_an_event_for_another_session_that_was_not_sent_is_a_difference(
    around: dict[str, list[Line]], name: str
) -> None:
    report = verify_lines(with_sends(around[name], lambda send: None))

    assert report.first is not None
    assert report.first.output == "sends"


@pytest.mark.parametrize("name", ["calls", "calls_run", "waits", "waits_run"])
def test_data_sent_to_another_session_is_redacted_and_verifies(
    around: dict[str, list[Line]], name: str
) -> None:
    rules = RecordingSettings().rules.model_copy(update={"patterns": ("Lisbon",)})

    shown = redacted(around[name], Redaction.of(rules, ()))

    assert "Lisbon" not in "".join(send.model_dump_json() for send in sends(shown))
    assert verify_lines(shown).result == "same"


def sends(lines: list[Line]) -> list[SendRecord]:
    """Return the events that were sent to other sessions, by the recording."""
    return [
        send for line in lines if isinstance(line, RecordLine) for send in getattr(line.record, "sends", ())
    ]


def with_sends(lines: list[Line], change: Callable[[SendRecord], SendRecord | None]) -> list[Line]:
    """Change the sent events of the recording."""

    def one(line: Line) -> Line:
        if not isinstance(line, RecordLine) or not isinstance(line.record, DecisionRecord | RunRecord):
            return line
        changed = tuple(new for send in line.record.sends if (new := change(send)) is not None)
        return line.model_copy(update={"record": line.record.model_copy(update={"sends": changed})})

    return [one(line) for line in lines]


def differing(lines: list[Line], **fields: Any) -> Divergence:
    """Return the first difference after other events were sent."""
    report = verify_lines(
        with_sends(lines, lambda send: send.model_copy(update={"data": {**send.data, **fields}}))
    )
    assert report.first is not None
    return report.first
