"""The builder of a step of a run: it collects changes, events and waits while one event is decided on."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from antiphon_shared.bus.handling import CancelTimer, Send, SetTimer
from antiphon_shared.events import (
    AnyEvent,
    DeadlineReached,
    EventData,
    InputRequested,
    RunOpened,
)
from antiphon_shared.tools.calls import RequestedCall
from antiphon_shared.values import LogEntry, SessionId

from coordinator.requests import DEADLINE
from coordinator.runs.state import Beginning, Open, OpenKind, RunChange, RunState
from coordinator.workflows.messages import End
from coordinator.workflows.plan import Plan
from coordinator.workflows.state import Run


@dataclass(frozen=True, slots=True)
class Pinned:
    """The fixed inputs of all decisions of a run."""

    run_id: SessionId
    plan: Plan
    """The compiled workflow; empty for a run that cannot begin."""
    beginning: Beginning

    @property
    def opened(self) -> RunOpened:
        """Return the recorded inputs of its decisions."""
        return self.beginning.opened


@dataclass(slots=True)
class StepBuilder:
    """The effects of an event so far."""

    pinned: Pinned
    state: RunState
    event: AnyEvent
    log_entry: LogEntry
    now: datetime
    graph: Run | None = None
    """The changes of the graph's decision; None if the event does not concern the graph."""
    values: dict[str, Any] = field(default_factory=dict)
    logged: dict[str, LogEntry] = field(default_factory=dict)
    wholes: dict[str, str] = field(default_factory=dict)
    open: dict[str, Open | None] = field(default_factory=dict)
    number: int = field(init=False)
    kept_until: datetime | None = field(init=False)
    worked_s: float = field(init=False)
    has_untrusted: bool = field(init=False)
    succeeded: tuple[str, ...] = ()
    events: list[EventData] = field(default_factory=list)
    timers: list[SetTimer | CancelTimer] = field(default_factory=list)
    sends: list[Send] = field(default_factory=list)
    """Events of other sessions."""
    ended: End | None = None
    beginning: Beginning | None = None
    """The beginning of the run; only in its first step."""

    def __post_init__(self) -> None:
        state = self.state
        self.number, self.kept_until = state.number, state.kept_until
        self.worked_s, self.has_untrusted = state.worked_s, state.has_untrusted

    @property
    def has_changed(self) -> bool:
        """Return whether the event has had an effect."""
        graph = self.graph
        return bool(self.events or self.open or (graph and (graph.nodes or graph.scopes or graph.ended)))

    def waits(
        self,
        path: str,
        kind: OpenKind,
        attempt: int,
        until: datetime | None = None,
        call: RequestedCall | None = None,
        asked: InputRequested | None = None,
    ) -> int:
        """Open the request of a node, with the fields of an Open; return its number."""
        self.number += 1
        self.open[path] = Open.trusted(
            kind=kind, number=self.number, attempt=attempt, until=until, call=call, asked=asked
        )
        return self.number

    def sets(self, name: str, due: datetime | timedelta, event: EventData) -> None:
        """Set a timer, and keep the run until it is due."""
        at = self.now + due if isinstance(due, timedelta) else due
        self.kept_until = max(at, self.kept_until or at)
        self.timers.append(SetTimer(name, due, event))

    def change(self) -> RunChange:
        """Return the change of the step."""
        worked_s, working_since = self._clock()
        run = self.state.run
        graph = self.graph or Run(done=run.done, undo_failed=run.undo_failed, ended=run.ended)
        return RunChange.trusted(
            nodes=graph.nodes,
            scopes=graph.scopes,
            queues=graph.queues,
            undo=graph.undo,
            done=graph.done,
            undo_failed=graph.undo_failed,
            ended=self.ended.status if self.ended else graph.ended,
            values=self.values,
            logged=self.logged,
            wholes=self.wholes,
            open=self.open,
            number=self.number,
            worked_s=worked_s,
            working_since=working_since,
            kept_until=self.kept_until,
            has_untrusted=self.has_untrusted,
            succeeded=self.succeeded,
            answers=self.state.answers + (self.ended is not None),
            beginning=self.beginning,
        )

    @property
    def takes_room(self) -> bool | None:
        """Return whether the run needs a slot, if that changes: it needs one while a call is in flight."""
        before = not self.state.run.scopes or self.state.open_after({}, "call", "reason") > 0
        after = self.state.open_after(self.open, "call", "reason") > 0
        return None if before == after else after

    def _clock(self) -> tuple[float, datetime | None]:
        """Return how long the run has worked, and since when it works; set or cancel its timer if that changes.

        The run works while a call is in flight or a timer runs. Undoing does not count, as it has its own time limit.
        """
        worked_s, since = self.worked_s, self.state.working_since
        root = (self.graph.scopes if self.graph else {}).get("") or self.state.run.scopes.get("")
        is_over = self.ended is not None or root is None or root.phase != "working"
        works = not is_over and self.state.open_after(self.open, "call", "reason", "timer") > 0
        if works == (since is not None):
            return worked_s, since
        if works:
            left_s = max(0.0, self.pinned.opened.timeout_s - worked_s)
            self.sets(DEADLINE, self.now + timedelta(seconds=left_s), DeadlineReached())
            return worked_s, self.now
        assert since is not None, "the run was working"
        self.timers.append(CancelTimer(DEADLINE))
        return worked_s + max(0.0, (self.now - since).total_seconds()), None
