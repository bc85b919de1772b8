"""Views of runs for observers: their status, their nodes in flight, their waits. Reads Redis, changes nothing."""

import asyncio
from collections.abc import Iterator
from typing import Any

from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.workflow_store import WorkflowStore
from antiphon_shared.events import AnyEvent, InputRequested, QuerySubmitted, decode
from antiphon_shared.events.session import WorkflowCall
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.values import Value
from antiphon_shared.workflows.graph import UNDO, compile_graph
from antiphon_shared.workflows.nodes import STEP, ForeachNode
from pydantic import AwareDatetime

from antiphon.errors import UnknownSession
from antiphon.observe import newest_sessions
from antiphon.queued import queries_waiting, query_waiting
from antiphon.run_state import nodes_waiting_for_people, status_of, stored_run
from antiphon.submission import checked_session_id
from coordinator.runs.state import Beginning, Open, OpenKind, RunState
from coordinator.workflows.plan import Plan, parent_of, template_of
from coordinator.workflows.state import NodeState

_SESSIONS_MAX = 10_000
"""The number of sessions searched for runs, the newest first."""
_PAGE = 200


class RunLine(Value):
    """A line of `antiphon workflows runs list`."""

    run_id: str
    workflow: str
    opened: AwareDatetime
    status: str
    """`queued`, `running`, `waiting` for a person, or the status at its end."""
    waits_at: tuple[str, ...] = ()
    """The nodes that wait for a person."""


class RunNode(Value):
    """A node of a run; a foreach and all its items are one."""

    path: str
    status: str
    attempt: int = 0
    message: str = ""


class RunWait(Value):
    """A wait of a run's node."""

    node: str
    kind: OpenKind
    number: int
    until: AwareDatetime | None = None
    message: str = ""
    expects: dict[str, Any] = {}
    call: str = ""
    """The id of the call that a person has to approve."""


class RunView(RunLine):
    """A run in full, for a person."""

    specification: str
    params: dict[str, Any]
    worked_s: float = 0.0
    nodes: tuple[RunNode, ...] = ()
    waits: tuple[RunWait, ...] = ()
    standing: tuple[str, ...] = ()
    """Writes that took effect, and were not undone."""
    unknown: tuple[str, ...] = ()
    """Writes that may have taken effect."""
    undone: tuple[str, ...] = ()
    is_resumable: bool = False
    answer: str = ""
    output: Any = None


async def runs(bus: Bus, limit: int) -> list[RunLine]:
    """Return the newest runs of all partitions, among the newest 10,000 sessions."""
    queued = [_queued(event) for event in await queries_waiting(bus, _SESSIONS_MAX) if _workflow(event)]
    ids = [id for _, id in await newest_sessions(bus, _SESSIONS_MAX)]
    lines = {one.run_id: one for one in queued}
    for start in range(0, len(ids), _PAGE):
        if len(lines) >= limit:
            break
        page = await asyncio.gather(*(_line(bus, id) for id in ids[start : start + _PAGE]))
        lines.update({one.run_id: one for one in page if one is not None})
    return sorted(lines.values(), key=lambda one: one.opened, reverse=True)[:limit]


async def run_view(bus: Bus, run_id: str) -> RunView:
    """Return the present state of a run. Raises UnknownSession."""
    checked_session_id(run_id)
    first = await bus.first_event(run_id) or await query_waiting(bus, run_id)
    call = _workflow(first) if first is not None else None
    if first is None or call is None:
        raise UnknownSession.of_run(run_id)
    stored = await stored_run(bus, run_id)
    if stored is None:
        line = _queued(first)
        return RunView(**line.model_dump(), specification=call.specification, params=call.params)
    beginning, state = stored
    log, response = await asyncio.gather(bus.session(run_id).log(), bus.session(run_id).response())
    plan = await _plan(bus, beginning)
    requests = {event.data.round: event.data for _, event in log if isinstance(event.data, InputRequested)}
    if state.run.ended is None or response is None or response.run is None:
        outcome: dict[str, Any] = _writes(plan, state)
    else:
        outcome = response.run.model_dump(include={"standing", "unknown", "undone", "is_resumable"})
        outcome |= {"answer": response.answer, "output": response.result}
    return RunView(
        **_line_of(run_id, call.name, first, state).model_dump(),
        specification=beginning.opened.specification,
        params=call.params,
        worked_s=state.worked_s,
        nodes=tuple(_nodes(plan, state)),
        waits=tuple(_wait(path, one, requests) for path, one in state.open.items()),
        **outcome,
    )


async def _line(bus: Bus, run_id: str) -> RunLine | None:
    entries = await bus.batcher.submit("XRANGE", bus.keys.log(run_id), "-", "+", "COUNT", 1)
    try:
        first = decode(entries[0][1][b"event"]) if entries else None
        call = _workflow(first) if first is not None else None
        if first is None or call is None:
            return None
        stored = await stored_run(bus, run_id)
    except (UnreadableEvent, LookupError):
        return None  # an unreadable log does not count as a run
    return _queued(first) if stored is None else _line_of(run_id, call.name, first, stored[1])


def _line_of(run_id: str, workflow: str, first: AnyEvent, state: RunState) -> RunLine:
    return RunLine(
        run_id=run_id,
        workflow=workflow,
        opened=first.time,
        status=status_of(state),
        waits_at=tuple(nodes_waiting_for_people(state)),
    )


def _queued(event: AnyEvent) -> RunLine:
    call = _workflow(event)
    assert call is not None, "the query is of a run"
    return RunLine(run_id=event.subject, workflow=call.name, opened=event.time, status="queued")


def _workflow(event: AnyEvent) -> WorkflowCall | None:
    return event.data.options.workflow if isinstance(event.data, QuerySubmitted) else None


async def _plan(bus: Bus, beginning: Beginning) -> Plan | None:
    opened = beginning.opened
    specification = await WorkflowStore(bus).specification(opened.specification)
    if specification is None or opened.workflow not in specification.workflows:
        return None
    return Plan(compile_graph(specification, opened.workflow), opened.tools)


def _nodes(plan: Plan | None, state: RunState) -> Iterator[RunNode]:
    states = state.run.nodes
    if plan is None:
        paths = [path for path in states if template_of(path) == path]
    else:
        paths = [path for path in plan.graph.nodes if STEP not in path.split("/")]
    for path in paths:
        one = states.get(path)
        if one is None:
            yield RunNode(path=path, status="pending")
            continue
        message = one.failure.message if one.failure else ""
        is_foreach = plan is not None and isinstance(plan.node(path).node, ForeachNode)
        if is_foreach and one.begun:
            counted = f"{one.succeeded} of {one.size} items done, {one.open} running"
            message = f"{counted}{f': {message}' if message else ''}"
        status = "undone" if one.is_undone else _STATUS_TEXTS.get(one.status, one.status)
        yield RunNode(path=path, status=status, attempt=one.attempt, message=message)


def _wait(path: str, one: Open, requests: dict[int, InputRequested]) -> RunWait:
    request = requests.get(one.number) if one.kind == "person" else None
    return RunWait(
        node=path,
        kind=one.kind,
        number=one.number,
        until=one.until,
        message=request.message if request else "",
        expects=request.expects if request else {},
        call=one.call.id if one.call else "",
    )


def _writes(plan: Plan | None, state: RunState) -> dict[str, Any]:
    """Return the writes of a run: those in effect, of unknown outcome, and undone."""
    if plan is None:
        return {}
    states = state.run.nodes
    writes = {path: one for path, one in states.items() if UNDO not in path and plan.is_write(path)}
    done = sorted((one.order, path) for path, one in writes.items() if one.status == "done")
    undone = [path for _, path in done if _is_undone(path, states)]
    return {
        "standing": tuple(path for _, path in done if path not in undone),
        "unknown": tuple(path for path, one in writes.items() if one.failure and one.failure.is_unknown),
        "undone": tuple(undone),
    }


def _is_undone(path: str, states: dict[str, NodeState]) -> bool:
    while path:
        if path in states and states[path].is_undone:
            return True
        path = parent_of(path)
    return False


_STATUS_TEXTS = {"active": "under way", "retrying": "waits for a retry", "queued": "waits for its turn"}
