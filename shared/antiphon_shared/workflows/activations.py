"""The edges by which a node activates another one, in place of `depends_on`. Pure."""

from dataclasses import dataclass
from typing import Literal

from antiphon_shared.workflows.nodes import BranchNode, Node, ParallelNode, on_error_of

Way = Literal["goto", "fallback", "partial"]


@dataclass(frozen=True, slots=True)
class Activation:
    """An edge by which a node activates another one, in place of `depends_on`."""

    how: Way
    target: str
    path: tuple[str | int, ...]
    """The path of the target's id in the node."""
    when: str | None = None
    """The condition of a goto; None for the default."""


def activations(node: Node) -> tuple[Activation, ...]:
    """Return the arms of a branch, the fallback of a node, and its node for partial failures."""
    found: list[Activation] = []
    if isinstance(node, BranchNode):
        found += [Activation("goto", arm.goto, ("on", n, "goto"), arm.when) for n, arm in enumerate(node.on)]
    if fallback := fallback_of(node):
        found.append(Activation("fallback", fallback, ("on_error", "fallback")))
    if isinstance(node, ParallelNode) and node.on_partial_failure not in ("abort", "continue"):
        found.append(Activation("partial", node.on_partial_failure, ("on_partial_failure",)))
    return tuple(found)


def targets(node: Node) -> tuple[str, ...]:
    """Return the ids of the nodes that a node may activate, each once."""
    return tuple(dict.fromkeys(one.target for one in activations(node)))


def fallback_of(node: Node) -> str | None:
    """Return the id of the node that replaces a failed one."""
    on_error = on_error_of(node)
    return on_error.fallback if on_error else None
