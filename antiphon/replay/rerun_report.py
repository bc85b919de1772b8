"""The result of a rerun. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from antiphon_shared.events import AnyEvent, ResponseReady

from antiphon.replay.differences import ABSENT, Difference, differences
from antiphon.replay.serving.exchanges import Miss
from antiphon.replay.serving.recording_index import RecordingIndex

Outcome = Literal["same", "different", "unfinished", "none"]
"""`unfinished`: the session did not end in time. `none`: the recorded session did not end, and the rerun got as far.
"""
_TIME_FIELDS = frozenset({"duration_ms"})
_MESSAGE_FIELDS: Mapping[str, frozenset[str]] = {
    "antiphon.reasoning.failed.v1": frozenset({"message"}),
    "antiphon.summary.failed.v1": frozenset({"message"}),
    "antiphon.rung.taken.v1": frozenset({"because"}),
}
"""Fields with the message of a failure, which may differ; the answer does not depend on it."""


@dataclass(frozen=True, slots=True)
class EventDifference:
    """The first event of a rerun that differs from the recording."""

    event: int
    """The number in the recording; for an additional event, the number after the last."""
    type: str
    path: str
    expected: Any
    got: Any


@dataclass(frozen=True)
class RerunReport:
    """The rerun of one recording with today's pipeline."""

    path: str
    session_id: str
    answer: Outcome
    response: tuple[Difference, ...] = ()
    """The differences of the final response."""
    first: EventDifference | None = None
    misses: tuple[Miss, ...] = ()
    events: int = 0
    """The number of events in the rerun."""

    @property
    def is_same(self) -> bool:
        """Return whether the final response is the same, and every request was recorded."""
        return self.answer in ("same", "none") and not self.misses


def report_of(
    path: str, recording_index: RecordingIndex, log: Sequence[tuple[str, AnyEvent]], misses: Sequence[Miss]
) -> RerunReport:
    """Return the report of a session whose log after the rerun is `log`."""
    today = next((event.data for _, event in log if isinstance(event.data, ResponseReady)), None)
    answer: Outcome = "none" if recording_index.response is None else "unfinished"
    response_differences: tuple[Difference, ...] = ()
    if today is not None:
        then = ABSENT if recording_index.response is None else _compared_fields(recording_index.response)
        response_differences = tuple(differences(then, _compared_fields(today)))
        answer = "different" if response_differences else "same"
    elif recording_index.response is None and len(log) < len(recording_index.events):
        answer = "unfinished"
    return RerunReport(
        path=path,
        session_id=recording_index.session_id,
        answer=answer,
        response=response_differences,
        first=_first(recording_index, log),
        misses=tuple(misses),
        events=len(log),
    )


def _compared_fields(response: ResponseReady) -> dict[str, Any]:
    return response.model_dump(mode="json", exclude=set(_TIME_FIELDS))


def _first(recording_index: RecordingIndex, log: Sequence[tuple[str, AnyEvent]]) -> EventDifference | None:
    """Return the first recorded event that is missing or differs, else the first additional event."""
    now = {event.id: event for _, event in log}
    names_then = {line.entry: f"event {line.n}" for line in recording_index.events}
    names_now = {
        entry: f"event {recording_index.by_id[event.id].n}"
        if event.id in recording_index.by_id
        else "another event"
        for entry, event in log
    }
    for line in recording_index.events:
        then, today = line.event, now.get(line.event.id)
        if today is None:
            return EventDifference(line.n, then.type, "", then.type, ABSENT)
        if today.type != then.type:
            return EventDifference(line.n, then.type, "", then.type, today.type)
        for path, expected, got in differences(_comparable(then, names_then), _comparable(today, names_now)):
            return EventDifference(line.n, then.type, path, expected, got)
    number = len(recording_index.events) + 1
    added = (event.type for _, event in log if event.id not in recording_index.by_id)
    return next((EventDifference(number, type, "", ABSENT, type) for type in added), None)


def _comparable(event: AnyEvent, entry_names: Mapping[str, str]) -> Any:
    """Return an event's data without measured times, and with names in place of log entries."""
    ignored = _TIME_FIELDS | _MESSAGE_FIELDS.get(event.type, frozenset())
    return _remove_ignored(event.data.model_dump(mode="json"), ignored, entry_names)


def _remove_ignored(value: object, ignored: frozenset[str], entry_names: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {
            name: _remove_ignored(inner, ignored, entry_names)
            for name, inner in value.items()
            if name not in ignored
        }
    if isinstance(value, list):
        return [_remove_ignored(inner, ignored, entry_names) for inner in value]
    return entry_names.get(value, value) if isinstance(value, str) else value
