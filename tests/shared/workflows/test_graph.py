"""Specifications and their graphs."""

from typing import Any

import pytest
from antiphon_shared.workflows.graph import TooLarge, compile_graph
from antiphon_shared.workflows.specification import Specification, canonical, specification_hash
from pydantic import ValidationError
from pydantic_core import to_json

CALL: dict[str, Any] = {"call": "look"}


def a_specification(**workflows: dict[str, Any]) -> Specification:
    made = {name: {"description": name, "graph": graph} for name, graph in workflows.items()}
    fields = {"domain": "d", "version": "1", "workflows": made}
    return Specification.model_validate_json(to_json(fields), strict=True)


INNER: dict[str, Any] = {
    "x": CALL,
    "y": {**CALL, "depends_on": ["x"], "on_error": {"fallback": "z"}},
    "z": {"type": "error", "message": "m"},
}
OUTER: dict[str, Any] = {
    "a": {"type": "parallel", "branches": {"one": CALL, "two": {"workflow": "inner"}}},
    "b": {"type": "branch", "depends_on": ["a"], "on": [{"when": "true", "goto": "c"}, {"default": "d"}]},
    "c": {"workflow": "inner"},
    "d": {"type": "foreach", "items": "range(0, 2)", "as": "i", "step": {"workflow": "inner"}},
}


def test_sub_workflows_are_inlined_under_the_path_of_their_node() -> None:
    graph = compile_graph(a_specification(outer=OUTER, inner=INNER), "outer")
    assert [*graph.nodes] == [
        *("a", "a/one", "a/two", "b", "c", "d", "d/*"),
        *(f"{path}/{id}" for path in ("a/two", "c", "d/*") for id in "xyz"),
    ]
    assert (graph.nodes["a/one"].container, graph.nodes["a"].downstream) == ("a", ("b",))
    assert (graph.nodes["b"].upstream, graph.nodes["b"].activates) == (("a",), ("c", "d"))
    assert graph.nodes["c"].activated_by == ("b",)
    assert graph.nodes["c/y"].upstream == ("c/x",)
    assert graph.nodes["d/*/z"].activated_by == ("d/*/y",)
    assert {path: scope.roots for path, scope in graph.scopes.items()} == {
        "": ("a",),
        "a/two": ("a/two/x",),
        "c": ("c/x",),
        "d/*": ("d/*/x",),
    }
    assert graph.scopes[""].last == ("c", "d")
    assert graph.scopes["c"].last == ("c/y",)


def test_edges_are_the_same_from_both_ends() -> None:
    graph = compile_graph(a_specification(outer=OUTER, inner=INNER), "outer")
    for path, node in graph.nodes.items():
        assert all(path in graph.nodes[one].downstream for one in node.upstream)
        assert all(path in graph.nodes[one].activated_by for one in node.activates)
        assert node.container is None or node.container in graph.nodes


def test_a_workflow_that_contains_itself_or_too_much_does_not_compile() -> None:
    with pytest.raises(TooLarge, match="a contains itself: a -> b -> a"):
        compile_graph(a_specification(a={"n": {"workflow": "b"}}, b={"n": {"workflow": "a"}}), "a")
    chain = {f"w{n}": {"n": {"workflow": f"w{n + 1}"}} for n in range(8)}
    with pytest.raises(TooLarge, match="more than 8 workflows deep"):
        compile_graph(a_specification(**chain, w8={"n": CALL}), "w0")
    doubled = {f"w{n}": {f"n{m}": {"workflow": f"w{n + 1}"} for m in range(10)} for n in range(5)}
    with pytest.raises(TooLarge, match="more than 10,000 nodes"):
        compile_graph(a_specification(**doubled, w5={"n": CALL}), "w0")


def test_a_specification_is_read_again_from_its_canonical_form() -> None:
    made = a_specification(outer=OUTER, inner=INNER)
    assert Specification.model_validate_json(canonical(made), strict=True) == made


def test_order_defaults_and_shorthands_do_not_change_the_hash() -> None:
    made = a_specification(outer=OUTER, inner=INNER)
    turned = a_specification(inner=dict(reversed(INNER.items())), outer=dict(reversed(OUTER.items())))
    assert specification_hash(turned) == specification_hash(made)
    written = {**INNER, "x": {**CALL, "args": {}, "depends_on": [], "when": None}}
    assert specification_hash(a_specification(outer=OUTER, inner=written)) == specification_hash(made)
    arms = [{"when": True, "goto": "c"}, {"default": {"goto": "d"}}]
    longer = {**OUTER, "b": {**OUTER["b"], "on": arms}}
    assert specification_hash(a_specification(outer=longer, inner=INNER)) == specification_hash(made)
    other = {**OUTER, "b": {**OUTER["b"], "on": [*reversed(arms[:1]), {"default": None, "goto": "a"}]}}
    assert specification_hash(a_specification(outer=other, inner=INNER)) != specification_hash(made)


def test_a_specification_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        a_specification(a={"n": CALL}).version = "2"  # type: ignore[misc]  # it has to be refused
