"""The beginning of a node, by its type. Pure."""

from antiphon_shared.text.excerpt import cut
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
from antiphon_shared.workflows.references import UNRESOLVED, resolve, resolve_arguments
from antiphon_shared.workflows.sql import SQL_TOOL, UnfitSql, arguments_of
from pydantic import AwareDatetime, TypeAdapter, ValidationError
from pydantic_core import to_json

from coordinator.workflows.messages import AskPerson, CallTool, Failure, Reason, SetTimer
from coordinator.workflows.names import ITEMS, PARAMS, Names, names_for
from coordinator.workflows.plan import instance, parent_of, template_of
from coordinator.workflows.state import ScopeState
from coordinator.workflows.turn import Begin, ScopeFailed, Settled, Turn

ARGUMENTS_BYTES_MAX = 2_000_000
"""Bound on the arguments of one call, as they are part of an event, which is bounded."""
TimedNode = ParallelNode | ForeachNode | WorkflowNode | WaitNode
"""Nodes whose timeouts are timers of the run."""
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
    names = names_for(turn, path)
    try:
        if node.when is not None and state.status == "pending" and not is_true(node.when, names):
            _skip(turn, path)
        else:
            _begin_node(turn, path, node, names)
    except UNRESOLVED as error:
        turn.fail(path, "reference_missing", str(error))
    except ConditionFailed as error:
        turn.fail(path, "condition_failed", str(error))
    except UnfitItems as error:
        turn.fail(path, "unfit_items", str(error))
    except UnfitSql as error:
        turn.fail(path, "unfit_sql", str(error))


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
    turn.changes.scopes[path] = ScopeState("working", left=len(scope.nodes))
    turn.store_value(path + PARAMS, params)
    nodes, template = turn.plan.graph.nodes, template_of(path)
    for one in scope.nodes:
        if nodes[one].waits_for_activation and not nodes[one].activated_by:
            turn.schedule(Settled(instance(one, template, path), "skipped"))
    turn.schedule(*(Begin(instance(root, template, path)) for root in scope.roots))


def _begin_node(turn: Turn, path: str, node: Node, names: Names) -> None:
    match node:
        case CallNode():
            _call(turn, path, node, names)
        case WorkflowNode():
            _begin_workflow(turn, path, node, resolve_arguments(node.args, names))
        case BranchNode():
            _branch(turn, path, node, names)
        case ParallelNode():
            parts = turn.part_paths(path)
            _set_timeout(turn, path, node)
            turn.change(path, size=len(parts), begun=len(parts), open=len(parts))
            turn.schedule(*map(Begin, parts))
        case ForeachNode():
            items = resolve_items(node.items, names, node.max_iterations)
            turn.store_value(path + ITEMS, items)
            _set_timeout(turn, path, node)
            begun = min(len(items), node.concurrency)
            turn.change(path, size=len(items), begun=begun, open=begun)
            turn.schedule(*map(Begin, turn.part_paths(path)[:begun]))
            if not items:
                turn.succeed_by_parts(path)
        case YieldNode():
            message = _text(resolve(node.message, names))
            timeout_s = node.timeout_s or YIELD_TIMEOUT_S
            asked = AskPerson(path, _next_attempt(turn, path), message, node.expects, timeout_s)
            turn.commands.append(asked)
        case WaitNode():
            _wait(turn, path, node, names)
        case ReasonNode():
            _reason(turn, path, node, names)
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


def _next_attempt(turn: Turn, path: str) -> int:
    return turn.change(path, attempt=turn.node(path).attempt + 1).attempt


def _call(turn: Turn, path: str, node: CallNode, names: Names) -> None:
    is_sql = node.call == SQL_TOOL and isinstance(node.args.get("sql"), str)
    arguments = arguments_of(node.args["sql"], names) if is_sql else resolve_arguments(node.args, names)
    if (size := len(to_json(arguments, fallback=str))) > ARGUMENTS_BYTES_MAX:
        message = f"its arguments have {size:,} bytes, more than the limit of {ARGUMENTS_BYTES_MAX:,}"
        turn.fail(path, "arguments_too_large", message)
        return
    attempt = turn.node(path).attempt + 1
    turn.call(CallTool(path, attempt, turn.node(path).key or attempt, node.call, arguments))


def _reason(turn: Turn, path: str, node: ReasonNode, names: Names) -> None:
    question, instructions = (_text(resolve(one, names)) for one in (node.question, node.instructions))
    attempt = _next_attempt(turn, path)
    if question.strip():
        turn.commands.append(Reason(path, attempt, question, instructions, node))
    else:
        turn.fail(path, "empty_question", "its question is empty")


def _text(value: Json) -> str:
    """Return the text of a value for a person or a model, cut to a maximum, as events are bounded."""
    text = value if isinstance(value, str) else to_json(value, fallback=str).decode(errors="replace")
    return cut(text, _TEXT_CHARACTERS_MAX)


def _begin_workflow(turn: Turn, path: str, node: WorkflowNode, args: JsonObject) -> None:
    params, problem = checked_params(turn.plan.scope(path).workflow.params, args)
    if problem:
        turn.fail(path, "unfit_params", problem)
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


def _branch(turn: Turn, path: str, node: BranchNode, names: Names) -> None:
    for arm in node.on:
        if arm.when is None or is_true(arm.when, names):
            turn.succeed(path, arm.goto, activates=turn.neighbour(path, arm.goto))
            return
    turn.fail(path, "no_branch_matched", "no condition was true, and there is no default")


def _wait(turn: Turn, path: str, node: WaitNode, names: Names) -> None:
    attempt = _next_attempt(turn, path)
    if node.until is not None:
        until = resolve(node.until, names)
        if problem := _DATE_TIME.problem(until) or _moment_problem(until):
            turn.fail(path, "unfit_until", f"until: {problem}")
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
            turn.fail(path, "unfit_seconds", f"seconds is {short_json(seconds)}, and {needed}")
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


def _set_timeout(turn: Turn, path: str, node: TimedNode) -> None:
    """Set the timer of a node's timeout; the dispatcher bounds a call."""
    if node.timeout_s is not None:
        turn.commands.append(SetTimer(path, 0, seconds=node.timeout_s))
