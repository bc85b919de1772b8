"""The answer of a run: its status, its output, and its writes that were not undone. Pure."""

import json
from collections.abc import Iterator, Mapping

from antiphon_shared.events.session import (
    NodeOutcome,
    Response,
    RunOutcome,
    RunStatus,
    Status,
    TerminationReason,
    Uncertainty,
)
from antiphon_shared.text.excerpt import one_line
from antiphon_shared.workflows.nodes import STEP, CallNode, ForeachNode
from pydantic_core import to_json

from coordinator.runs.state import RunChange
from coordinator.runs.step_builder import StepBuilder
from coordinator.session import new_uncertainty
from coordinator.workflows.messages import End
from coordinator.workflows.plan import Plan
from coordinator.workflows.resuming import RESUMABLE
from coordinator.workflows.state import SETTLED, NodeState

_RESULT_BYTES_MAX = 500_000
"""Bound on an output in the answer, as events are bounded."""
_NODES_MAX, _LISTED_MAX = 1_000, 100
_OUTPUT_CHARACTERS_MAX, _WHY_CHARACTERS = 2_000, 300
_STATUS_TEXTS: dict[RunStatus, str] = {
    "completed": "completed",
    "failed": "failed",
    "compensated": "failed, and its completed writes were undone",
    "cancelled": "was cancelled",
    "timed_out": "took too long",
    "needs_review": "needs review: whether a write took effect is unknown",
    "compensation_failed": "failed, and not all of its completed writes could be undone",
}


def response_of(builder: StepBuilder, change: RunChange) -> Response:
    """Return the answer of a run that ends with this change."""
    end, pinned = builder.ended, builder.pinned
    assert end is not None, "only a run that has ended has an answer"
    states = {**builder.state.run.nodes, **change.nodes}
    calls = (path for path in states if isinstance(pinned.plan.node(path).node, CallNode))
    is_undone = any(state.undo_began for state in states.values())
    has_output = len(to_json(end.output, fallback=str)) <= _RESULT_BYTES_MAX
    outcome = RunOutcome(
        workflow=pinned.opened.workflow,
        specification=pinned.opened.specification,
        status=end.status,
        nodes=tuple(_outcomes(pinned.plan, states)),
        standing=end.standing[:_LISTED_MAX],
        unknown=end.unknown[:_LISTED_MAX],
        undone=end.undone[:_LISTED_MAX],
        is_resumable=end.status in RESUMABLE and not pinned.opened.problem and not is_undone,
    )
    status, reason = _status(end.status)
    return Response(
        session_id=pinned.run_id,
        status=status,
        answer=_text(outcome, end, has_output),
        result=end.output if has_output else None,
        run=outcome,
        termination_reason=reason,
        uncertainty=tuple(_uncertain(end, has_output)),
        rounds_used=0,
        tool_calls_used=sum(states[path].attempt for path in calls),
        duration_ms=max(0, round((builder.now - pinned.beginning.at).total_seconds() * 1000)),
    )


def _status(status: RunStatus) -> tuple[Status, TerminationReason]:
    match status:
        case "completed":
            return "complete", "natural_completion"
        case "cancelled":
            return "cancelled", "cancelled"
        case "timed_out":
            return "failed", "deadline_exceeded"
        case _:
            return "failed", "workflow_failed"


def _outcomes(plan: Plan, states: Mapping[str, NodeState]) -> Iterator[NodeOutcome]:
    """Yield the outcomes of settled nodes; a foreach represents its items."""
    listed = [path for path in plan.graph.nodes if STEP not in path.split("/") and path in states]
    for path in listed[:_NODES_MAX]:
        state = states[path]
        if state.status not in SETTLED:
            continue
        message = one_line(state.why, _WHY_CHARACTERS)
        if isinstance(plan.graph.nodes[path].node, ForeachNode):
            message = f"{state.succeeded} of {state.size} items{f': {message}' if message else ''}"
        status = "undone" if state.is_undone else state.status
        yield NodeOutcome.model_validate({"path": path, "status": status, "message": message})


def _text(outcome: RunOutcome, end: End, has_output: bool) -> str:
    """Return the answer for people, as Markdown."""
    parts = [f"The workflow `{outcome.workflow}` {_STATUS_TEXTS[outcome.status]}."]
    if end.failure is not None:
        parts.append(one_line(end.failure.message, _OUTPUT_CHARACTERS_MAX))
    if end.status == "completed" and not has_output:
        parts.append(
            f"Its output is larger than {_RESULT_BYTES_MAX:,} bytes, so it is only in the run's log."
        )
    elif end.output is not None:
        parts.append(f"```json\n{_excerpt(end.output)}\n```")
    if end.status != "completed" and outcome.standing:
        parts.append("These writes took effect and were not undone:\n" + _listed(outcome.standing))
    if outcome.unknown:
        parts.append("Whether these writes took effect is unknown:\n" + _listed(outcome.unknown))
    if outcome.undone:
        parts.append("These writes were undone:\n" + _listed(outcome.undone))
    return "\n\n".join(parts)


def _excerpt(value: object) -> str:
    text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
    return text if len(text) <= _OUTPUT_CHARACTERS_MAX else f"{text[:_OUTPUT_CHARACTERS_MAX]}\n..."


def _listed(paths: tuple[str, ...]) -> str:
    return "\n".join(f"- `{path}`" for path in paths)


def _uncertain(end: End, has_output: bool) -> Iterator[Uncertainty]:
    for path in end.unknown[:_LISTED_MAX]:
        message = f"Whether `{path}` took effect is unknown. Check before doing it again."
        yield new_uncertainty("outcome_unknown", message, path, "serious")
    for path in end.standing[:_LISTED_MAX] if end.status != "completed" else ():
        yield new_uncertainty("write_stands", f"`{path}` took effect and was not undone.", path, "serious")
    if not has_output:
        yield new_uncertainty("output_left_out", "The output is too large to stand in the answer.", "output")
