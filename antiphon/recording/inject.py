"""How a recorded session would have gone on, had something failed. Pure.

    chain = inject(lines, "tool_timeout@8")

One recorded event is replaced by what the fault would have made of it. From there on today's code goes on: the
coordinator decides, the synthesizer briefs, the assembler answers, until a model or a tool would have to be asked.
"""

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast

from antiphon_shared.bus.committing import reply
from antiphon_shared.bus.handling import SetTimer
from antiphon_shared.events import (
    AnyEvent,
    AssemblyRequested,
    BriefingRequested,
    Component,
    DeadlineReached,
    EventData,
    ModelDue,
    ReasoningRequested,
    ResponseReady,
    ToolsRequested,
)
from antiphon_shared.events.session import Response
from antiphon_shared.events.step_records import AssemblyRecord, BriefingRecord, MaterialRead
from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.tools.calls import Catalogue

from antiphon.recording.forking.point import Point, event_numbered, short_type, walked
from antiphon.recording.injection.faults import KINDS, Kind, faulty, is_instead, kinds_for
from antiphon.recording.lines import EventLine, Line
from antiphon.recording.replaying.checks.assemblies import Assemblies
from antiphon.recording.replaying.known import Step
from coordinator import limits
from coordinator.decide import decide
from coordinator.endings import named_by
from coordinator.session import Decision, Session

STEPS_MAX = 200
"""More than any session takes that asks neither model nor tool."""
_FAULT = 2_000_000
"""The number of an injected event among what came of its parent: apart from all that ever comes of one."""
_WRITTEN = re.compile(r"([a-z_]+)(?::([A-Za-z0-9_-]{1,64}))?(?:@(.*))?")
_FORM = "Write it as tool_timeout@8, or as tool_timeout:search@8 for the calls of one tool."


@dataclass(frozen=True)
class Told:
    """One step of the chain: an event, what was made of it, and where the session stands then."""

    event: AnyEvent
    component: Component
    """Who handled it."""
    outputs: tuple[EventData, ...]
    timers: dict[str, str] = field(default_factory=dict)
    """The timers that were set: when they go off."""
    standing: dict[str, Any] = field(default_factory=dict)
    """Of the session after it: its round, what is used and left, what has failed."""


@dataclass(frozen=True)
class Chain:
    """How a session would have gone on."""

    n: int
    """Number of the event that was replaced."""
    type: str
    """Its type."""
    fault: str
    steps: tuple[Told, ...]
    end: str
    """Why the chain ends there, as a sentence."""
    answer: Response | None = None
    """What the session would have been answered, where it was."""


def inject(lines: Sequence[Line], what: str) -> Chain:
    """The session with a fault: `tool_timeout@8`, `tool_timeout:search@8`, `deadline@reasoning.completed@2`.

    Raises ConfigurationError, which names the faults that fit, and UnreadableEvent.
    """
    kind, tool, place = read_fault(what)
    if not place:
        raise _without_place(what.rstrip("@"), kind, lines)
    line = event_numbered(lines, place)
    _check_fits(kind, line, lines)
    point = walked(lines, line.n, unhandled=line.event.id)
    if point.session is None:
        raise ConfigurationError(
            f"{what}: the session was not open at event {line.n}.", hint="Choose a later one."
        )
    catalogue = point.known.catalogue(point.session.catalogue)
    named = point.known.named(named_by(point.session, line.event))
    if decide(point.session, line.event, line.entry, catalogue, named=named) == Decision(point.session):
        raise ConfigurationError(
            f"{what}: the session did not wait for event {line.n} any more.", hint="Choose an earlier one."
        )
    data = faulty(kind, tool, line.event.data, point.session, catalogue)
    injected = EventLine(line.n, line.entry, _event(line, kind, data, point, point.session))
    told, end, answer = _Course(point, point.session, catalogue, injected).run()
    return Chain(line.n, line.event.type, what.partition("@")[0], tuple(told), end, answer)


def read_fault(what: str) -> tuple[Kind, str, str]:
    """Fault, tool and place, as they are written; the place is empty where none is. Raises ConfigurationError."""
    written = _WRITTEN.fullmatch(what)
    if written is None:
        raise ConfigurationError(f"{what!r} is no fault.", hint=_FORM)
    kind, tool, place = written[1], written[2] or "", written[3] or ""
    if kind not in KINDS:
        raise ConfigurationError(f"There is no fault {kind!r}.", hint=f"There are {', '.join(KINDS)}.")
    if tool and not kind.startswith("tool_"):
        raise ConfigurationError(f"{kind} is not about a tool.", hint=_FORM)
    return cast(Kind, kind), tool, place


def _without_place(what: str, kind: Kind, lines: Sequence[Line]) -> ConfigurationError:
    """The error at a fault without `@`, which says where it could be."""
    places = _places_of(kind, lines)
    fits = (
        f"It fits event {_listed(places)}: write {what}@{places[0]}."
        if places
        else "It fits none of its events."
    )
    return ConfigurationError(f"{what} does not say at which event.", hint=fits)


def _places_of(kind: Kind, lines: Sequence[Line]) -> list[str]:
    """The numbers of the events that a fault can come in place of."""
    return [str(one.n) for one in lines if isinstance(one, EventLine) and kind in kinds_for(one.event.data)]


def _check_fits(kind: Kind, line: EventLine, lines: Sequence[Line]) -> None:
    fitting = kinds_for(line.event.data)
    if kind in fitting:
        return
    others = _places_of(kind, lines)
    where = f"event {_listed(others)}" if others else "none of its events"
    raise ConfigurationError(
        f"{kind} cannot come in place of event {line.n}, {short_type(line)}.",
        hint=f"{_listed(fitting) or 'Nothing'} can. {kind} fits {where}.",
    )


def _listed(names: Sequence[str], names_max: int = 20) -> str:
    return ", ".join(names[:names_max]) + (" and others" if len(names) > names_max else "")


def _event(line: EventLine, kind: Kind, data: EventData, point: Point, session: Session) -> AnyEvent:
    """The event that comes in its place: in answer to the same request, or from elsewhere."""
    event = line.event
    parent = point.known.lines.get(event.causationid) if event.causationid else None
    if is_instead(kind) and parent is not None:
        return reply(parent.event, _FAULT, data, event.source, event.time)
    query, _, _ = point.opened
    now = max(event.time, session.deadline) if isinstance(data, DeadlineReached) else event.time
    return reply(query.event, _FAULT, data, "coordinator", now)


class _Course:
    """The session from the fault on, event by event."""

    def __init__(self, point: Point, session: Session, catalogue: Catalogue, first: EventLine) -> None:
        self._known, self._briefings = point.known, point.briefings
        self._assemblies = Assemblies(point.briefings)
        self._built_by, self._catalogue = point.built_by, catalogue
        self._session = session
        self._waiting: deque[EventLine] = deque([first])
        self._n, self._entry = first.n, first.entry
        self._timers: dict[str, tuple[datetime, EventLine, SetTimer, int]] = {}

    def run(self) -> tuple[list[Told], str, Response | None]:
        """The steps, why they end, and the answer."""
        steps: list[Told] = []
        answer: Response | None = None
        for _ in range(STEPS_MAX):
            if not self._waiting and not self._goes_on_later():
                break
            line = self._waiting.popleft()
            data = line.event.data
            self._known.add(line)
            needs = _asks(data)
            if needs:
                return steps, needs, answer
            told = self._handled(line)
            if told is None:
                continue
            steps.append(told)
            answer = next(
                (Response(**one.model_dump()) for one in told.outputs if isinstance(one, ResponseReady)),
                answer,
            )
        return steps, "The session is answered." if answer else "The session waits.", answer

    def _handled(self, line: EventLine) -> Told | None:
        match line.event.data:
            case BriefingRequested():
                built_by = self._built_by or BriefingRecord(
                    of=line.event.id, briefing_tokens=8_000, memory_bytes_max=4_000_000
                )
                step = Step(line, built_by.model_copy(update={"of": line.event.id}), ())
                outputs = self._briefings.redo(step, self._known).outputs
                component: Component = "context_synthesizer"
            case AssemblyRequested():
                step = Step(line, AssemblyRecord(of=line.event.id), ())
                outputs = self._assemblies.redo(step, self._known).outputs
                component = "response_assembler"
            case data if data.inbox == "coordinator":
                return self._decided(line)
            case _:
                return None
        self._send(line, outputs, component)
        return Told(line.event, component, outputs)

    def _decided(self, line: EventLine) -> Told:
        before = self._session
        named = self._known.named(named_by(before, line.event))
        decision = decide(before, line.event, line.entry, self._catalogue, before.outages, named)
        self._session = decision.session
        outputs = decision.commands
        if decision.alone:
            answer = self._assemblies.alone(line, decision, MaterialRead(), self._known)
            outputs = (answer, *outputs)
        timers = {}
        for number, timer in enumerate(decision.timers, start=len(outputs)):
            self._timers.pop(timer.name, None)
            if isinstance(timer, SetTimer):
                due = timer.due if isinstance(timer.due, datetime) else line.event.time + timer.due
                self._timers[timer.name] = (due, line, timer, number)
                timers[timer.name] = due.isoformat()
        self._send(line, outputs, "coordinator")
        return Told(line.event, "coordinator", outputs, timers, _standing(self._session))

    def _send(self, line: EventLine, outputs: Sequence[EventData], component: Component) -> None:
        for number, data in enumerate(outputs):
            self._put(reply(line.event, number, data, component, line.event.time))

    def _put(self, event: AnyEvent) -> None:
        milliseconds, _, sequence = self._entry.partition("-")
        self._n, self._entry = self._n + 1, f"{milliseconds}-{int(sequence) + 1}"
        self._waiting.append(EventLine(self._n, self._entry, event))

    def _goes_on_later(self) -> bool:
        """Nothing is left to do but to wait for a model: let that time pass."""
        due = next((one for one in self._timers.values() if isinstance(one[2].event, ModelDue)), None)
        if due is None:
            return False
        moment, parent, timer, number = due
        del self._timers[timer.name]
        self._put(reply(parent.event, number, timer.event, "coordinator", moment))
        return True


def _asks(data: EventData) -> str:
    """Who would have to be asked now that cannot be, as a sentence; empty when nobody has to."""
    match data:
        case ReasoningRequested():
            return "Here the model would be asked."
        case ToolsRequested():
            return "Here tools would be called."
        case _:
            return ""


def _standing(session: Session) -> dict[str, Any]:
    return {
        "phase": session.phase,
        "round": session.round,
        "rounds_max": session.limits.max_rounds,
        "tool_calls_used": session.tool_calls_used,
        "tool_calls_max": session.limits.max_tool_calls,
        "tokens_left": limits.tokens_left(session),
        "model_failures": session.model_failures,
        "barren_rounds": session.barren_rounds,
        "is_last_call": session.is_last_call,
        "last_round": session.last_round,
        "in_doubt": list(session.in_doubt),
        "uncertainty": [one.message for one in session.uncertainty],
    }
