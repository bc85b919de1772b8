"""The undoing of a workflow, in reverse order of completion, one call after the other. Pure.

The steps of the activated compensate node come first, in their written order. They replace the `compensate` of
every node that they refer to. The path of a call that undoes a node is the node's path with `~undo`; the path of
a step is that of its compensate node with `~undo` and the step's number.
"""

from collections.abc import Iterator

from antiphon_shared.values import JsonObject
from antiphon_shared.workflows.graph import UNDO
from antiphon_shared.workflows.nodes import (
    CompensateCall,
    ForeachNode,
    ParallelNode,
    compensate_of,
    undoing_calls,
)
from antiphon_shared.workflows.references import (
    UNRESOLVED,
    Reference,
    read_template,
    resolve_arguments,
    templates,
)

from coordinator.workflows import ending
from coordinator.workflows.messages import CallTool, Failed, Succeeded
from coordinator.workflows.names import Names, names_for
from coordinator.workflows.plan import around, instance, template_of
from coordinator.workflows.turn import NodeFailed, OneStopped, Turn


def begin_undo(turn: Turn, scope: str) -> None:
    """Begin to undo a workflow in which no call is in flight any more."""
    compensator = turn.scope(scope).compensator
    steps: list[str] = []
    if compensator is not None:
        names = Names(turn, scope, is_undoing=True)
        for number, step in enumerate(undoing_calls(turn.plan.node(compensator).node).values()):
            if _arguments(step, names) is None:
                continue  # without its arguments, there is nothing to undo
            steps.append(f"{compensator}{UNDO}{number}")
            for path in _referenced_nodes(turn, scope, step):
                turn.change(path, undo_began=True)
    own = sorted(_done_inside(turn, scope), reverse=True)
    turn.changes.undo[scope] = (*steps, *(f"{path}{UNDO}" for _, path in own))
    turn.change_scope(scope, phase="undoing")
    _make_next_call(turn, scope)


def undo_settled(turn: Turn, settled: Succeeded | Failed) -> None:
    """Note the end of a call that undoes, and make the next one."""
    scope = _scope_waiting_for(turn, settled.path)
    if scope is None:
        return
    step = _step(turn, settled.path)
    turn.remove_from_queue(step.call, settled.path)
    if isinstance(settled, Succeeded):
        base, _, number = settled.path.rpartition(UNDO)
        for path in _referenced_nodes(turn, scope, step) if number else [base]:
            turn.change(path, is_undone=True)
    elif not step.ignore_error:
        turn.changes.undo_failed += (settled.path,)
    turn.change_scope(scope, undone=turn.scope(scope).undone + 1)
    _make_next_call(turn, scope)


def make_next(turn: Turn, path: str) -> None:
    """Make a call that undoes, which waited for other calls of a sequential-only tool."""
    scope = _scope_waiting_for(turn, path)
    if scope is not None:
        _make_next_call(turn, scope)


def _done_inside(turn: Turn, scope: str) -> Iterator[tuple[int, str]]:
    """Yield the nodes that their own `compensate` undoes, each after its number in the order of completion.

    The `compensate` of a sub-workflow replaces the `compensate` of its nodes.
    """
    for path in turn.children(scope):
        state = turn.node(path)
        if state.undo_began:
            continue
        if state.is_done and compensate_of(turn.plan.node(path).node) is not None:
            yield state.order, path
        else:
            yield from _done_inside(turn, path)


def _arguments(step: CompensateCall, names: Names) -> JsonObject | None:
    try:
        return resolve_arguments(step.args, names)
    except UNRESOLVED:
        return None


def _make_next_call(turn: Turn, scope: str) -> None:
    """Make the next call that undoes; end the workflow if no call remains."""
    while (path := undoing_call(turn, scope)) is not None:
        step = _step(turn, path)
        base, _, number = path.rpartition(UNDO)
        names = Names(turn, scope, is_undoing=True) if number else names_for(turn, base, is_undoing=True)
        if not number:
            turn.change(base, undo_began=True)
        arguments = _arguments(step, names)
        if arguments is not None:
            if turn.take_turn(step.call, path):
                turn.commands.append(CallTool(path, 1, 1, step.call, arguments))
            return
        if not step.ignore_error:
            turn.changes.undo_failed += (path,)
        turn.change_scope(scope, undone=turn.scope(scope).undone + 1)
    _scope_undone(turn, scope)


def undoing_call(turn: Turn, scope: str) -> str | None:
    """Return the call to undo a scope that is in flight or the next; None if all have settled."""
    undo = turn.changes.undo if scope in turn.changes.undo else turn.run.undo
    calls, undone = undo.get(scope, ()), turn.scope(scope).undone
    return calls[undone] if undone < len(calls) else None


def _scope_undone(turn: Turn, scope: str) -> None:
    state = turn.change_scope(scope, phase="ended")
    if state.compensator is not None:
        turn.change(state.compensator, status="done")
    if state.owner is not None:
        turn.change(scope, status="stopped")
        turn.schedule(OneStopped(state.owner))
    elif scope:
        assert state.failure is not None, "an undone workflow has a failure"
        turn.schedule(NodeFailed(scope, state.failure))
    else:
        ending.end(turn, "failed", failure=state.failure)


def _scope_waiting_for(turn: Turn, path: str) -> str | None:
    """Return the scope that waits for a call that undoes."""
    base = path.rpartition(UNDO)[0]
    for scope in (base, *around(base), ""):
        state = turn.begun_scope(scope)
        if state is not None and state.phase == "undoing" and undoing_call(turn, scope) == path:
            return scope
    return None


def _step(turn: Turn, path: str) -> CompensateCall:
    base, _, number = path.rpartition(UNDO)
    return [*undoing_calls(turn.plan.node(base).node).values()][int(number or 0)]


def _referenced_nodes(turn: Turn, scope: str, step: CompensateCall) -> list[str]:
    """Return the nodes that have succeeded and that a step refers to."""
    template = template_of(scope)
    paths: list[str] = []
    for _, text in templates(step.args):
        for reference in read_template(text).references:
            for one in turn.plan.names[template].get(reference.name, ()):
                paths += _nodes_meant(turn, instance(one, template, scope), reference)
    return [path for path in dict.fromkeys(paths) if turn.node(path).status == "done"]


def _nodes_meant(turn: Turn, path: str, reference: Reference) -> list[str]:
    """Return the nodes that a reference means: a branch of a parallel, an item of a foreach, or the node itself."""
    node, part = turn.plan.node(path).node, reference.path[0] if reference.path else None
    if isinstance(node, ParallelNode):
        return [f"{path}/{part}"] if part in node.branches else [path, *turn.children(path)]
    if isinstance(node, ForeachNode) and isinstance(part, int):
        counted = ("done", "failed") if node.on_item_error == "collect" else ("done",)
        items = [one for one in turn.children(path) if turn.node(one).status in counted]
        return items[part : part + 1]
    return [path]
