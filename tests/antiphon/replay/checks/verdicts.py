"""Checks of a verified recording, for tests."""

from collections.abc import Iterable
from typing import TypeVar

from antiphon_shared.events import Component, EventData
from antiphon_shared.events.step_records import StepRecord

from antiphon.recording.lines import EventLine, Line, RecordLine
from antiphon.replay.report import Report
from antiphon.replay.verify import verify_lines

DataT = TypeVar("DataT", bound=EventData)
RecordT = TypeVar("RecordT", bound=StepRecord)


def is_complete(lines: Iterable[Line]) -> Report:
    """Check that every step was repeated without a difference."""
    report = verify_lines(lines)
    assert report.is_same, report.divergences
    assert not report.unchecked, report.unchecked
    assert report.answer == "same"
    return report


def differs_first(lines: Iterable[Line], component: Component, output: str) -> Report:
    """Check that the first divergence is of that component, in that output."""
    report = verify_lines(lines)
    assert report.first is not None, "nothing differs"
    assert (report.first.component, report.first.output) == (component, output), report.first
    return report


def lines_of(lines: Iterable[Line], kind: type[EventData]) -> list[EventLine]:
    """Return the events of one kind."""
    return [line for line in lines if isinstance(line, EventLine) and isinstance(line.event.data, kind)]


def data_of(lines: Iterable[Line], kind: type[DataT]) -> list[DataT]:
    """Return the data of the events of one kind."""
    return [line.event.data for line in lines_of(lines, kind) if isinstance(line.event.data, kind)]


def records(lines: Iterable[Line], kind: type[RecordT]) -> list[RecordT]:
    """Return the records of one kind."""
    return [line.record for line in lines if isinstance(line, RecordLine) and isinstance(line.record, kind)]
