"""A run as the bus sees it: its requests, its timers, and whether the stored state agrees."""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from antiphon_shared.bus.handling import CancelTimer, SetTimer
from antiphon_shared.events import (
    AnyEvent,
    ApprovalRequested,
    CancellationRequested,
    ChildBegun,
    ChildEnded,
    EventData,
    InputRequested,
    PinnedTool,
    RunOpened,
    ToolsCompleted,
    ToolsRequested,
)
from antiphon_shared.events.session import Response
from antiphon_shared.formats import FORMAT
from antiphon_shared.tools.calls import ToolError, ToolResult

from coordinator.decision import LoggedEvent
from coordinator.requests import DEADLINE
from coordinator.runs.commands import timer_of
from coordinator.runs.state import RUN_CHANGE, Beginning, RunState
from coordinator.runs.step import Step, begin, take
from coordinator.runs.step_builder import Pinned
from coordinator.workflows.plan import Plan
from tests.coordinator.workflows.world import TOOLS
from tests.envelopes import START, an_event

TIMEOUT_S, PERSON_S = 60.0, 30.0


def a_pinned(plan: Plan, approve: str = "", **opened: Any) -> Pinned:
    """Return the inputs of decisions about a run of a plan; every call of the tool `approve` needs a person."""
    tools = {
        name: PinnedTool(
            is_write=one.is_write,
            is_idempotent=one.is_idempotent,
            is_sequential=one.is_sequential,
            approval="always" if name == approve else "never",
        )
        for name, one in TOOLS.items()
    }
    fields = {"timeout_s": TIMEOUT_S, "person_s": PERSON_S, "tools": tools, **opened}
    of = RunOpened(workflow="main", specification="0" * 32, catalogue="c", **fields)
    return Pinned("r1", replace(plan, tools=of.tools), Beginning(opened=of, at=START))


@dataclass
class Live:
    """A run in flight, and all its data in Redis."""

    pinned: Pinned
    state: RunState = field(default_factory=RunState)
    stored: list[bytes] = field(default_factory=list)
    timers: dict[str, tuple[datetime, EventData]] = field(default_factory=dict)
    asked: dict[int, EventData] = field(default_factory=dict)
    """Each request by its number, also those that were answered."""
    stopping: set[str] = field(default_factory=set)
    """Children that are to end now."""
    log: list[AnyEvent] = field(default_factory=list)
    events: list[EventData] = field(default_factory=list)
    """The events of the run."""
    answers: list[Response] = field(default_factory=list)
    now: datetime = START

    def begin(self, **params: Any) -> "Live":
        event = an_event(CancellationRequested(), "r1", at_s=0)
        self.log.append(event)
        self._committed(begin(self.pinned, event, self._entry(), params))
        return self

    def happens(self, data: EventData, named: EventData | None = None) -> Step | None:
        """Let an event of the run arrive now."""
        event = an_event(data, "r1", at_s=(self.now - START).total_seconds())
        return self.arrives(event, named)

    def arrives(self, event: AnyEvent, named: EventData | None = None) -> Step | None:
        """Let an event arrive, perhaps again."""
        self.log.append(event)
        logged = LoggedEvent("1-0", an_event(named, "r1")) if named is not None else None
        step = take(self.pinned, self.state, event, self._entry(), self._kept, logged)
        if step is not None:
            self._committed(step)
        return step

    def fire(self, name: str) -> None:
        """Let the time come that a timer is set for."""
        due, data = self.timers.pop(name)
        self.now = max(self.now, due)
        self.happens(data)

    def answer_to(self, number: int, kind: str | None = None, data: Any = None) -> EventData:
        """Return the event that answers a call or ends a child."""
        asked = self.asked[number]
        if isinstance(asked, ChildBegun):
            response = Response(
                session_id=asked.child,
                status="complete" if kind is None and asked.child not in self.stopping else "failed",
                answer="Because.",
                termination_reason="natural_completion",
                rounds_used=1,
                tool_calls_used=0,
                duration_ms=1,
            )
            return ChildEnded(round=number, response=response)
        assert isinstance(asked, ToolsRequested)
        (call,) = asked.calls
        error = None if kind is None else ToolError(error_type=kind, message="No.", suggested_action="None.")
        result = ToolResult(
            index=0,
            call_id=call.id,
            tool=call.name,
            status="ok" if error is None else "error",
            data=({"of": asked.node} if data is None else data) if error is None else None,
            error=error,
        )
        return ToolsCompleted.of(number, (result,), 1)

    def _entry(self) -> str:
        return f"{int(self.now.timestamp() * 1000)}-{len(self.log)}"

    def _kept(self, key: str) -> Any:
        if key in self.state.values:
            return self.state.values[key]
        data = self.log[int(self.state.logged[key].partition("-")[2]) - 1].data
        if isinstance(data, ChildEnded):
            return data.response.answer
        assert isinstance(data, ToolsCompleted)
        return data.results[0].data

    def _committed(self, step: Step) -> None:
        before = self.state.number
        self.stored.append(RUN_CHANGE.write(step.change, FORMAT))
        self.state.apply(step.change)
        assert self.state.number >= before
        for event in step.events:
            self.events.append(event)
            if isinstance(event, ToolsRequested | InputRequested | ApprovalRequested | ChildBegun):
                self.asked[event.round] = event
        for send in step.sends:
            if isinstance(send.event, CancellationRequested):
                self.stopping.add(send.session_id)
        for timer in step.timers:
            if isinstance(timer, CancelTimer):
                self.timers.pop(timer.name, None)
            elif isinstance(timer, SetTimer):
                due = timer.due if isinstance(timer.due, datetime) else self.now + timer.due
                self.timers[timer.name] = (due, timer.event)
        if step.answer is not None:
            self.answers.append(step.answer)
        self.check(step)

    def check(self, step: Step) -> None:
        """Check that every open request will be answered, and that the stored state agrees."""
        rebuilt = RunState()
        for change in self.stored:
            rebuilt.apply(RUN_CHANGE.read(change))
        assert rebuilt == self.state, "a coordinator that takes the run over has another run"
        queues = {tool: list(queue) for tool, queue in self.state.run.queues.items()}
        assert {tool: list(queue) for tool, queue in rebuilt.run.queues.items()} == queues
        expected = {DEADLINE} if self.state.working_since is not None else set()
        for path, one in self.state.open.items():
            asked = self.asked.get(one.number)
            match one.kind:
                case "call":
                    assert isinstance(asked, ToolsRequested), path
                case "reason":
                    assert isinstance(asked, ChildBegun), path
                case "timer":
                    expected.add(timer_of(path))
                case "person":
                    assert isinstance(asked, InputRequested), path
                    expected.add(timer_of(path))
                case "approval":
                    assert isinstance(asked, ApprovalRequested), path
                    expected.add(timer_of(path))
        bounds = {name for name in self.timers if name.startswith("limit:")}
        assert set(self.timers) - bounds == expected
        if self.state.run.ended is not None:
            assert not self.state.open
            assert not self.timers, "nothing is left to wake up for"
        else:
            assert self.state.open, "nothing would ever happen to it again"
        if self.timers:
            last = max(due for due, _ in self.timers.values())
            assert self.now + timedelta(seconds=step.extra_retention_s) >= last, "it would expire too early"
