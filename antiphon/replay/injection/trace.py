"""The course of a recorded session from one of its events, decided by today's code.

The coordinator, the synthesizer and the assembler continue until they would call a model or a tool.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from antiphon_shared.breakers.outages import Outages
from antiphon_shared.bus.handling import SetTimer
from antiphon_shared.bus.replies import reply
from antiphon_shared.events import (
    AnyEvent,
    AssemblyRequested,
    BriefingRequested,
    Component,
    EventData,
    ModelDue,
    ReasoningRequested,
    ResponseReady,
    ToolsRequested,
)
from antiphon_shared.events.session import Response
from antiphon_shared.events.step_records import AssemblyRecord, BriefingRecord, MaterialRead
from antiphon_shared.process.stream_ids import order_of

from antiphon.recording.lines import EventLine
from antiphon.replay.checks.assemblies import Assemblies
from antiphon.replay.checks.decisions import decide_again
from antiphon.replay.forking.point import Point
from antiphon.replay.steps.replay_state import Step
from coordinator import limits
from coordinator.session import Session

STEPS_MAX = 200
"""A limit above the steps that any session takes without a call of a model or tool."""


@dataclass(frozen=True)
class TracedStep:
    """A step: an event, its outputs, and the session after it."""

    event: AnyEvent
    component: Component
    """The component that handled it."""
    outputs: tuple[EventData, ...]
    timers: dict[str, str] = field(default_factory=dict)
    """The due times of the timers that were set."""
    session: dict[str, Any] = field(default_factory=dict)
    """The session after it: its round, its use of the limits, its failures."""


@dataclass(frozen=True)
class Traced:
    """The course of a session."""

    steps: tuple[TracedStep, ...]
    end: str
    """The reason why the steps end there, as a sentence."""
    answer: Response | None = None
    """The session's answer, if it gets one."""
    asks: EventData | None = None
    """The request to a model or tool at the end."""


class Trace:
    """The events of a session from `first` on; `outages` are the recorded ones, or None for those of the session."""

    def __init__(
        self, point: Point, session: Session, first: EventLine, outages: Outages | None = None
    ) -> None:

        self._known, self._briefings = point.content, point.briefings
        self._assemblies = Assemblies(point.briefings)
        self._built_by = point.built_by
        self._session = session
        self._outages = session.models.outages if outages is None else outages
        self._waiting: deque[EventLine] = deque([first])
        self._n, self._entry = first.n, first.entry
        self._timers: dict[str, tuple[datetime, EventLine, SetTimer, int]] = {}

    def run(self) -> Traced:
        """Return the steps, the reason for their end, and the answer."""
        steps: list[TracedStep] = []
        answer: Response | None = None
        for _ in range(STEPS_MAX):
            if not self._waiting and not self._fire_model_timer():
                break
            line = self._waiting.popleft()
            self._known.add(line)
            if end := _missing_call(line.event.data):
                return Traced(tuple(steps), end, answer, line.event.data)
            step = self._handle(line)
            if step is None:
                continue
            steps.append(step)
            answer = next(
                (Response(**one.model_dump()) for one in step.outputs if isinstance(one, ResponseReady)),
                answer,
            )
        return Traced(tuple(steps), "The session is answered." if answer else "The session waits.", answer)

    def _handle(self, line: EventLine) -> TracedStep | None:
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
                return self._decide(line)
            case _:
                return None
        self._send(line, outputs, component)
        return TracedStep(line.event, component, outputs)

    def _decide(self, line: EventLine) -> TracedStep:
        decision = decide_again(self._session, line, self._known, self._outages)
        self._session, self._outages = decision.session, decision.session.models.outages
        outputs = decision.commands
        if decision.own_answer_reason:
            answer = self._assemblies.own_answer(line, decision, MaterialRead(), self._known)
            outputs = (answer, *outputs)
        timers = {}
        for number, timer in enumerate(decision.timers, start=len(outputs)):
            self._timers.pop(timer.name, None)
            if isinstance(timer, SetTimer):
                due = timer.due if isinstance(timer.due, datetime) else line.event.time + timer.due
                self._timers[timer.name] = (due, line, timer, number)
                timers[timer.name] = due.isoformat()
        self._send(line, outputs, "coordinator")
        return TracedStep(line.event, "coordinator", outputs, timers, _snapshot(self._session))

    def _send(self, line: EventLine, outputs: Sequence[EventData], component: Component) -> None:
        for number, data in enumerate(outputs):
            self._append(reply(line.event, number, data, component, line.event.time))

    def _append(self, event: AnyEvent) -> None:
        milliseconds, sequence = order_of(self._entry)
        self._n, self._entry = self._n + 1, f"{milliseconds}-{sequence + 1}"
        self._waiting.append(EventLine(self._n, self._entry, event))

    def _fire_model_timer(self) -> bool:
        """Fire the timer that waits for a model; return whether there is one."""
        due = next((one for one in self._timers.values() if isinstance(one[2].event, ModelDue)), None)
        if due is None:
            return False
        moment, parent, timer, number = due
        del self._timers[timer.name]
        self._append(reply(parent.event, number, timer.event, "coordinator", moment))
        return True


def _missing_call(data: EventData) -> str:
    """Return a sentence about the call of a model or tool that an event requests; empty for another event."""
    match data:
        case ReasoningRequested():
            return "The next step is a model call."
        case ToolsRequested():
            return "The next step is a batch of tool calls."
        case _:
            return ""


def _snapshot(session: Session) -> dict[str, Any]:
    return {
        "phase": session.phase,
        "round": session.round,
        "rounds_max": session.limits.max_rounds,
        "tool_calls_used": session.spent.tool_calls,
        "tool_calls_max": session.limits.max_tool_calls,
        "tokens_left": limits.tokens_left(session),
        "model_failures": session.models.failures,
        "barren_rounds": session.tools.barren_rounds,
        "is_last_call": session.models.is_last_call,
        "last_round": session.last_round,
        "in_doubt": list(session.writes.in_doubt),
        "uncertainty": [one.message for one in session.uncertainty],
    }
