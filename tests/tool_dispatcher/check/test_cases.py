"""The cases reach every location of a schema, with every kind of nonsense."""

from collections import Counter
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from tests.rows import each_row
from tool_dispatcher.authoring.tool import tool
from tool_dispatcher.check import hostile
from tool_dispatcher.check.cases import Case, cases
from tool_dispatcher.check.judge import Judge


class Line(BaseModel):
    sku: Annotated[str, Field(min_length=2, max_length=4)]
    count: Annotated[int, Field(ge=1, le=9)] = 1


@tool(effect="read")
def order(
    lines: Annotated[list[Line], Field(min_length=1, max_length=3)],
    speed: Literal["slow", "fast"] = "slow",
    share: Annotated[float, Field(gt=0, lt=1)] = 0.5,
    weight: Annotated[int, Field(multiple_of=4)] = 4,
    tags: set[str] | None = None,
) -> str:
    """Orders."""
    return ""


SCHEMA = order.parameters.schema
JUDGE = Judge(SCHEMA)
MADE = cases(SCHEMA, order.example, generated=[{"lines": [{"sku": "ab"}]}])


def labelled(ending: str) -> list[Case]:
    found = [case for case in MADE if case.label.endswith(ending)]
    assert found, ending
    return found


def test_every_kind_of_case_is_generated() -> None:
    kinds = Counter(case.kind for case in MADE)
    assert set(kinds) == {
        "empty",
        "example",
        "missing",
        "extra",
        "null",
        "wrong type",
        "boundary",
        "long",
        "injection",
        "characters",
        "nesting",
        "number",
        "not JSON",
        "drawn",
        "changed",
    }


def test_the_same_input_gives_the_same_cases() -> None:
    again = cases(SCHEMA, order.example, generated=[{"lines": [{"sku": "ab"}]}])
    assert [repr_of(case) for case in again] == [repr_of(case) for case in MADE]


@each_row(
    ("label", "word"),
    [
        ("lines[0].sku: the longest allowed", "valid"),
        ("lines[0].sku: a character too long", "invalid"),
        ("lines[0].sku: the shortest allowed", "valid"),
        ("lines[0].sku: a character too short", "invalid"),
        ("lines[0].count: the least allowed", "valid"),
        ("lines[0].count: the greatest allowed", "valid"),
        ("lines[0].count: just outside the bound", "invalid"),
        ("lines[0].count: just inside the bound", "valid"),
        ("share: the bound, not the least allowed", "invalid"),
        ("share: just inside the bound", "valid"),
        ("share: just outside the bound", "invalid"),
        ("weight: a multiple", "valid"),
        ("weight: between two multiples", "invalid"),
        ("lines: the most items allowed", "valid"),
        ("lines: an item too many", "invalid"),
        ("lines: an item too few", "invalid"),
        ("tags: an item twice", "invalid"),
        ("speed: one of those listed", "valid"),
        ("speed: one of those listed, in other letters", "invalid"),
        ("speed: one of those listed, and a space", "invalid"),
        ("lines[0]: without sku", "invalid"),
        ("lines[0]: an unknown field", "invalid"),
        ("the arguments: without lines", "invalid"),
        ("the arguments: a name almost like lines", "invalid"),
    ],
)
def test_a_bound_is_tried_from_both_sides(label: str, word: str) -> None:
    assert {JUDGE.of(case.arguments).word for case in labelled(label)} == {word}


def test_only_a_location_that_takes_text_gets_every_kind_of_text() -> None:
    injected = {case.label.partition(":")[0] for case in MADE if case.kind == "injection"}
    assert injected == {"lines[0].sku", "tags[0]"}


def test_everything_that_is_not_json_is_judged_invalid() -> None:
    assert {JUDGE.of(case.arguments).word for case in MADE if case.kind == "not JSON"} == {"invalid"}


def test_drawn_arguments_are_sent_as_they_are_and_changed() -> None:
    drawn = [{"lines": [{"sku": "ab", "count": n % 9 + 1}]} for n in range(40)]
    made = cases(SCHEMA, order.example, drawn)
    assert [case.arguments for case in made if case.kind == "drawn"] == drawn
    changed = [JUDGE.of(case.arguments).word for case in made if case.kind == "changed"]
    assert len(changed) == 40
    assert changed.count("invalid") > 20


def test_without_an_example_the_first_drawn_arguments_are_varied() -> None:
    made = cases(SCHEMA, None, [{"lines": [{"sku": "zz"}]}])
    assert not [case for case in made if case.kind == "example"]
    assert any(case.arguments == {"lines": [{}]} for case in made)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object"},
        {
            "type": "object",
            "properties": {"x": True, "y": False, "z": {"type": ["string", "null"], "enum": []}},
        },
        {"type": "object", "properties": {"x": {"$ref": "#/properties/x"}}},
        {"type": "object", "properties": {"x": {"const": 3}, "y": {"items": False, "minItems": 10**9}}},
        {"type": "object", "properties": {"x": {"minimum": float("-inf"), "maxLength": 10**12}}},
        {
            "type": "object",
            "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
            "properties": {"a": {}, "b": {}},
        },
    ],
)
def test_an_unusual_schema_still_gives_cases(schema: dict[str, Any]) -> None:
    assert len(cases(schema, {})) > 3


def test_no_hostile_input_contains_its_own_evidence() -> None:
    samples = [*hostile.samples_of_any_kind(), *hostile.texts(), *hostile.nestings()]
    sent = " ".join(sample.value for sample in samples if isinstance(sample.value, str))
    assert not [proof for proof in hostile.EVIDENCE if proof in sent]
    assert "1337*7919" in sent
    assert str(1337 * 7919) in hostile.EVIDENCE


def repr_of(case: Case) -> str:
    deep = case.kind == "nesting"
    return f"{case.kind} {case.label} {'' if deep else case.arguments!r}"
