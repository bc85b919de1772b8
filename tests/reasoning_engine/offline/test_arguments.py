"""The offline model's arguments for a tool, from a question and from results."""

from typing import Any

import pytest

from reasoning_engine.offline.arguments import Filling, broader, fill_arguments
from reasoning_engine.offline.question import Slots
from reasoning_engine.offline.schema import Tool
from reasoning_engine.offline.spans import Entity, Number
from tests.rows import each_row

TEXT, WHOLE, FLAG = {"type": "string"}, {"type": "integer"}, {"type": "boolean"}


def filled(properties: dict[str, Any], slots: Slots, *required: str, name: str = "find_boats") -> Filling:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return fill_arguments(Tool(name, "", schema), slots)


def an_entity(value: str, noun: str = "", preposition: str = "") -> Entity:
    return Entity(0, len(value), value, noun, preposition)


def a_number(value: float, noun: str = "", bound: str = "", is_name: bool = False) -> Number:
    return Number(0, 1, value, noun, is_name, bound)


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        ({"enum": ["open", "closed"]}, "Which are closed?", "closed"),
        ({"enum": ["open", "closed"]}, "Which are there?", None),
        ({"enum": ["by_price", "by_age"]}, "Sort by age", "by_age"),
        (FLAG, "with a flag", None),
    ],
)
def test_an_optional_choice_is_filled_only_if_the_question_names_it(
    schema: dict[str, Any], text: str, value: Any
) -> None:
    assert filled({"flag": schema}, Slots(text=text)).arguments.get("flag") == value


@pytest.mark.parametrize(("date", "given"), [("2024-02-29", "2024-02-29"), ("2024-13-45", None)])
def test_no_value_is_given_that_the_schema_refuses(date: str, given: str | None) -> None:
    day = {"type": "string", "format": "date"}
    assert filled({"day": day}, Slots(dates=(date,))).arguments.get("day") == given


def test_a_required_flag_is_false() -> None:
    filling = filled({"flag": FLAG}, Slots(), "flag")
    assert filling.arguments == {"flag": False}
    assert filling.is_complete


def test_a_required_choice_that_the_question_leaves_open_is_missing() -> None:
    filling = filled({"kind": {"enum": ["a1", "b1"]}}, Slots(), "kind")
    assert [one.name for one in filling.missing] == ["kind"]
    assert not filling.is_complete


def test_a_required_parameter_with_a_default_is_not_missing() -> None:
    assert filled({"crew": {**TEXT, "default": "any"}}, Slots(), "crew").is_complete


@each_row(
    ("parameter", "preposition", "is_filled"),
    [
        ("origin", "from", True),
        ("source", "from", True),
        ("destination", "to", True),
        ("city", "to", True),
        ("city", "in", True),
        ("region", "near", True),
        ("town", "at", True),
        ("country", "for", True),
        ("city", "from", False),
        ("origin", "to", False),
        ("origin", "in", False),
        ("city", "", False),
        ("colour", "in", False),
    ],
)
def test_a_name_goes_where_the_word_before_it_points(
    parameter: str, preposition: str, is_filled: bool
) -> None:
    filling = filled({parameter: TEXT}, Slots((an_entity("Holm", preposition=preposition),)))
    assert filling.arguments == ({parameter: "Holm"} if is_filled else {})


@pytest.mark.parametrize(
    ("parameter", "schema", "value", "expected"),
    [
        ("harbour_name", TEXT, "Holm", "Holm"),
        ("harbour", {"type": "array", "items": TEXT}, "Holm", ["Holm"]),
        ("harbour", WHOLE, "Holm", None),
        ("lamp", TEXT, "Holm", None),
        ("harbour_id", TEXT, "Old Holm", None),
        ("harbour_id", TEXT, "HLM", "HLM"),
    ],
)
def test_a_name_goes_to_the_parameter_of_its_noun(
    parameter: str, schema: dict[str, Any], value: str, expected: Any
) -> None:
    found = filled({parameter: schema}, Slots((an_entity(value, "harbour"),)))
    assert found.arguments.get(parameter) == expected


@pytest.mark.parametrize(
    ("parameter", "number", "value"),
    [
        ("max_price", a_number(7, bound="max"), 7),
        ("min_price", a_number(7, bound="max"), None),
        ("min_price", a_number(7, bound="min"), 7),
        ("seats", a_number(4, "seat"), 4),
        ("lamps", a_number(4, "seat"), None),
    ],
)
def test_a_number_goes_to_the_parameter_of_its_bound_or_noun(
    parameter: str, number: Number, value: int | None
) -> None:
    assert filled({parameter: WHOLE}, Slots(numbers=(number,))).arguments.get(parameter) == value


@each_row(
    ("schema", "value", "expected"),
    [
        ({"type": "integer", "minimum": 4}, 4, 4),
        ({"type": "integer", "minimum": 5}, 4, None),
        ({"type": "integer", "maximum": 4}, 4, 4),
        ({"type": "integer", "maximum": 3}, 4, None),
        ({"type": "string", "minLength": 2}, 4, None),
        ({"type": "string", "maxLength": 1}, 4, "4"),
        ({"type": "number"}, 4.5, 4.5),
        ({"type": "integer"}, 4.5, None),
        ({"type": ["integer", "string"]}, 4.5, "4.5"),
    ],
)
def test_a_value_is_taken_in_the_type_and_bounds_of_the_schema(
    schema: dict[str, Any], value: float, expected: Any
) -> None:
    assert (
        filled({"seats": schema}, Slots(numbers=(a_number(value, "seat"),))).arguments.get("seats")
        == expected
    )


def test_words_fill_a_required_query_or_a_single_optional_one() -> None:
    slots = Slots(query="old boats")
    assert filled({"query": TEXT}, slots, "query").filled_from("topic") == ["query"]
    assert filled({"query": TEXT}, slots).arguments == {"query": "old boats"}
    assert filled({"query": TEXT, "crew": {**TEXT, "default": ""}}, slots, "crew").filled_from("rest") == [
        "crew"
    ]


def test_a_date_and_a_limit_are_taken_from_the_question() -> None:
    slots = Slots(dates=("2021-05-04",), limit=3)
    filling = filled({"day": TEXT, "limit": WHOLE}, slots, "day")
    assert filling.arguments == {"day": "2021-05-04", "limit": 3}


def test_several_required_texts_take_the_words_searched_for_one_each() -> None:
    slots = Slots(query="brass nut")
    assert filled({"material": TEXT, "kind": TEXT}, slots, "material", "kind").arguments == {
        "material": "brass",
        "kind": "nut",
    }
    assert not filled({"material": TEXT, "kind": TEXT}, Slots(query="nut"), "material", "kind").arguments


def test_a_broader_search_omits_words_of_the_tools_own_subject() -> None:
    filling = Filling(
        {"query": "old boats of Holm", "limit": 3}, sources={"query": "topic", "limit": "named"}
    )
    found = [one["query"] for one in broader(filling, frozenset({"boat"}))]
    assert found == ["old boat Holm", "old Holm", "Holm", "old"]
    assert all(one["limit"] == 3 for one in broader(filling, frozenset()))


def test_words_searched_for_one_each_are_tried_in_another_order() -> None:
    filling = Filling({"a": "nuts", "b": "brass"}, sources={"a": "rest", "b": "rest"})
    assert broader(filling, frozenset()) == [{"a": "nut", "b": "brass"}, {"a": "brass", "b": "nut"}]
    assert broader(Filling({"a": "x"}, sources={"a": "named"}), frozenset()) == []
