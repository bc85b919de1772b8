"""The graph of a recipe: nodes, their edges, and their arguments in the form of a file. Pure.

A node waits for another

- whose result it uses;
- of an earlier round, if one of the two is a write: writes keep their order, and reads see the same writes;
- whose tool its contract depends on, or that is of the same `sequential-only` tool,

and for no other; edges that follow from others are left out. Calls of one round stay concurrent.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from antiphon_shared.text.control import harmless
from antiphon_shared.workflows.params import as_json

from antiphon.recipes.chain import Chain, SuccessfulCall
from antiphon.recipes.params import RecipeParam, as_name, free_name
from antiphon.recipes.sources import Bound, FromParam, FromResult, Literal, reference_to, sources
from antiphon.recipes.values import with_names

_QUESTION_MAX = 500


def node_names(calls: Sequence[SuccessfulCall]) -> list[str]:
    """Return the name of each call's node."""
    names: list[str] = []
    for call in calls:
        names.append(free_name(as_name(call.tool), names))
    return names


def workflow_fields(
    chains: Sequence[Chain],
    bound: Sequence[Mapping[str, Bound]],
    nodes: Sequence[str],
    params: Mapping[str, RecipeParam],
) -> dict[str, Any]:
    """Return a workflow in the form of a file; `bound` and `nodes` have an entry for each call."""
    calls, names = chains[0].calls, {one.key: name for name, one in params.items()}
    graph: dict[str, Any] = {}
    for n, needed in enumerate(_edges(chains, bound)):
        graph[nodes[n]] = {"call": calls[n].tool}
        if needed:
            graph[nodes[n]]["depends_on"] = [nodes[one] for one in needed]
        if bound[n]:
            graph[nodes[n]]["args"] = _written(bound[n], nodes, names)
    used = {index for arguments in bound for index in used_by(arguments)}
    results = [nodes[n] for n, call in enumerate(calls) if n not in used or call.is_cited]
    texts = {one.values[0]: name for name, one in params.items() if isinstance(one.values[0], str)}
    question = with_names(" ".join(harmless(chains[0].question).split())[:_QUESTION_MAX], texts)
    return {
        "description": question or "Learned from a session.",
        "params": as_json({name: one.param for name, one in params.items()}),
        "graph": graph,
        "output": {node: f"${node}" for node in results},
    }


def _edges(chains: Sequence[Chain], bound: Sequence[Mapping[str, Bound]]) -> Iterator[list[int]]:
    """Yield the calls that each call waits for, without indirect ones."""
    before: list[set[int]] = []
    for n, arguments in enumerate(bound):
        needed = used_by(arguments) | {
            m for m in range(n) if any(_keeps_order(chain.calls[m], chain.calls[n]) for chain in chains)
        }
        direct: list[int] = []
        behind = set[int]()
        for m in sorted(needed, reverse=True):
            if m not in behind:
                direct.append(m)
                behind |= {m, *before[m]}
        before.append(behind)
        yield sorted(direct)


def _keeps_order(earlier: SuccessfulCall, later: SuccessfulCall) -> bool:
    contract = later.definition.contract
    if earlier.round < later.round:
        is_ordered = earlier.is_write or later.is_write
    else:
        is_ordered = earlier.tool == later.tool and contract.mode == "sequential-only"
    return is_ordered or any(needed.tool == earlier.tool for needed in contract.depends_on)


def _written(bound: Any, nodes: Sequence[str], names: Mapping[str, str]) -> Any:
    """Return an argument in the form of a file."""
    match bound:
        case FromResult(call=call):
            return str(reference_to(bound, nodes[call]))
        case FromParam(key=key):
            return f"${names[key]}"
        case Literal(value=value):
            return _escaped(value)
        case dict():
            return {key: _written(one, nodes, names) for key, one in bound.items()}
    return [_written(one, nodes, names) for one in bound]


def _escaped(value: object) -> Any:
    if isinstance(value, str):
        return value.replace("$", "$$")
    if isinstance(value, dict):
        return {key: _escaped(one) for key, one in value.items()}
    return [_escaped(one) for one in value] if isinstance(value, list) else value


def used_by(arguments: Mapping[str, Bound]) -> set[int]:
    """Return the calls whose results some arguments are taken from."""
    return {source.call for source in sources([*arguments.values()]) if isinstance(source, FromResult)}
