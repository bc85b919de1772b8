"""Runs of workflows, from Python.

async with Antiphon() as antiphon:
    response = await workflows.run(antiphon, "book_trip", {"origin": "NYC"}, source="trips.yaml")
    print(response.run.status, response.result)
"""

from collections.abc import Iterable, Mapping
from hmac import compare_digest
from pathlib import Path
from typing import TYPE_CHECKING

from antiphon_shared.bus.connection import retry_while_unavailable
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.workflow_store import WorkflowStore
from antiphon_shared.events import (
    InputRequested,
    OutcomeSettled,
    ResumeRequested,
)
from antiphon_shared.events.session import Response, WorkflowCall
from antiphon_shared.text.excerpt import cut
from antiphon_shared.text.nearest import did_you_mean
from antiphon_shared.workflows.specification import Specification

from antiphon.confirmation import GivenValues
from antiphon.errors import InvalidQuery, NotWaiting, UnknownSession
from antiphon.run_state import run_state, status_of
from antiphon.signals import send
from antiphon.submission import checked_session_id
from antiphon.tail import PATIENCE_S
from antiphon.workflows.load import load
from antiphon.workflows.values_effect import send_values
from coordinator.runs.handlers import token_name
from coordinator.runs.state import Open, RunState

if TYPE_CHECKING:
    from antiphon.client import Antiphon


async def start(
    antiphon: "Antiphon",
    name: str,
    params: Mapping[str, object] | None = None,
    *,
    source: str | Path | Specification | None = None,
    run_id: str | None = None,
    grant: str = "",
) -> str:
    """Begin a run of a workflow; return its id, by which `antiphon.result` and `stream` follow it.

    Args:
        antiphon: The client.
        name: The workflow's name.
        params: By name; checked strictly. Wrong ones end the run at once.
        source: A file, or a specification; by default the workflow published under that name.
        run_id: An id of the caller's makes it safe to start again: the same workflow and params are the same run.
        grant: A signed token with the run's permissions.

    Raises:
        InvalidWorkflow: The file has errors.
        InvalidQuery, SessionConflict, RedisUnavailable: As `Antiphon.submit`.
    """
    bus, content_hash = antiphon.open_bus(), ""
    if source is not None:
        specification = source if isinstance(source, Specification) else load(source)
        if name not in specification.workflows:
            hint = did_you_mean(name, specification.workflows)
            raise InvalidQuery(f"workflow {name!r} does not exist in it.", hint=hint)
        content_hash = await WorkflowStore(bus).store(specification)
    call = WorkflowCall(name=name, params=dict(params or {}), specification=content_hash)
    return await antiphon.submit(_listed_as(call), session_id=run_id, grant=grant, workflow=call)


async def run(
    antiphon: "Antiphon",
    name: str,
    params: Mapping[str, object] | None = None,
    *,
    source: str | Path | Specification | None = None,
    run_id: str | None = None,
    grant: str = "",
    timeout_s: float | None = None,
) -> Response:
    """Begin a run and wait for its end; `response.run` has its outcome. Raises the errors of `start` and `result`."""
    id = await start(antiphon, name, params, source=source, run_id=run_id, grant=grant)
    return await antiphon.result(id, timeout_s)


async def waiting(antiphon: "Antiphon", run_id: str) -> tuple[InputRequested, ...]:
    """Return the requests to people that a run waits for; maybe an empty tuple. Raises UnknownSession."""
    state = await _state(antiphon.open_bus(), run_id)
    numbers = {one.number for one in state.open.values() if one.kind == "person"}
    log = await antiphon.open_bus().session(run_id).log()
    requests = [event.data for _, event in log if isinstance(event.data, InputRequested)]
    return tuple(one for one in requests if one.round in numbers)


async def give(
    antiphon: "Antiphon",
    run_id: str,
    values: Mapping[str, object],
    *,
    node: str = "",
    token: str | None = None,
    by: str = "",
) -> GivenValues:
    """Give a run the values that it waits for, and wait until a coordinator has read them, at most 5 s.

    Args:
        antiphon: The client.
        run_id: The run.
        values: By name, as the node expects them.
        node: The path of the node, if several wait.
        token: The token that the person received with the request; not needed by clients with access to Redis.
        by: The person's name, for the record.

    Returns:
        The path of the node, with `refused`: the reason if the values do not fit, and the run continues to wait.

    Raises:
        NotWaiting: It waits for no person, or not at that node, or the token is wrong.
        TooLate: Another person's values came first.
        UnknownSession: There is no such run.
    """
    bus = antiphon.open_bus()
    path, open = _chosen(await _state(bus, run_id), node, run_id)
    if token is not None:
        stored = await bus.session(run_id).load(token_name(open.number))
        if stored is None or not compare_digest(stored, token.encode()):
            raise NotWaiting("the token does not belong to a waiting node of this run.")
    return await send_values(bus, run_id, path, open.number, values, by)


async def requested_input(antiphon: "Antiphon", run_id: str, node: str = "") -> InputRequested:
    """Return the request to a person that a run waits for; `node` selects one of several. Raises as `give` does."""
    path, open = _chosen(await _state(antiphon.open_bus(), run_id), node, run_id)
    request = next((one for one in await waiting(antiphon, run_id) if one.round == open.number), None)
    if request is None:
        raise NotWaiting(f"run {run_id} is no longer waiting at {path!r}.")
    return request


async def token_of(antiphon: "Antiphon", run_id: str, node: str = "") -> str:
    """Return the token with which any holder can answer a wait of a run, once. Raises as `give` does."""
    _, open = _chosen(await _state(antiphon.open_bus(), run_id), node, run_id)
    stored = await antiphon.open_bus().session(run_id).load(token_name(open.number))
    if stored is None:
        raise NotWaiting(f"the token of run {run_id} is no longer stored.")
    return stored.decode()


async def settle(
    antiphon: "Antiphon",
    run_id: str,
    node: str,
    happened: bool,
    *,
    result: object = None,
    by: str = "",
    reason: str = "",
) -> None:
    """Report whether a write of unknown outcome took effect, and its result; then the run can be resumed.

    Raises NotWaiting if that node's outcome is known, UnknownSession.
    """
    state = await _state(antiphon.open_bus(), run_id)
    node_state = state.run.nodes.get(node)
    has_parts = any(path.startswith(f"{node}/") for path in state.run.nodes)
    if node_state is None or node_state.failure is None or not node_state.failure.is_unknown or has_parts:
        raise NotWaiting(f"the outcome of {node!r} in run {run_id} is already known.")
    fields = {"node": node, "happened": happened, "result": result, "by": by, "reason": reason}
    await send(antiphon.open_bus(), run_id, OutcomeSettled, fields, "run")


async def resume(antiphon: "Antiphon", run_id: str, *, by: str = "", reason: str = "") -> None:
    """Resume a failed run: finished nodes stay finished, the others run.

    Raises NotWaiting if it cannot be resumed, or the outcome of a write has to be settled first;
    UnknownSession.
    """
    bus = antiphon.open_bus()
    state = await _state(bus, run_id)
    response = await bus.session(run_id).response()
    if state.run.ended is None:
        raise NotWaiting(f"run {run_id} has not ended.", hint=f"It is {status_of(state)}.")
    if response is None or response.run is None or not response.run.is_resumable:
        raise NotWaiting(
            f"run {run_id} cannot be resumed.",
            hint="Only a run that failed, timed out or needs review, and undid nothing, can be resumed.",
        )
    if unknown := await _unknown(bus, run_id, response.run.unknown):
        raise NotWaiting(
            f"run {run_id} cannot be resumed: the outcome of {', '.join(unknown)} is unknown.",
            hint="Check the target system, and settle each write first: antiphon workflows runs "
            f"settle {run_id} {unknown[0]} --happened (or --did-not-happen).",
        )
    await send(bus, run_id, ResumeRequested, {"by": by, "reason": reason}, "run")


async def _unknown(bus: Bus, run_id: str, at_end: Iterable[str]) -> tuple[str, ...]:
    """Return the writes without a settlement since the run's end; a settlement may not be decided on yet."""
    settled: set[str] = set()
    for _, event in await bus.session(run_id).log():
        if isinstance(event.data, ResumeRequested):
            settled.clear()
        elif isinstance(event.data, OutcomeSettled):
            settled.add(event.data.node)
    return tuple(path for path in at_end if path not in settled)


async def _state(bus: Bus, run_id: str) -> RunState:
    checked_session_id(run_id)
    state = await retry_while_unavailable("read a run", lambda: run_state(bus, run_id), PATIENCE_S)
    if state is None:
        raise UnknownSession.of_run(run_id)
    return state


def _chosen(state: RunState, node: str, run_id: str) -> tuple[str, Open]:
    people = {path: one for path, one in state.open.items() if one.kind == "person"}
    if node and node not in people:
        raise NotWaiting(
            f"run {run_id} is not waiting at {node!r}; it is waiting at {', '.join(people) or 'no node'}."
        )
    if not people:
        raise NotWaiting(f"run {run_id} is not waiting for a person.")
    if len(people) > 1 and not node:
        raise InvalidQuery(
            f"run {run_id} is waiting at {', '.join(people)}.", hint="Name one of these nodes."
        )
    path = node or next(iter(people))
    return path, people[path]


def _listed_as(call: WorkflowCall) -> str:
    """Return the text that represents the run in lists of queries."""
    arguments = ", ".join(f"{name}={value!r}" for name, value in call.params.items())
    return cut(f"{call.name}({arguments})", 1_000)
