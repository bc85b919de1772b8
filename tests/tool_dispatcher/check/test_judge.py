"""The judge knows the schema, and nothing of the tool."""

from typing import Any

import pytest

from tests.rows import each_row
from tool_dispatcher.authoring.argument_errors import not_json
from tool_dispatcher.authoring.tool import tool
from tool_dispatcher.check import hostile
from tool_dispatcher.check.judge import Judge
from tool_dispatcher.check.locations import depth_of


@tool(effect="read")
def look(words: str, limit: int = 3, share: float = 0.5, extra: dict[str, Any] | None = None) -> str:
    """Looks."""
    return ""


JUDGE = Judge(look.input_schema)


@pytest.mark.parametrize(
    "arguments",
    [
        {"words": ""},
        {"words": "a", "limit": 10**299},
        {"words": "a", "share": 1},
        {"words": "a", "extra": hostile.nested_object(hostile.DEEP)},
    ],
)
def test_arguments_that_the_schema_allows_are_valid(arguments: dict[str, Any]) -> None:
    assert JUDGE.of(arguments).word == "valid"


@each_row(
    ("arguments", "why"),
    [
        ({}, "the arguments"),
        ({"words": 3}, 'words: "type": "string" does not hold'),
        ({"words": "a", "limit": True}, 'limit: "type": "integer" does not hold'),
        ({"words": "a", "limits": 3}, "the arguments: a field that the schema does not have"),
        ({"words": "a", "share": float("nan")}, "nan is not valid JSON"),
        ({"words": "a", "extra": {"x": [float("inf")]}}, "inf is not valid JSON"),
        ({"words": "a\ud800"}, "a lone surrogate is not valid text"),
        ({"words": "a", "extra": {"\udfff": 1}}, "a lone surrogate is not valid text"),
    ],
)
def test_arguments_outside_the_schema_or_json_are_invalid(arguments: dict[str, Any], why: str) -> None:
    judgement = JUDGE.of(arguments)
    assert judgement.word == "invalid"
    assert why in judgement.why


def test_a_deeply_nested_value_may_be_accepted_or_refused() -> None:
    assert JUDGE.of({"words": "a", "extra": hostile.nested_object(hostile.TOO_DEEP)}).word == "either"


def test_arguments_too_deep_for_the_judge_are_undecided_or_invalid() -> None:
    assert JUDGE.of({"words": "a", "limit": hostile.nested_list(100_000)}).word in ("either", "invalid")


def test_the_contract_is_not_part_of_the_judged_schema() -> None:
    """A word of the contract that is also a word of JSON Schema must not bear on arguments."""
    schema = {**look.input_schema, "x-orchestration": {"required": ["never"]}}
    assert Judge(schema).of({"words": "a"}).word == "valid"
    assert "x-orchestration" not in Judge(schema).schema


def test_values_of_any_depth_and_size_are_checked_for_json() -> None:
    deep = hostile.nested_list(50_000)
    assert not_json(deep) == ""
    assert depth_of(deep) == 50_001
    assert depth_of({"a": [1]}) == 2
    assert depth_of(1) == 0
