"""The event of a recording that a person names by its number, or by its type and round. Pure."""

import re
from collections.abc import Iterable, Iterator, Sequence

from antiphon_shared.events.base import short_type
from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.text.excerpt import list_names

from antiphon.recording.lines import EventLine, Line

_LISTED_MAX = 20
_TYPE_AND_ROUND = re.compile(r"(?:antiphon\.)?([a-z_]+\.[a-z_]+)(?:\.v\d+)?(?:@(\d{1,9}))?")


class NoSuchPoint(ConfigurationError):
    """A session cannot be resumed from that point."""

    code = "no_such_point"


def event_at(lines: Iterable[Line], point: str) -> EventLine:
    """Return the event that `point` names. Raises NoSuchPoint."""
    events = [line for line in lines if isinstance(line, EventLine)]
    match = next(_matching(events, point), None)
    if match is None:
        raise NoSuchPoint(
            f"The recording has no event {point}; it has {len(events)} events.",
            hint="Use its number, or its type with the round, such as reasoning.requested@2.",
        )
    return match


def number_of(lines: Sequence[Line], point: str) -> int:
    """Return the number of the event that `point` names. Raises NoSuchPoint, with the best events to resume from."""
    try:
        return event_at(lines, point).n
    except NoSuchPoint as error:
        raise NoSuchPoint(error.message, hint=resumable(lines)) from None


def _matching(events: Sequence[EventLine], point: str) -> Iterator[EventLine]:
    if point.isascii() and point.isdigit():
        yield from (line for line in events if str(line.n) == point.lstrip("0"))
    elif match := _TYPE_AND_ROUND.fullmatch(point):
        of_type = [line for line in events if short_type(line.event.type) == match[1]]
        number = int(match[2] or 1)
        has_rounds = any(hasattr(line.event.data, "round") for line in of_type)
        yield from (
            line
            for count, line in enumerate(of_type, 1)
            if (getattr(line.event.data, "round", 0) if has_rounds else count) == number
        )


def resumable(lines: Sequence[Line]) -> str:
    """Return a hint with the best events to resume from: answered requests to other components."""
    events = [line for line in lines if isinstance(line, EventLine)]
    handled = {line.event.causationid for line in events}
    good = [
        f"{line.n} ({short_type(line.event.type)})"
        for line in events
        if line.event.data.inbox not in (None, "coordinator") and line.event.id in handled
    ]
    if not good:
        return "No event of the session can be continued from."
    return f"Use one of these events: {list_names(good, _LISTED_MAX)}."
