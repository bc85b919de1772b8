"""The state of a run for observers: the calls, questions and timers that it waits for."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.tools.calls import ToolCall

from coordinator.runs.memory import stored_changes
from coordinator.runs.state import Beginning, RunChange, RunState


@dataclass(frozen=True, slots=True)
class CallToDecide:
    """A call that a person has to decide on."""

    call: ToolCall
    round: int
    """The round that the decision has to name."""


async def run_state(bus: Bus, run_id: str) -> RunState | None:
    """Return the state of a run, or None if no run has that id."""
    stored = await stored_run(bus, run_id)
    return None if stored is None else stored[1]


async def stored_run(bus: Bus, run_id: str) -> tuple[Beginning, RunState] | None:
    """Return the recorded inputs of a run, and its state; None if no such run has begun."""
    changes = await stored_changes(bus.session(run_id))
    beginning = changes[0][1].beginning if changes else None
    if beginning is None:
        return None
    return beginning, state_after(changes)


def state_after(changes: Iterable[tuple[UUID, RunChange]]) -> RunState:
    """Return the state of a run after all its changes."""
    state = RunState()
    for _, change in changes:
        state.apply(change)
    return state


def nodes_waiting_for_people(state: RunState) -> list[str]:
    """Return the nodes that wait for a person."""
    return [path for path, one in state.open.items() if one.kind in ("person", "approval")]


def status_of(state: RunState) -> str:
    """Return `running`, `waiting` if the run waits only for people, or the status with which it ended."""
    if state.run.ended is not None:
        return state.run.ended
    return "waiting" if state.open and len(nodes_waiting_for_people(state)) == len(state.open) else "running"


def calls_to_decide(state: RunState) -> tuple[CallToDecide, ...]:
    """Return the calls of a run that a person has to decide on, in the order of their requests."""
    waiting = sorted(
        (one for one in state.open.values() if one.kind == "approval"), key=lambda one: one.number
    )
    return tuple(CallToDecide(one.call, one.number) for one in waiting if one.call is not None)


def nodes_to_answer(state: RunState) -> tuple[str, ...]:
    """Return the paths of the nodes that wait for a person's values."""
    return tuple(path for path, one in state.open.items() if one.kind == "person")


def activity_of(state: RunState) -> str:
    """Return the activity of a run that does not wait for an approval, as a clause."""
    if state.run.ended is not None:
        return f"it has ended, {state.run.ended}"
    if nodes := nodes_to_answer(state):
        return f"the run is waiting for a person's values at {', '.join(nodes)}"
    return "the run is working"
