"""The differences between the recorded acts of a decision and the rehearsed ones, by node. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from antiphon_shared.text.excerpt import list_names
from antiphon_shared.values import JsonObject
from antiphon_shared.workflows.graph import Graph
from antiphon_shared.workflows.nodes import BranchNode

from antiphon.replay.by_specification.acts import Act, Acts
from antiphon.replay.by_specification.result import Kind
from antiphon.replay.differences import differences, first_field
from coordinator.workflows.plan import join, parent_of, template_of

_FIELDS_LISTED_MAX = 4
_ONE_SIDE = "one of the two sides has the act"
_Sides = tuple[dict[str, Any] | None, dict[str, Any] | None]
"""The recorded act and the rehearsed one."""


@dataclass(frozen=True, slots=True)
class NodeDifference:
    """A difference at one node."""

    weight: int
    """The order of importance; the difference with the lowest weight is reported."""
    kind: Kind
    node: str
    sentence: str
    did: Any
    would: Any


@dataclass(frozen=True, slots=True)
class Graphs:
    """The recorded workflow, if it was recorded, and the new one."""

    then: Graph | None
    now: Graph


@dataclass(frozen=True, slots=True)
class Moved:
    """Nodes that were called before or are called later, by which a call that only moves is recognised."""

    before: frozenset[str] = frozenset()
    recorded: frozenset[str] = frozenset()
    """Nodes that later decisions of the recorded run call."""
    rehearsed: frozenset[str] = frozenset()
    """Nodes that the other specification calls from this decision on."""


def differing(then: Acts, now: Acts, graphs: Graphs, moved: Moved) -> list[NodeDifference]:
    """Return the differences of a decision, the most significant first, or an empty list."""
    acts = [
        act for act in dict.fromkeys((*then, *now)) if not _is_skip_of_missing_node(act, then, now, graphs)
    ]
    result = [one for act in acts for one in _node_difference(act, (then.get(act), now.get(act)), moved)]
    result = [*_branches(acts, then, now, graphs), *(_explained(one, now) for one in result)]
    return sorted(result, key=lambda one: one.weight)


def _explained(difference: NodeDifference, now: Acts) -> NodeDifference:
    """Add the new status of a node whose call would not be made, or the end of a run before it begins."""
    settled = now.get((difference.node, "settled"))
    if difference.kind == "not_begun" and settled is not None:
        node, tool = template_of(difference.node), difference.did["tool"]
        sentence = f"`{node}` would be {settled['status']} instead of calling `{tool}`"
        return replace(difference, sentence=sentence, would=settled, weight=1)
    if difference.kind == "end" and difference.did is None and ("", "opens") in now:
        return replace(
            difference,
            sentence=f"the run would end as {difference.would['status']} before it starts",
            weight=0,
        )
    return difference


def _is_skip_of_missing_node(act: Act, then: Acts, now: Acts, graphs: Graphs) -> bool:
    """Return whether the act only skips a node that the other workflow does not have."""
    node, kind = act
    if kind != "settled" or (act in then and act in now):
        return False
    fields, other = (then[act], graphs.now) if act in then else (now[act], graphs.then)
    is_there = other is not None and template_of(node) in other.nodes
    return fields["status"] == "skipped" and not is_there


def _node_difference(act: Act, sides: _Sides, moved: Moved) -> Iterator[NodeDifference]:
    node, kind = act
    did, would = sides
    if did == would:
        return
    match kind:
        case "opens":
            problem = (would or {}).get("problem")
            sentence = f"the run could not start: {problem}" if problem else "the run could start"
            yield NodeDifference(0, "cannot_begin", "", sentence, did, would)
        case "calls":
            yield _called(node, sides, moved)
        case "ends":
            yield _ended(sides)
        case "approval":
            sentence = _one_sided(node, sides, "wait for a person's approval")
            yield NodeDifference(3, "approval", node, sentence, did, would)
        case "asks":
            sentence = _one_sided(node, sides, "ask a person", "ask a person differently")
            yield NodeDifference(3, "question", node, sentence, did, would)
        case "refuses":
            yield NodeDifference(
                3, "question", node, f"`{node}` would judge a person's values differently", did, would
            )
        case "waits" if did is None and node in moved.before:
            yield NodeDifference(3, "begins", node, f"`{template_of(node)}` would be retried", did, would)
        case "waits":
            yield NodeDifference(
                4, "wait", node, _one_sided(node, sides, "wait", "wait for another time"), did, would
            )
        case "settled":
            yield _settled(node, sides)


def _called(node: str, sides: _Sides, moved: Moved) -> NodeDifference:
    shown, calls = template_of(node), tuple(map(_call_without_key, sides))
    match sides:
        case None, dict() as would:
            if node in moved.before:
                return NodeDifference(3, "begins", node, f"`{shown}` would be retried", *calls)
            if node in moved.recorded:
                return NodeDifference(5, "begins_earlier", node, f"`{shown}` would start earlier", *calls)
            return NodeDifference(3, "begins", node, f"`{shown}` would call `{would['tool']}`", *calls)
        case dict() as did, None:
            if node in moved.rehearsed:
                return NodeDifference(
                    5, "begins_later", node, f"`{shown}` would start at another time", *calls
                )
            return NodeDifference(4, "not_begun", node, f"`{shown}` would not call `{did['tool']}`", *calls)
        case dict() as did, dict() as would:
            return _call_difference(node, did, would)
        case _:
            raise AssertionError(_ONE_SIDE)


def _call_difference(node: str, did: JsonObject, would: JsonObject) -> NodeDifference:
    shown = template_of(node)
    if did["tool"] != would["tool"]:
        sentence = f"`{shown}` would call `{would['tool']}` instead of `{did['tool']}`"
        return NodeDifference(1, "tool", node, sentence, _call_without_key(did), _call_without_key(would))
    if did["arguments"] == would["arguments"]:
        sentence = f"`{shown}` would be called under another idempotency key"
        return NodeDifference(2, "arguments", node, sentence, did, would)
    fields = _fields(did["arguments"], would["arguments"]) or "`arguments`"
    sentence = f"`{shown}` would be called with another {fields}"
    return NodeDifference(1, "arguments", node, sentence, did["arguments"], would["arguments"])


def _call_without_key(side: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return a call without its idempotency key, which contains the run's id."""
    return side and {name: side[name] for name in ("tool", "arguments")}


def _settled(node: str, sides: _Sides) -> NodeDifference:
    did, would = sides
    shown = template_of(node)
    before, after = (None if one is None else one["status"] for one in sides)
    if after is None:
        sentence = f"`{shown}` would not be {before} there"
    elif before is None or before == after:
        reason = f": {would['message']}" if would and would["message"] else ""
        sentence = f"`{shown}` would be {after}{reason}"
    else:
        sentence = f"`{shown}` would be {after} instead of {before}"
    return NodeDifference(6, "settles", node, sentence, did, would)


def _ended(sides: _Sides) -> NodeDifference:
    match sides:
        case None, dict() as would:
            return NodeDifference(7, "end", "", f"the run would end as {would['status']} there", None, would)
        case dict() as did, None:
            return NodeDifference(7, "end", "", f"the run would not end as {did['status']} there", did, None)
        case dict() as did, dict() as would:
            return _end_difference(did, would)
        case _:
            raise AssertionError(_ONE_SIDE)


def _end_difference(did: JsonObject, would: JsonObject) -> NodeDifference:
    if did["status"] != would["status"]:
        sentence = f"the run would end as {would['status']} instead of {did['status']}"
        return NodeDifference(2, "end", "", sentence, did, would)
    if did["output"] != would["output"]:
        fields = _fields(did["output"], would["output"])
        sentence = f"the run would return another output{f': {fields}' if fields else ''}"
        return NodeDifference(7, "output", "", sentence, did["output"], would["output"])
    sentence = f"the run would end as {did['status']} with another list of writes or reason"
    return NodeDifference(8, "end", "", sentence, did, would)


def _fields(did: object, would: object) -> str:
    """Return the names of the fields that differ; empty if the whole values differ."""
    names = dict.fromkeys(first_field(difference.path) for difference in differences(did, would))
    return list_names((f"`{name}`" for name in names if name), _FIELDS_LISTED_MAX)


def _one_sided(node: str, sides: _Sides, does: str, otherwise: str = "") -> str:
    did, would = sides
    shown = template_of(node)
    if did is None:
        return f"`{shown}` would {does}"
    if would is None:
        return f"`{shown}` would not {does}"
    return f"`{shown}` would {otherwise or does + ' otherwise'}"


def _branches(acts: list[Act], then: Acts, now: Acts, graphs: Graphs) -> Iterator[NodeDifference]:
    """Yield the branches that take another arm; they explain the differences that follow."""
    if graphs.then is None:
        return
    for node, kind in acts:
        done = [side.get((node, "settled"), {}).get("status") for side in (then, now)]
        if kind != "settled" or done != ["done", "done"]:
            continue
        arms = [_chosen_arm(node, graph, side) for graph, side in ((graphs.then, then), (graphs.now, now))]
        if None not in arms and arms[0] != arms[1]:
            did, would = arms
            sentence = f"`{template_of(node)}` would go to `{would}` instead of `{did}`"
            yield NodeDifference(-1, "branch", node, sentence, did, would)


def _chosen_arm(node: str, graph: Graph, acts: Acts) -> str | None:
    """Return the arm that a branch has taken, the only one not skipped; None if that is uncertain."""
    compiled = graph.nodes.get(template_of(node))
    if compiled is None or not isinstance(compiled.node, BranchNode):
        return None
    arms = [path.rpartition("/")[2] for path in compiled.activates]
    settled = {arm: acts.get((join(parent_of(node), arm), "settled"), {}) for arm in arms}
    taken = [arm for arm in arms if settled[arm].get("status") != "skipped"]
    return taken[0] if len(taken) == 1 else None
