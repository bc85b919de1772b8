"""Calls of a session that are runs of workflows: each begins with the batch, and its answer is the result. Pure.

The dispatchers run the batch's other calls as usual. When these calls and all runs have ended, the coordinator
emits one tools.completed with all results in the order of the calls, and the next round begins. When a run
waits for a person, the session asks its user (child_questions.py). A session without a user takes the wait
as the result of the call, and the run continues by itself.
"""

import json
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

from antiphon_shared.bus.handling import Send
from antiphon_shared.events import (
    AnyEvent,
    CancellationRequested,
    ChildBegun,
    ChildEnded,
    ChildWaiting,
    Parent,
    QuerySubmitted,
    ToolsCompleted,
)
from antiphon_shared.events.session import QueryOptions, Response, WorkflowCall
from antiphon_shared.process.ids import child_session_id
from antiphon_shared.text.excerpt import one_line
from antiphon_shared.tools.calls import Catalogue, ErrorType, Repeated, RequestedCall, ToolError, ToolResult
from pydantic_core import to_json

from coordinator.child_questions import ask, asking, with_changes
from coordinator.decision import Decision, LoggedEvent
from coordinator.session import Session
from coordinator.session_parts import Children, ChildRun, MadeRun, replace

_RESULT_BYTES_MAX = 20_000
"""Bound on the part of a run's output that the model sees, as the document is rewritten at every step."""
_CALLS_MAX = 100_000
"""Bound on the calls of a batch, from which the runs of a session get distinct numbers."""
_TITLE_CHARACTERS, _WHY_CHARACTERS = 1_000, 2_000
_SUGGESTED_ACTIONS = {
    "outcome_unknown": "Do not begin it again. Say in the answer that a person has to check what took effect.",
    "validation_error": "Correct the arguments as the message says, and call it again.",
    "api_failure": "Read which writes took effect and which were undone before you start it again.",
    "timeout": "Read which writes took effect and which were undone before you start it again.",
    "cancelled": "Go on without it, and say so in the answer.",
}


def workflow_of(call: RequestedCall, allowed: Sequence[str], catalogue: Catalogue) -> str:
    """Return the hash of the specification that a call runs; empty for calls of tools, and refused ones."""
    tool = catalogue.by_name.get(call.name)
    is_run = tool is not None and call.name in allowed and call.refused is None and call.problem is None
    return tool.workflow if tool is not None and is_run else ""


def begin_runs(
    decision: Decision,
    event: AnyEvent,
    calls: Sequence[RequestedCall],
    allowed: Sequence[str],
    catalogue: Catalogue,
) -> Decision:
    """Return the decision that hands out a batch and begins its runs."""
    session = decision.session
    runs: list[ChildRun] = []
    made = list(session.children.made)
    for index, call in enumerate(calls):
        content_hash = workflow_of(call, allowed, catalogue)
        if not content_hash:
            continue
        digest = _digest(call)
        earlier = next((one for one in reversed(made) if one.digest == digest), None)
        if earlier is not None and not earlier.is_clean:
            result = _repeated_result(call, index, earlier)
            runs.append(ChildRun(call=call, index=index, id=earlier.id, result=result))
            continue
        child = child_session_id(session.id, session.round * _CALLS_MAX + index)
        made.append(MadeRun(id=child, digest=digest, call_id=call.id, round=session.round))
        is_alone = catalogue.by_name[call.name].contract.mode == "sequential-only"
        is_queued = is_alone and any(run.is_alone and run.result is None for run in runs)
        runs.append(
            ChildRun(
                call=call,
                index=index,
                id=child,
                specification=content_hash,
                is_alone=is_alone,
                is_queued=is_queued,
            )
        )
    children = Children(runs=tuple(runs), has_batch=bool(decision.commands), made=tuple(made))
    after = replace(session, children=children)
    if not decision.commands and all(run.result is not None for run in runs):
        return replace(complete_batch(after, event, None), timers=decision.timers)
    return _with_begun_runs(replace(decision, session=after), [run for run in runs if _may_begin(run)])


def _may_begin(run: ChildRun) -> bool:
    return run.result is None and not run.is_queued


def _with_begun_runs(decision: Decision, runs: Sequence[ChildRun]) -> Decision:
    """Return the decision, which now also begins these runs."""
    session = decision.session
    noted = [ChildBegun(round=session.round, child=run.id, call_id=run.call.id) for run in runs]
    sends = [Send(run.id, _query(session, run.call, run.specification), opens=True) for run in runs]
    return replace(decision, commands=(*decision.commands, *noted), sends=(*decision.sends, *sends))


def after_child_event(session: Session, event: AnyEvent, needed: LoggedEvent | None) -> Decision:
    """Return the decision after a run has ended, or waits for a person; `needed` is as for `decide`."""
    match event.data:
        case ChildEnded() as ended:
            after = _after_ended(session, ended)
        case ChildWaiting() as waiting:
            child = _child_to_wait_for(session, waiting.round, waiting.call_id, waiting.child)
            if child is None:
                return Decision(session)
            asks = ask(session, child, waiting, event.time) if session.query.is_interactive else None
            if asks is not None:
                return asks
            after = with_changes(session, child, result=_waiting_result(child, waiting))
        case _:
            return Decision(session)
    return Decision(session) if after is session else _continue_batch(after, event, needed)


def _continue_batch(session: Session, event: AnyEvent, needed: LoggedEvent | None) -> Decision:
    """Return the decision after calls got results: all results are complete, or the next queued run begins."""
    decision = complete_batch(session, event, _batch_of(session, needed))
    following = next((run for run in session.children.runs if run.is_queued), None)
    if following is None or any(run.is_alone and _may_begin(run) for run in session.children.runs):
        return decision
    return _with_begun_runs(
        replace(decision, session=with_changes(session, following, is_queued=False)), (following,)
    )


def after_batch(session: Session, event: AnyEvent) -> Decision:
    """Return the decision after the results of the batch's other calls."""
    batch = event.data
    assert isinstance(batch, ToolsCompleted), "a batch has ended"
    after = replace(session, children=replace(session.children, batch=event.id), awaiting=())
    return complete_batch(after, event, batch)


def _after_ended(session: Session, ended: ChildEnded) -> Session:
    child = _child_to_wait_for(session, ended.round, ended.call_id, ended.response.session_id)
    if child is None:
        return session
    result, is_clean = _result(child, ended.response)
    made = tuple(
        one.model_copy(update={"is_clean": is_clean}) if one.id == child.id else one
        for one in session.children.made
    )
    return with_changes(replace(session, children=replace(session.children, made=made)), child, result=result)


def after_overdue(session: Session, event: AnyEvent, needed: LoggedEvent | None) -> Decision:
    """Stop waiting for the user, who has not answered in time; the runs continue to wait by themselves."""
    after = session
    for run, waits in asking(session):
        after = with_changes(after, run, result=_waiting_result(run, waits))
    return Decision(session) if after is session else _continue_batch(after, event, needed)


def complete_batch(session: Session, event: AnyEvent, batch: ToolsCompleted | None) -> Decision:
    """Emit the results of a batch once all exist. `batch` holds the results of its other calls, if any."""
    children = session.children
    if any(run.result is None for run in children.runs) or (children.has_batch and batch is None):
        return Decision(session)
    run_results = {run.index: run.result for run in children.runs}
    others = iter(batch.results if batch is not None else ())
    count = len(run_results) + (len(batch.results) if batch is not None else 0)
    results = [run_results.get(index) or next(others) for index in range(count)]
    indexed = tuple(one.model_copy(update={"index": index}) for index, one in enumerate(results))
    duration_ms = batch.duration_ms if batch is not None else 0
    after = replace(session, children=Children(made=children.made), awaiting=(event.id,))
    return Decision(after, (ToolsCompleted.of(session.round, indexed, duration_ms),))


def _batch_of(session: Session, needed: LoggedEvent | None) -> ToolsCompleted | None:
    """Return the results of the batch's other calls, if they have arrived."""
    data = needed.event.data if needed is not None else None
    return data if session.children.batch is not None and isinstance(data, ToolsCompleted) else None


def without_batch(session: Session) -> tuple[Session, tuple[Send, ...]]:
    """Return the session without a lost batch and its runs, and the events that cancel the runs."""
    left = Children(made=session.children.made)
    writes = replace(session.writes, in_doubt=())
    return replace(session, children=left, writes=writes), cancellations(session)


def cancellations(session: Session) -> tuple[Send, ...]:
    """Return the events that cancel the runs that a session still waits for."""
    reason = CancellationRequested(reason="its session has ended")
    return tuple(Send(run.id, reason) for run in session.children.runs if _may_begin(run))


def _query(session: Session, call: RequestedCall, content_hash: str) -> QuerySubmitted:
    name = call.name.partition("_")[2]
    arguments = ", ".join(f"{key}={value!r}" for key, value in call.arguments.items())
    return QuerySubmitted(
        query=one_line(f"{name}({arguments})", _TITLE_CHARACTERS),
        options=QueryOptions(
            workflow=WorkflowCall(name=name, params=call.arguments, specification=content_hash)
        ),
        parent=Parent(
            session=session.id,
            round=session.round,
            call_id=call.id,
            is_interactive=session.query.is_interactive,
        ),
        grant=session.query.grant,
    )


def _digest(call: RequestedCall) -> str:
    arguments = json.dumps(call.arguments, sort_keys=True, default=str)
    return blake2b(f"{call.name} {arguments}".encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def _child_to_wait_for(session: Session, round: int, call_id: str, child: str) -> ChildRun | None:
    if session.phase != "tools" or round != session.round:
        return None
    waiting = (run for run in session.children.runs if (run.call.id, run.id) == (call_id, child))
    return next((run for run in waiting if run.result is None), None)


def _result(run: ChildRun, response: Response) -> tuple[ToolResult, bool]:
    """Return the result of a run's call, and whether the run may be begun again because it left no effects."""
    outcome = response.run
    if outcome is not None and outcome.status == "completed":
        data = response.result if response.result is not None else response.answer
        return _ok_result(run, _excerpt(data, response.session_id)), False
    unknown = outcome is None or bool(outcome.unknown) or outcome.status == "compensation_failed"
    is_clean = not unknown and outcome is not None and not outcome.standing
    kind: ErrorType = "outcome_unknown" if unknown else "api_failure"
    if outcome is not None and not unknown:
        kinds: dict[str, ErrorType] = {"timed_out": "timeout", "cancelled": "cancelled"}
        kind = kinds.get(outcome.status, "validation_error" if not outcome.nodes else "api_failure")
    message = one_line(response.answer, _WHY_CHARACTERS)
    error = ToolError(error_type=kind, message=message, suggested_action=_SUGGESTED_ACTIONS[kind])
    return _failed_result(run, error), is_clean


def _waiting_result(run: ChildRun, waiting: ChildWaiting) -> ToolResult:
    reported = {
        "status": "waiting",
        "message": waiting.message,
        "expects": waiting.expects,
        "until": waiting.until.isoformat(),
        "run": run.id,
    }
    return _ok_result(run, reported)


def _excerpt(data: object, run_id: str) -> Any:
    text = to_json(data, fallback=str)
    if len(text) <= _RESULT_BYTES_MAX:
        return data
    beginning = text[:_RESULT_BYTES_MAX].decode(errors="ignore")
    return {
        "beginning": beginning,
        "note": f"Cut: the output has {len(text):,} bytes; run {run_id} has it whole.",
    }


def _ok_result(run: ChildRun, data: object) -> ToolResult:
    return ToolResult(index=run.index, call_id=run.call.id, tool=run.call.name, status="ok", data=data)


def _failed_result(run: ChildRun, error: ToolError) -> ToolResult:
    return ToolResult(index=run.index, call_id=run.call.id, tool=run.call.name, status="error", error=error)


def _repeated_result(call: RequestedCall, index: int, earlier: MadeRun) -> ToolResult:
    return ToolResult(
        index=index,
        call_id=call.id,
        tool=call.name,
        status="ok",
        data={"note": f"This run was begun before: see the result of call {earlier.call_id}."},
        repeated=Repeated(call_id=earlier.call_id, round=earlier.round),
    )
