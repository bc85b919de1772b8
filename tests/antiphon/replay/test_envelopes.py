"""An envelope that the bus would not have written is noticed, even where the chain was computed again."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from antiphon_shared.events import AnyEvent, QuerySubmitted
from antiphon_shared.process.errors import UnreadableEvent

from antiphon.recording.files import read_lines
from antiphon.recording.lines import EventLine, Header, Line
from antiphon.replay.verify import verify_lines

Change = Callable[[AnyEvent], dict[str, Any]]
OTHER = UUID(int=1)
TRACE = f"00-{'1' * 32}-{'1' * 16}-01"
RECORDINGS = Path(__file__).parents[2] / "recordings"
CHANGES: dict[str, tuple[Change, str]] = {
    "subject": (lambda event: {"subject": "another"}, "its subject is another"),
    "correlationid": (lambda event: {"correlationid": OTHER}, "its correlationid differs"),
    "causationid": (lambda event: {"causationid": OTHER}, "is not derived from its causationid"),
    "id": (lambda event: {"id": OTHER}, "is not derived from its causationid"),
    "source": (lambda event: {"source": "client"}, "its source is client"),
    "traceparent": (
        lambda event: {"traceparent": TRACE},
        "its traceparent differs",
    ),
    "format": (lambda event: {"format": 1}, "its format is 1"),
    "an hour early": (lambda event: {"time": event.time - timedelta(hours=1)}, "long before event"),
    "an hour late": (lambda event: {"time": event.time + timedelta(hours=1)}, "long after it was logged"),
}


def with_envelope(lines: list[Line], n: int, change: Change) -> list[Line]:
    return [
        replace(line, event=line.event.model_copy(update=change(line.event)))
        if isinstance(line, EventLine) and line.n == n
        else line
        for line in lines
    ]


@pytest.mark.parametrize("field", CHANGES)
@pytest.mark.parametrize("n", [5, 9, 20])
def test_an_envelope_field_that_does_not_follow_from_earlier_events_is_named(
    courses_lines: list[Line], field: str, n: int
) -> None:
    change, message = CHANGES[field]
    with pytest.raises(UnreadableEvent, match=f"event {n}, antiphon.*{message}"):
        verify_lines(with_envelope(courses_lines, n, change))


def by_a_foreign_writer(lines: list[Line], inherits: bool) -> list[Line]:
    """Return the events with ids of an outside writer, which the bus passes on to derived events."""
    own: dict[UUID | None, dict[str, Any]] = {}
    changed: list[Line] = []
    for line in lines:
        if isinstance(line, EventLine):
            event = line.event
            is_from_outside = event.causationid is None and not isinstance(event.data, QuerySubmitted)
            ids = (
                {"correlationid": OTHER, "traceparent": TRACE}
                if is_from_outside
                else own.get(event.causationid)
            )
            if ids:
                own[event.id] = ids if inherits else {}
                line = replace(line, event=event.model_copy(update=ids))
        changed.append(line)
    return changed


def test_an_event_of_a_foreign_writer_passes_its_correlation_and_trace_on() -> None:
    lines = list(read_lines(RECORDINGS / "a_decision_of_another_round.jsonl.gz"))
    foreign = by_a_foreign_writer(lines, inherits=True)
    assert foreign != lines
    assert verify_lines(foreign).is_same
    with pytest.raises(UnreadableEvent, match="its correlationid differs from that of event"):
        verify_lines(by_a_foreign_writer(lines, inherits=False))


def test_an_opening_event_has_its_own_id_as_correlation_and_the_time_of_the_header(
    courses_lines: list[Line],
) -> None:
    with pytest.raises(UnreadableEvent, match="not its own id"):
        verify_lines(with_envelope(courses_lines, 1, lambda event: {"correlationid": OTHER}))
    header, *rest = courses_lines
    assert isinstance(header, Header)
    later = header.model_copy(update={"submitted": header.submitted + timedelta(microseconds=1)})
    with pytest.raises(UnreadableEvent, match="as `submitted`"):
        verify_lines([later, *rest])


def test_all_events_of_one_step_have_one_time(courses_lines: list[Line]) -> None:
    def later(event: AnyEvent) -> dict[str, Any]:
        return {"time": event.time + timedelta(microseconds=1)}

    with pytest.raises(UnreadableEvent, match="event 3 has another time than event 2"):
        verify_lines(with_envelope(courses_lines, 3, later))
