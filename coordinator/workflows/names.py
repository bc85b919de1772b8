"""The names that references in a node may use: params, results of nodes, outputs, the item of a foreach. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

from antiphon_shared.workflows.nodes import STEP, ForeachNode, ParallelNode

from coordinator.workflows.plan import instance, last_part, parent_of, scope_of, template_of
from coordinator.workflows.turn import Turn

PARAMS, ITEMS = "?params", "?items"
"""Suffixes of the keys under which the params of a scope and the items of a foreach are kept."""


class Names(Mapping[str, Any]):
    """The values that a node's references may read, by name; a value is read on access.

    Args:
        turn: The decision in progress.
        scope: The path of the scope to which the names belong.
        path: The node, which may be the step of a foreach, whose item then has a name.
        is_undoing: Whether nodes are being undone. Then the name of the step's foreach refers to the item's own result,
            and the name of a failed parallel to the results of its successful branches.
    """

    def __init__(self, turn: Turn, scope: str, path: str = "", is_undoing: bool = False) -> None:
        self._turn, self._scope = turn, scope
        self._item = _item_of(turn, path) if path else None
        self._template, self._is_undoing = template_of(scope), is_undoing
        self._own = (last_part(parent_of(path)), path) if is_undoing and self._item is not None else None

    def __getitem__(self, name: str) -> Any:
        if self._item is not None and name == self._item[0]:
            key, index = self._item[1:]
            return self._turn.value(key)[index]
        if self._own is not None and name == self._own[0]:
            return self._turn.value(self._own[1])
        params = self._turn.value(self._scope + PARAMS)
        if name in params:
            return params[name]
        if (path := self._provider(name)) is None:
            raise KeyError(name)
        return self._turn.value(path)

    def _provider(self, name: str) -> str | None:
        """Return the node whose result a name refers to."""
        for template in self._turn.plan.names[self._template].get(name, ()):
            path = instance(template, self._template, self._scope)
            if self._turn.node(path).status == "done" or self._has_branches(path):
                return path
        return None

    def _has_branches(self, path: str) -> bool:
        """Return whether nodes are undone, and a node is a parallel with successful branches."""
        if not self._is_undoing or not isinstance(self._turn.plan.node(path).node, ParallelNode):
            return False
        return any(self._turn.node(one).status == "done" for one in self._turn.part_paths(path))

    def __iter__(self) -> Iterator[str]:
        if self._item is not None:
            yield self._item[0]
        if self._own is not None:
            yield self._own[0]
        yield from self._turn.value(self._scope + PARAMS)
        for name in self._turn.plan.names[self._template]:
            if self._provider(name) is not None:
                yield name

    def __len__(self) -> int:
        return sum(1 for _ in self)


def names_for(turn: Turn, path: str, is_undoing: bool = False) -> Names:
    """Return the names that a node's own references may use."""
    return Names(turn, scope_of(path, turn.plan.node(path)), path, is_undoing)


def _item_of(turn: Turn, path: str) -> tuple[str, str, int] | None:
    """Return the item's name, the key of its list and its index, for the step of a foreach."""
    if not template_of(path).endswith(f"/{STEP}"):
        return None
    foreach = parent_of(path)
    node = turn.plan.node(foreach).node
    assert isinstance(node, ForeachNode), "only the step of a foreach has a number"
    return node.as_, foreach + ITEMS, int(last_part(path))
