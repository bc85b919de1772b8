"""A release writes exactly the fields that the earlier release reads, in sessions of its format."""

from typing import Literal

import orjson
import pytest
from antiphon_shared.events import QuerySubmitted
from antiphon_shared.events.session import QueryOptions
from antiphon_shared.formats import (
    FORMAT,
    CannotCarryOver,
    as_json,
    carried_over,
    in_format,
    needed_format,
    newer_fields,
    since,
    without_fields,
)
from antiphon_shared.values import Value
from pydantic import Field

BEFORE = FORMAT - 1


class Leaf(Value):
    kind: Literal["leaf"] = "leaf"
    name: str = ""
    colour: str = Field(default="green", json_schema_extra=since(FORMAT))


class Twig(Value):
    kind: Literal["twig"] = "twig"
    colour: str = "brown"
    leaves: tuple["Leaf | Twig", ...] = ()


class Tree(Value):
    root: Leaf | Twig = Leaf()
    branches: tuple[Leaf | Twig, ...] = ()
    named: dict[str, Leaf] = Field(default_factory=dict)
    height: int | None = Field(default=None, json_schema_extra=since(FORMAT))


OLD = Tree(branches=(Leaf(name="a"), Twig(colour="grey", leaves=(Twig(leaves=(Leaf(name="b"),)),))))
NEW = Tree(
    root=Leaf(colour="red"),
    branches=(Twig(leaves=(Leaf(name="b", colour="gold"),)),),
    named={"x": Leaf(colour="blue")},
    height=3,
)


def test_newer_fields_are_omitted_at_any_depth() -> None:
    written = orjson.loads(as_json(NEW, BEFORE))
    assert "colour" not in written["root"]
    assert written["branches"][0]["colour"] == "brown", "one of the same name that was always there"
    assert "colour" not in written["branches"][0]["leaves"][0]
    assert "colour" not in written["named"]["x"]
    assert "height" not in written


def test_the_current_format_omits_nothing() -> None:
    assert as_json(NEW, FORMAT) == NEW.model_dump_json().encode()
    assert newer_fields(NEW, FORMAT) == {}


def test_other_exclusions_apply_too() -> None:
    assert orjson.loads(as_json(NEW, BEFORE, exclude={"root", "named"})).keys() == {"branches"}


def test_a_value_in_an_earlier_format_equals_the_value_its_readers_see() -> None:
    before = in_format(NEW, BEFORE)
    assert before == Tree(branches=(Twig(leaves=(Leaf(name="b"),)),), named={"x": Leaf()})
    assert in_format(OLD, BEFORE) is OLD
    assert in_format(NEW, FORMAT) is NEW


@pytest.mark.parametrize(
    ("value", "needed"),
    [
        (OLD, (1, "")),
        (Tree(height=1), (FORMAT, "height")),
        (Tree(root=Leaf(colour="red")), (FORMAT, "root.colour")),
        (Tree(branches=(Twig(leaves=(Leaf(colour="red"),)),)), (FORMAT, "branches.leaves.colour")),
    ],
)
def test_the_required_format_of_a_value_is_found_from_its_fields(
    value: Tree, needed: tuple[int, str]
) -> None:
    assert needed_format(value) == needed


def test_a_bound_on_rounds_with_tools_is_an_option_that_an_earlier_worker_cannot_follow() -> None:
    """Therefore such a query is rejected while an earlier worker runs, and not answered without its bound."""
    query = QuerySubmitted(query="?", options=QueryOptions(max_tool_rounds=2))
    assert needed_format(query) == (2, "options.max_tool_rounds")
    assert needed_format(QuerySubmitted(query="?"))[0] == 1


def test_json_omits_the_newer_fields_of_its_value() -> None:
    tree = Tree(root=Leaf(name="a", colour="red"), height=3)
    assert without_fields(
        {"root": {"name": "a", "colour": "red"}, "height": 3}, newer_fields(tree, BEFORE)
    ) == {"root": {"name": "a"}}


def test_fields_of_an_earlier_version_are_upcast_step_by_step() -> None:
    upcasters = {1: lambda fields: {"b": fields["a"]}, 2: lambda fields: {"c": fields["b"] * 2}}
    assert carried_over({"a": 2}, upcasters, 1, 3) == {"c": 4}
    assert carried_over({"b": 2}, upcasters, 2, 3) == {"c": 4}
    assert carried_over({"c": 4}, upcasters, 3, 3) == {"c": 4}


@pytest.mark.parametrize(("fields", "written"), [({}, 1), ({"a": 1}, 0)])
def test_fields_that_cannot_be_upcast_are_refused(fields: dict[str, int], written: int) -> None:
    with pytest.raises(CannotCarryOver):
        carried_over(fields, {1: lambda fields: {"b": fields["a"]}}, written, 2)
