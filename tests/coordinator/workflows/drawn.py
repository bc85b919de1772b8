"""Random graphs that pass validation: edges lead forward, targets are not dependencies of earlier nodes."""

from typing import Any

from hypothesis import strategies as st

from tests.coordinator.workflows.world import call

FAILURES = ("not_found", "timeout", "outcome_unknown")
TOOLS = ("look", "book", "pay", "slow")
UNDOES = ({"call": "drop", "args": {}}, {"call": "slow", "args": {}, "ignore_error": True})
WORKFLOWS: dict[str, Any] = {
    "inner": {
        "description": "Inner.",
        "graph": {"x": call("book", compensate=UNDOES[0]), "y": call("look", "x"), "z": call("pay")},
    },
    "guarded": {
        "description": "Undone by a node of its own.",
        "graph": {
            "x": call("book", compensate=UNDOES[0]),
            "y": call("slow", "x", compensate=UNDOES[1], on_error={"retry": 1, "fallback": "b"}),
            "b": {
                "type": "compensate",
                "steps": [
                    {"call": "drop", "args": {"id": "$x.of"}},
                    {"call": "slow", "args": {"id": "$z.of"}},
                ],
            },
            "z": call("pay", compensate=UNDOES[1]),
        },
    },
    "outer": {
        "description": "Two deep.",
        "graph": {
            "x": call("pay", compensate=UNDOES[1]),
            "s": {"workflow": "guarded", "on_error": {"fallback": "f"}, "timeout_s": 5},
            "f": {"workflow": "inner"},
            "p": {
                "type": "parallel",
                "depends_on": ["x"],
                "on_partial_failure": "continue",
                "branches": {"x": {"workflow": "inner"}, "y": {"workflow": "guarded"}},
            },
        },
    },
}


@st.composite
def graphs(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a graph."""
    size = draw(st.integers(1, 8))
    graph: dict[str, Any] = {}
    ends: dict[str, dict[str, Any]] = {}
    for number in range(size):
        earlier = [f"n{place}" for place in range(number)]
        after = draw(st.lists(st.sampled_from(earlier), unique=True, max_size=3)) if earlier else []
        node = draw(nodes(number))
        node["depends_on"] = after
        choice = draw(st.integers(0, 5))
        if choice == 0 and number + 1 < size:
            targets = st.integers(number + 1, size - 1).map(lambda one: f"n{one}")
            if draw(st.booleans()):
                node = {"type": "branch", "depends_on": after, "on": [{"default": draw(targets)}]}
                if draw(st.booleans()):
                    when = draw(st.sampled_from(["true", "false"]))
                    node["on"].insert(0, {"when": when, "goto": draw(targets)})
            else:
                node["on_error"] = {**node.get("on_error", {}), "fallback": draw(targets)}
        elif choice == 1:
            end = draw(st.sampled_from(["back", "stop"]))
            ends[end] = draw(compensations(size)) if end == "back" else {"type": "error", "message": "No."}
            if node.get("type") == "parallel" and end == "back" and draw(st.booleans()):
                node["on_partial_failure"] = end
            else:
                node["on_error"] = {**node.get("on_error", {}), "fallback": end}
        graph[f"n{number}"] = node
    return {**graph, **ends}


@st.composite
def compensations(draw: st.DrawFn, size: int) -> dict[str, Any]:
    """Draw a compensate node whose steps refer to nodes, branches and items, also to those that may not succeed."""
    references = st.tuples(
        st.integers(0, size - 1), st.sampled_from(["", ".of", ".x", ".0", ".y.of", "?.x"])
    ).map(lambda one: f"$n{one[0]}{one[1]}")
    steps = st.builds(
        lambda tool, refers, ignored: {"call": tool, "args": {"ids": refers}, "ignore_error": ignored},
        st.sampled_from(["drop", "slow"]),
        st.lists(references, max_size=2),
        st.booleans(),
    )
    return {"type": "compensate", "steps": draw(st.lists(steps, min_size=1, max_size=3))}


@st.composite
def nodes(draw: st.DrawFn, number: int) -> dict[str, Any]:
    """Draw a node without its edges."""
    kind = draw(st.integers(0, 9))
    timeout = {"timeout_s": 5} if draw(st.integers(0, 3)) == 0 else {}
    if kind == 0:
        partial = draw(st.sampled_from(["abort", "continue", "rollback_all"]))
        branches = {name: parts(draw) for name in ("x", "y", "z")[: draw(st.integers(1, 3))]}
        return {"type": "parallel", "on_partial_failure": partial, "branches": branches, **timeout}
    if kind in (1, 2):
        return {
            "type": "foreach",
            "items": f"range(0, {draw(st.integers(0, 3))})",
            "as": f"item{number}",
            "concurrency": draw(st.integers(1, 3)),
            "on_item_error": draw(st.sampled_from(["fail", "skip", "collect"])),
            "step": parts(draw),
            **timeout,
        }
    if kind == 3:
        return {"type": "wait", "seconds": 1, **timeout}
    if kind == 4:
        return {**workflows(draw), **timeout}
    if kind == 5:
        person = {"type": "yield", "message": "Sure?", "expects": {"yes": "bool"}}
        return draw(st.sampled_from([person, {"type": "reason", "question": "Which?"}]))
    made = calls(draw)
    if draw(st.integers(0, 5)) == 0:
        made["when"] = draw(st.sampled_from(["true", "false"]))
    return made


def parts(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a branch or the step of a foreach."""
    kind = draw(st.integers(0, 8))
    made = (
        workflows(draw)
        if kind < 4
        else {"type": "reason", "question": "Which?"}
        if kind == 4
        else calls(draw)
    )
    if draw(st.integers(0, 7)) == 0:
        made["when"] = draw(st.sampled_from(["true", "false"]))
    return made


def workflows(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a sub-workflow."""
    made: dict[str, Any] = {"workflow": draw(st.sampled_from(sorted(WORKFLOWS)))}
    if draw(st.integers(0, 3)) == 0:
        made["compensate"] = UNDOES[0]
    return made


def calls(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a call."""
    made = call(draw(st.sampled_from(TOOLS)))
    if draw(st.booleans()):
        made["compensate"] = draw(st.sampled_from(UNDOES))
    if draw(st.integers(0, 3)) == 0:
        made["on_error"] = {"retry": draw(st.integers(1, 2))}
    return made
