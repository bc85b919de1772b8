"""The beginning of a node, by its type. Pure."""

from antiphon_shared.values import Json, JsonObject
from antiphon_shared.workflows.condition import ConditionFailed, is_true
from antiphon_shared.workflows.items import UnfitItems, resolve_items
from antiphon_shared.workflows.nodes import (
    SECONDS_MAX,
    YIELD_TIMEOUT_S,
    BranchNode,
    CallNode,
    CompensateNode,
    ErrorNode,
    ForeachNode,
    Node,
    ParallelNode,
    ReasonNode,
    WaitNode,
    WorkflowNode,
    YieldNode,
)
from antiphon_shared.workflows.params import Param, short_json
from antiphon_shared.workflows.references import (
    MalformedReference,
    NotText,
    ReferenceMissing,
    resolve,
    resolve_arguments,
)
from antiphon_shared.workflows.sql import SQL_TOOL, UnfitSql, arguments_of
from pydantic import AwareDatetime, TypeAdapter, ValidationError
from pydantic_core import to_json

from coordinator.workflows.messages import AskPerson, CallTool, Failure, Reason, SetTimer
from coordinator.workflows.names import ITEMS, PARAMS, names_for
from coordinator.workflows.plan import instance, join, parent_of, template_of
from coordinator.workflows.state import ScopeState
from coordinator.workflows.turn import Begin, NodeFailed, ScopeFailed, Settled, Turn

ARGUMENTS_BYTES_MAX = 2_000_000
"""Bound on the arguments of one call, as they are part of an event, which is bounded."""
_TEXT_CHARACTERS_MAX = 50_000
_DATE_TIME = Param(type="str", format="date-time")
_MOMENT: TypeAdapter[AwareDatetime] = TypeAdapter(AwareDatetime)


def may_begin(turn: Turn, path: str) -> bool:
    """Return whether a node has yet to begin, in a scope and container that are at work."""
    if turn.node(path).status not in ("pending", "queued", "retrying"):
        return False
    if turn.scope(turn.scope_path(path)).phase != "working":
        return False
    return turn.plan.node(path).container is None or turn.node(parent_of(path)).status == "active"


def begin(turn: Turn, path: str) -> None:
    """Begin a node whose dependencies have settled, or skip it; ignore it in a failed or stopped scope."""
    if not may_begin(turn, path):
        return
    graph_node, state = turn.plan.node(path), turn.node(path)
    if graph_node.container is None and graph_node.upstream and not (state.has_success or state.is_activated):
        turn.schedule(Settled(path, "skipped"))
        return
    node = graph_node.node
    turn.change(path, status="active")  # first, as two nodes may have activated it in one decision
    try:
        if (
            node.when is not None
            and state.status == "pending"
            and not is_true(node.when, names_for(turn, path))
        ):
            _skip(turn, path)
            return
        _begin_node(turn, path, node)
    except (ReferenceMissing, NotText, MalformedReference) as error:
        turn.schedule(NodeFailed(path, Failure("reference_missing", str(error))))
    except ConditionFailed as error:
        turn.schedule(NodeFailed(path, Failure("condition_failed", str(error))))
    except UnfitItems as error:
        turn.schedule(NodeFailed(path, Failure("unfit_items", str(error))))
    except UnfitSql as error:
        turn.schedule(NodeFailed(path, Failure("unfit_sql", str(error))))


def _skip(turn: Turn, path: str) -> None:
    """Skip a node whose condition is false; if a failure has activated it, fail the workflow."""
    turn.schedule(Settled(path, "skipped"))
    for activator in turn.neighbours(path, turn.plan.node(path).activated_by):
        state = turn.node(activator)
        if state.status == "failed" and state.failure is not None:
            turn.schedule(ScopeFailed(turn.scope_path(path), state.failure))


def open_scope(turn: Turn, path: str, params: JsonObject) -> None:
    """Begin a workflow: the run's own, or one inlined under a node."""
    scope = turn.plan.scope(path)
    turn.scopes[path] = ScopeState("working", left=len(scope.nodes))
    turn.store_value(path + PARAMS, params)
    nodes, template = turn.plan.graph.nodes, template_of(path)
    for one in scope.nodes:
        if nodes[one].waits_for_activation and not nodes[one].activated_by:
            turn.schedule(Settled(instance(one, template, path), "skipped"))
    turn.schedule(*(Begin(instance(root, template, path)) for root in scope.roots))


def _begin_node(turn: Turn, path: str, node: Node) -> None:
    names = names_for(turn, path)
    match node:
        case CallNode():
            _call(turn, path, node)
        case WorkflowNode():
            _begin_workflow(turn, path, node, resolve_arguments(node.args, names))
        case BranchNode():
            _branch(turn, path, node)
        case ParallelNode():
            parts = [f"{path}/{name}" for name in node.branches]
            _set_timeout(turn, path, node)
            turn.change(path, size=len(parts), begun=len(parts), open=len(parts))
            turn.schedule(*map(Begin, parts))
        case ForeachNode():
            items = resolve_items(node.items, names, node.max_iterations)
            turn.store_value(path + ITEMS, items)
            _set_timeout(turn, path, node)
            begun = min(len(items), node.concurrency)
            turn.change(path, size=len(items), begun=begun, open=begun)
            turn.schedule(*(Begin(f"{path}/{index}") for index in range(begun)))
            if not items:
                turn.succeed_by_parts(path)
        case YieldNode():
            message = _text(resolve(node.message, names))
            attempt = turn.change(path, attempt=turn.node(path).attempt + 1).attempt
            timeout_s = node.timeout_s or YIELD_TIMEOUT_S
            turn.commands.append(AskPerson(path, attempt, message, node.expects, timeout_s))
        case WaitNode():
            _wait(turn, path, node)
        case ReasonNode():
            _reason(turn, path, node)
        case CompensateNode():
            failure = Failure("compensated", f"`{path}` was activated{_activation_cause(turn, path)}")
            turn.schedule(ScopeFailed(turn.scope_path(path), failure, compensator=path))
        case ErrorNode():
            failure = Failure("error", _text(resolve(node.message, names)))
            turn.schedule(Settled(path, "failed", failure), ScopeFailed(turn.scope_path(path), failure))


def _activation_cause(turn: Turn, path: str) -> str:
    """Return the message of the failure that activated a node; empty without one."""
    activators = map(turn.node, turn.neighbours(path, turn.plan.node(path).activated_by))
    return next((f": {one.failure.message}" for one in activators if one.failure is not None), "")


def _call(turn: Turn, path: str, node: CallNode) -> None:
    state, names = turn.node(path), names_for(turn, path)
    attempt = state.attempt + 1
    is_sql = node.call == SQL_TOOL and isinstance(node.args.get("sql"), str)
    arguments = arguments_of(node.args["sql"], names) if is_sql else resolve_arguments(node.args, names)
    if (size := len(to_json(arguments, fallback=str))) > ARGUMENTS_BYTES_MAX:
        message = f"its arguments have {size:,} bytes, more than the limit of {ARGUMENTS_BYTES_MAX:,}"
        turn.schedule(NodeFailed(path, Failure("arguments_too_large", message)))
        return
    is_retried = node.on_error is not None and node.on_error.retry > 0
    call = CallTool(
        path=path,
        attempt=attempt,
        key=state.key or attempt,
        tool=node.call,
        arguments=arguments,
        timeout_s=node.timeout_s,
        is_retried_by_run=is_retried,
    )
    turn.call(call)


def _reason(turn: Turn, path: str, node: ReasonNode) -> None:
    names = names_for(turn, path)
    question, instructions = (_text(resolve(one, names)) for one in (node.question, node.instructions))
    attempt = turn.change(path, attempt=turn.node(path).attempt + 1).attempt
    if not question.strip():
        turn.schedule(NodeFailed(path, Failure("empty_question", "its question is empty")))
        return
    turn.commands.append(Reason(path, attempt, question, instructions, node))


def _text(value: Json) -> str:
    """Return the text of a value for a person or a model, cut to a maximum, as events are bounded."""
    text = value if isinstance(value, str) else to_json(value, fallback=str).decode(errors="replace")
    return text if len(text) <= _TEXT_CHARACTERS_MAX else f"{text[:_TEXT_CHARACTERS_MAX]}..."


def _begin_workflow(turn: Turn, path: str, node: WorkflowNode, args: JsonObject) -> None:
    params, problem = checked_params(turn.plan.scope(path).workflow.params, args)
    if problem:
        turn.schedule(NodeFailed(path, Failure("unfit_params", problem)))
        return
    _set_timeout(turn, path, node)
    open_scope(turn, path, params)


def checked_params(declared: dict[str, Param], values: JsonObject) -> tuple[JsonObject, str]:
    """Return the params of a workflow with defaults filled in, and their problem, if any."""
    if unknown := [name for name in values if name not in declared]:
        return {}, f"there is no param {unknown[0]!r}; there are {', '.join(declared) or 'none'}"
    params: JsonObject = {}
    for name, param in declared.items():
        value = values.get(name, param.default)
        if value is None and param.is_required:
            return {}, f"param {name!r} is required"
        if value is not None and (problem := param.problem(value)):
            return {}, f"param {name!r}: {problem}"
        params[name] = value
    return params, ""


def _branch(turn: Turn, path: str, node: BranchNode) -> None:
    names = names_for(turn, path)
    for arm in node.on:
        if arm.when is None or is_true(arm.when, names):
            turn.succeed(path, arm.goto, activates=join(turn.scope_path(path), arm.goto))
            return
    turn.schedule(
        NodeFailed(path, Failure("no_branch_matched", "no condition was true, and there is no default"))
    )


def _wait(turn: Turn, path: str, node: WaitNode) -> None:
    names = names_for(turn, path)
    attempt = turn.change(path, attempt=turn.node(path).attempt + 1).attempt
    if node.until is not None:
        until = resolve(node.until, names)
        if problem := _DATE_TIME.problem(until) or _moment_problem(until):
            turn.schedule(NodeFailed(path, Failure("unfit_until", f"until: {problem}")))
            return
        timer = SetTimer(path, attempt, until=str(until))
    else:
        seconds = resolve(node.seconds, names)
        if (
            isinstance(seconds, bool)
            or not isinstance(seconds, int | float)
            or not 0 <= seconds <= SECONDS_MAX
        ):
            needed = f"a number from 0 to {SECONDS_MAX:,.0f} is needed"
            failure = Failure("unfit_seconds", f"seconds is {short_json(seconds)}, and {needed}")
            turn.schedule(NodeFailed(path, failure))
            return
        timer = SetTimer(path, attempt, seconds=float(seconds))
    _set_timeout(turn, path, node)
    turn.commands.append(timer)


def _moment_problem(until: Json) -> str | None:
    """Return why a date-time is not a valid moment: the year 0, or a leap second."""
    try:
        _MOMENT.validate_python(until)
    except ValidationError:
        return f"{short_json(until)} is not a date-time of the calendar"
    return None


def _set_timeout(turn: Turn, path: str, node: ParallelNode | ForeachNode | WorkflowNode | WaitNode) -> None:
    """Set the timer of a node's timeout; the dispatcher bounds a call."""
    if node.timeout_s is not None:
        turn.commands.append(SetTimer(path, 0, seconds=node.timeout_s))
