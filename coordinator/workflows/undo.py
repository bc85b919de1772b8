"""What a workflow has done is undone, in reverse order of completion, one call after the other. Pure.

The steps of the compensate node that was activated come first, in their author's order; they stand in for the own
`compensate` of every node that they refer to. A call that undoes has the path of its node and `~undo`, of a step
`~undo` and its number.
"""

from antiphon_shared.workflows.nodes import CallNode, CompensateCall, CompensateNode, WorkflowNode
from antiphon_shared.workflows.references import (
    NotText,
    Reference,
    ReferenceMissing,
    read_template,
    resolve,
    templates,
)

from coordinator.workflows import ending
from coordinator.workflows.messages import CallTool, Failed, Succeeded
from coordinator.workflows.names import Names, names_for
from coordinator.workflows.plan import UNDO, instance, template_of
from coordinator.workflows.turn import NodeFailed, OneStopped, Turn


def begin_undo(turn: Turn, scope: str) -> None:
    """Begin to undo a workflow in which no call is in flight any more."""
    compensator = turn.scope(scope).compensator
    steps: list[str] = []
    replaced: set[str] = set()
    if compensator is not None:
        node = turn.plan.node(compensator).node
        assert isinstance(node, CompensateNode)
        steps = [f"{compensator}{UNDO}{place}" for place in range(len(node.steps))]
        replaced = {path for step in node.steps for path in _referred(turn, scope, step)}
    prefix = f"{scope}/" if scope else ""
    own = [
        (state.order, path)
        for path, state in turn.states().items()
        if state.status == "done"
        and path.startswith(prefix)
        and path not in replaced
        and not state.is_undone
        and getattr(turn.plan.node(path).node, "compensate", None) is not None
    ]
    undo = (*steps, *(f"{path}{UNDO}" for _, path in sorted(own, reverse=True)))
    turn.change_scope(scope, phase="undoing", undo=undo)
    _next(turn, scope)


def undo_settled(turn: Turn, settled: Succeeded | Failed) -> None:
    """Note how a call that undoes has ended, and make the next."""
    scope = _undoing(turn, settled.path)
    if scope is None:
        return
    step = _step(turn, settled.path)
    if isinstance(settled, Succeeded):
        for path in _undone_by(turn, scope, settled.path, step):
            turn.change(path, is_undone=True)
    elif not step.ignore_error:
        turn.undo_failed = (*turn.undo_failed, settled.path)
    turn.change_scope(scope, undo=turn.scope(scope).undo[1:])
    _next(turn, scope)


def _next(turn: Turn, scope: str) -> None:
    """Make the next call that undoes; where none is left, the workflow has ended."""
    while undo := turn.scope(scope).undo:
        path, step = undo[0], _step(turn, undo[0])
        base, _, number = path.rpartition(UNDO)
        names = Names(turn, scope) if number else names_for(turn, base, is_undoing=True)
        try:
            turn.commands.append(CallTool(path, 1, 1, step.call, resolve(step.args, names)))
            return
        except (ReferenceMissing, NotText):
            if not number and not step.ignore_error:  # a step of what was never produced has nothing to undo
                turn.undo_failed = (*turn.undo_failed, path)
        turn.change_scope(scope, undo=undo[1:])
    _scope_undone(turn, scope)


def _scope_undone(turn: Turn, scope: str) -> None:
    state = turn.change_scope(scope, phase="ended")
    if state.owner is not None:
        turn.change(scope, status="stopped")
        turn.then(OneStopped(state.owner))
    elif scope:
        assert state.failure is not None, "it was undone for a reason"
        turn.then(NodeFailed(scope, state.failure))
    else:
        ending.end(turn, "failed", failure=state.failure)


def _undoing(turn: Turn, path: str) -> str | None:
    """Return the workflow that waits for a call that undoes."""
    base = path.rpartition(UNDO)[0]
    parts = base.split("/")
    for depth in range(len(parts), -1, -1):
        scope = "/".join(parts[:depth])
        found = turn.scopes.get(scope) or turn.run.scopes.get(scope)
        if found is not None and found.phase == "undoing" and found.undo[:1] == (path,):
            return scope
    return None


def _step(turn: Turn, path: str) -> CompensateCall:
    base, _, number = path.rpartition(UNDO)
    node = turn.plan.node(base).node
    if number:
        assert isinstance(node, CompensateNode)
        return node.steps[int(number)]
    assert isinstance(node, CallNode | WorkflowNode)
    assert node.compensate is not None, "only nodes that say how are undone"
    return node.compensate


def _undone_by(turn: Turn, scope: str, path: str, step: CompensateCall) -> list[str]:
    base, _, number = path.rpartition(UNDO)
    return _referred(turn, scope, step) if number else [base]


def _referred(turn: Turn, scope: str, step: CompensateCall) -> list[str]:
    """Return the nodes that have succeeded and that a step refers to; of a parallel, the branch."""
    template = template_of(scope)
    found = []
    for _, text in templates(step.args):
        for reference in read_template(text).references:
            for one in turn.plan.names[template].get(reference.name, ()):
                path = _branch(turn, instance(one, template, scope), reference)
                if turn.node(path).status == "done":
                    found.append(path)
    return found


def _branch(turn: Turn, path: str, reference: Reference) -> str:
    inner = f"{path}/{reference.path[0]}" if reference.path else path
    return inner if template_of(inner) in turn.plan.graph.nodes and inner != path else path
