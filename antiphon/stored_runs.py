"""Runs as Redis holds them: how they stand, and which calls of theirs wait for a person's approval."""

from antiphon_shared.bus.connection import patiently
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.process.clock import utc_now
from antiphon_shared.process.ids import new_id
from antiphon_shared.tools.calls import RequestedCall

from antiphon.submission import decision
from antiphon.tail import PATIENCE_S
from coordinator.runs.memory import stored_changes
from coordinator.runs.state import Beginning, RunState


async def stored_run(bus: Bus, run_id: str) -> tuple[Beginning, RunState] | None:
    """Return what a run is decided by, and its state; None where there is no run that has begun."""
    changes = await stored_changes(bus.session(run_id))
    beginning = changes[0][1].beginning if changes else None
    if beginning is None:
        return None
    state = RunState()
    for _, change in changes:
        state.apply(change)
    return beginning, state


def people(state: RunState) -> list[str]:
    """Return the nodes that wait for a person."""
    return [path for path, one in state.open.items() if one.kind in ("person", "approval")]


def status_of(state: RunState) -> str:
    """Return `running`, `waiting` for people alone, or how a run ended."""
    if state.run.ended is not None:
        return state.run.ended
    return "waiting" if state.open and len(people(state)) == len(state.open) else "running"


def approvals(state: RunState) -> dict[int, RequestedCall]:
    """Return the calls that wait for a person's approval, by the number of their request."""
    return {
        one.number: one.call for one in state.open.values() if one.kind == "approval" and one.call is not None
    }


async def decide_on_call(
    bus: Bus, run_id: str, number: int, call: RequestedCall, is_approved: bool, by: str, reason: str
) -> bool:
    """Say what a person has decided on one call; False where the run is not kept any more."""
    first = await bus.first_event(run_id)
    if first is None:
        return False
    fields = {"round": number, "is_approved": is_approved, "calls": (call.id,), "by": by, "reason": reason}
    event = decision(run_id, fields, first, new_id(), utc_now())
    # Safe to repeat: what is said twice changes nothing.
    return await patiently("decide", lambda: bus.publish(event, "signal"), PATIENCE_S) == "sent"
