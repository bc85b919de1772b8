"""Time limits: a changed limit is a difference only if it has expired or would have. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from antiphon_shared.events import DeadlineReached, EventData, NodeDue, PersonOverdue
from antiphon_shared.events.step_records import TimerRecord

from antiphon.replay.by_specification.node_differences import NodeDifference
from coordinator.requests import DEADLINE
from coordinator.workflows.plan import template_of

_LATE = timedelta(seconds=1)
"""The greatest delay of a timer, and the greatest difference between two estimates of one moment."""


@dataclass
class Limits:
    """The active limits: the due time of each, by the name of its timer."""

    due: dict[str, datetime] = field(default_factory=dict)

    def take(self, timers: Sequence[TimerRecord], now: datetime) -> None:
        """Apply the timers that a decision has set and cancelled."""
        for timer in timers:
            if not timer.type:
                self.due.pop(timer.name, None)
            elif (due := timer.due_from(now)) is not None:
                self.due[timer.name] = due


def limit_passed(then: Limits, now: Limits, waits: set[str], moment: datetime) -> NodeDifference | None:
    """Return the limit that would have expired before an event at `moment`, or None.

    `waits` names timers that limit nothing: a node waits for them.
    """
    for name, due in now.due.items():
        before = then.due.get(name)
        is_shorter = before is None or due < before - _LATE
        if name not in waits and is_shorter and due < moment - _LATE:
            return _limit_difference(name, "would have timed out", before, due)
    return None


def limit_not_reached(then: Limits, now: Limits, data: EventData, name: str) -> NodeDifference | None:
    """Return the limit that expired with this event, and would not have by the other specification, or None."""
    if not isinstance(data, DeadlineReached | NodeDue | PersonOverdue):
        return None
    before, due = then.due.get(name), now.due.get(name)
    if before is None or (due is not None and due <= before + _LATE):
        return None
    return _limit_difference(name, "would not have timed out", before, due)


def name_of(data: EventData, node: str | None) -> str:
    """Return the name of the timer that caused an event; empty for other events."""
    match data:
        case DeadlineReached():
            return DEADLINE
        case NodeDue(attempt=0):
            return f"limit:{data.node}"
        case NodeDue():
            return f"node:{data.node}"
        case PersonOverdue() if node is not None:
            return f"node:{node}"
        case _:
            return ""


def _limit_difference(name: str, words: str, before: datetime | None, due: datetime | None) -> NodeDifference:
    """Return the difference of a limit, of a node or of the whole run."""
    node = "" if name == DEADLINE else name.partition(":")[2]
    shown = f"`{template_of(node)}`" if node else "the run"
    return NodeDifference(
        0, "limit", node, f"{shown} {words}", _time_limit_text(before), _time_limit_text(due)
    )


def _time_limit_text(due: datetime | None) -> str:
    return "no limit" if due is None else f"a limit at {due.isoformat(timespec='seconds')}"
