"""The values that a change replaces in a run, so that an uncommitted change can be reverted. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from itertools import islice
from operator import attrgetter
from typing import Any

from coordinator.runs.state import RunChange, RunState
from coordinator.workflows.state import Run

_ABSENT: Any = object()
_PLAIN = tuple(one.name for one in fields(RunState) if one.default is not MISSING)
_PLAIN_OF_GRAPH = tuple(one.name for one in fields(Run) if one.default is not MISSING)
"""Fields that are not dictionaries."""
_plain, _plain_of_graph = attrgetter(*_PLAIN), attrgetter(*_PLAIN_OF_GRAPH)


@dataclass(frozen=True, slots=True)
class ReplacedValues:
    """The values that a change has replaced."""

    entries: tuple[tuple[dict[Any, Any], dict[Any, Any]], ...]
    """Each dictionary of the run with its earlier entries."""
    queues: Mapping[str, tuple[tuple[str, ...], frozenset[str]] | None]
    """For each tool whose queue has changed: the earlier beginning, and the calls that joined; None without a queue."""
    plain: tuple[Any, ...]
    of_graph: tuple[Any, ...]


def replaced_by(state: RunState, change: RunChange) -> ReplacedValues:
    """Return the values that a change is about to replace, at a cost that grows with the change."""
    run = state.run
    before = [state.open[path] for path in change.open if path in state.open]
    numbers = {one.number for one in (*before, *change.open.values()) if one is not None}
    touched: tuple[tuple[dict[Any, Any], Iterable[Any]], ...] = (
        (run.nodes, change.nodes),
        (run.scopes, change.scopes),
        (run.undo, change.undo),
        (state.values, change.values),
        (state.logged, change.logged),
        (state.wholes, change.wholes),
        (state.open, change.open),
        (state.paths, numbers),
        (state.counts, tuple(state.counts) + tuple(one.kind for one in change.open.values() if one)),
        (state.succeeded, change.succeeded),
    )
    return ReplacedValues(
        entries=tuple(
            (mapping, {key: mapping.get(key, _ABSENT) for key in keys}) for mapping, keys in touched if keys
        ),
        queues={
            tool: _queue(run.queues[tool], moves) if tool in run.queues else None
            for tool, moves in change.queues.items()
        },
        plain=_plain(state),
        of_graph=_plain_of_graph(run),
    )


def revert(state: RunState, replaced: ReplacedValues) -> None:
    """Restore a run to its state before its newest change."""
    for mapping, entries in replaced.entries:
        for key, value in entries.items():
            if value is _ABSENT:
                mapping.pop(key, None)
            else:
                mapping[key] = value
    for tool, before in replaced.queues.items():
        now = state.run.queues.pop(tool)
        if before is not None:
            began_with, joined = before
            rest = (path for path in now if path not in joined)
            state.run.queues[tool] = dict.fromkeys((*began_with, *rest), True)
    for name, value in zip(_PLAIN, replaced.plain, strict=True):
        setattr(state, name, value)
    for name, value in zip(_PLAIN_OF_GRAPH, replaced.of_graph, strict=True):
        setattr(state.run, name, value)


def _queue(queue: Mapping[str, bool], moves: Mapping[str, bool]) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return the part of a queue that begins with the calls that leave it, and the calls that join it."""
    leaving = {path for path, joins in moves.items() if not joins and path in queue}
    began_with = tuple(islice(queue, len(leaving)))
    if leaving.difference(began_with):
        began_with = tuple(queue)
    return began_with, frozenset(path for path, joins in moves.items() if joins and path not in queue)
