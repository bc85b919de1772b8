"""The course of a recorded session after a fault in one of its events.

    replaced, course = inject(lines, "tool_timeout@8")

The fault replaces one recorded event. From there on today's components continue, until they would call a model or a
tool.
"""

import re
from collections.abc import Sequence
from typing import cast

from antiphon_shared.bus.replies import reply
from antiphon_shared.events import AnyEvent, DeadlineReached, EventData
from antiphon_shared.events.base import short_type
from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.text.excerpt import list_names

from antiphon.recording.lines import EventLine, Line
from antiphon.replay.checks.decisions import has_effect
from antiphon.replay.forking.event_at import event_at
from antiphon.replay.forking.point import Point, state_at
from antiphon.replay.injection.faults import KINDS, Kind, faulty, is_reply, kinds_for
from antiphon.replay.injection.trace import Trace, Traced
from coordinator.session import Session

_FAULT = 2_000_000
"""The number of an injected event among its parent's outputs, beyond all real ones."""
_FAULT_FORM = re.compile(r"([a-z_]+)(?::([A-Za-z0-9_-]{1,64}))?(?:@(.*))?")
_LISTED_MAX = 20
_FORM = "Use the form tool_timeout@8, or tool_timeout:search@8 for the calls of one tool."


def inject(lines: Sequence[Line], fault: str) -> tuple[EventLine, Traced]:
    """Return the replaced event, and the course after a fault.

    The fault is written as `tool_timeout@8`, `tool_timeout:search@8` or `deadline@reasoning.completed@2`.
    Raises ConfigurationError, which names the applicable faults, and UnreadableEvent.
    """
    kind, tool, event = read_fault(fault)
    if not event:
        raise _without_event(fault.rstrip("@"), kind, lines)
    line = event_at(lines, event)
    _check_fits(kind, line, lines)
    point = state_at(lines, line.n, unhandled=line.event.id)
    if point.session is None:
        raise ConfigurationError(
            f"{fault}: the session was not open at event {line.n}.", hint="Choose a later event."
        )
    catalogue = point.content.catalogue(point.session.tools.catalogue)
    if not has_effect(point.session, line, point.content):
        raise ConfigurationError(
            f"{fault}: the session no longer waited for event {line.n}.", hint="Choose an earlier event."
        )
    data = faulty(kind, tool, line.event.data, point.session, catalogue)
    injected = EventLine(line.n, line.entry, _event(line, kind, data, point, point.session))
    return line, Trace(point, point.session, injected).run()


def read_fault(what: str) -> tuple[Kind, str, str]:
    """Return fault, tool and place from their written form; a missing place is empty. Raises ConfigurationError."""
    match = _FAULT_FORM.fullmatch(what)
    if match is None:
        raise ConfigurationError(f"{what!r} is not a fault.", hint=_FORM)
    kind, tool, event = match[1], match[2] or "", match[3] or ""
    if kind not in KINDS:
        raise ConfigurationError(
            f"Fault {kind!r} does not exist.", hint=f"The faults are {', '.join(KINDS)}."
        )
    if tool and not kind.startswith("tool_"):
        raise ConfigurationError(f"{kind} does not apply to a tool.", hint=_FORM)
    return cast(Kind, kind), tool, event


def _without_event(fault: str, kind: Kind, lines: Sequence[Line]) -> ConfigurationError:
    """Return the error for a fault without an event; it names the events that the fault can replace."""
    numbers = _events_for(kind, lines)
    fits = (
        f"It applies to event {list_names(numbers, _LISTED_MAX)}: use {fault}@{numbers[0]}."
        if numbers
        else "It applies to no event of this recording."
    )
    return ConfigurationError(f"{fault} does not name an event.", hint=fits)


def _events_for(kind: Kind, lines: Sequence[Line]) -> list[str]:
    """Return the numbers of the events that a fault can replace."""
    return [str(one.n) for one in lines if isinstance(one, EventLine) and kind in kinds_for(one.event.data)]


def _check_fits(kind: Kind, line: EventLine, lines: Sequence[Line]) -> None:
    fitting = kinds_for(line.event.data)
    if kind in fitting:
        return
    others = _events_for(kind, lines)
    where = f"event {list_names(others, _LISTED_MAX)}" if others else "no event of this recording"
    raise ConfigurationError(
        f"{kind} cannot replace event {line.n}, {short_type(line.event.type)}.",
        hint=f"{list_names(fitting, _LISTED_MAX) or 'No fault'} can. {kind} applies to {where}.",
    )


def _event(line: EventLine, kind: Kind, data: EventData, point: Point, session: Session) -> AnyEvent:
    """Return the event with the fault: a reply to the same request, or an event of another source."""
    event = line.event
    parent = point.content.lines.get(event.causationid) if event.causationid else None
    if is_reply(kind) and parent is not None:
        return reply(parent.event, _FAULT, data, event.source, event.time)
    query, _, _ = point.opened
    now = max(event.time, session.deadline) if isinstance(data, DeadlineReached) else event.time
    return reply(query.event, _FAULT, data, "coordinator", now)
