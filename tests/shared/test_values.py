"""Values: frozen, strict, and exact sums."""

import math
from typing import Any

import pytest
from antiphon_shared.values import LogEntry, SessionId, Usage
from pydantic import TypeAdapter, ValidationError

from tests.rows import each_row

FULL = Usage(input_tokens=10, output_tokens=3, cache_read_tokens=2, cache_write_tokens=1, cost_usd=0.25)


def test_a_value_never_changes() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        FULL.input_tokens = 11  # type: ignore[misc]  # what must not be possible


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"surplus": 1}, "surplus"),
        ({"input_tokens": -1}, "input_tokens"),
        ({"cost_usd": -0.1}, "cost_usd"),
        ({"cost_usd": math.nan}, "cost_usd"),
        ({"cost_usd": math.inf}, "cost_usd"),
    ],
)
def test_a_value_refuses_unknown_fields_and_impossible_values(fields: dict[str, Any], named: str) -> None:
    with pytest.raises(ValidationError, match=named):
        Usage.model_validate(fields)


@pytest.mark.parametrize("session_id", ["s", "7", "a.b_c:d-e", "s" * 128])
def test_a_session_id_of_plain_characters_is_taken(session_id: str) -> None:
    assert TypeAdapter[str](SessionId).validate_python(session_id) == session_id


@each_row("session_id", ["", " ", "-s", ".s", ":s", "a b", "a/b", "a{b}", "ä", "s\n", "s\x00", "s" * 129])
def test_a_session_id_that_could_be_mistaken_is_refused(session_id: str) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter[str](SessionId).validate_python(session_id)


@pytest.mark.parametrize("entry", ["0-0", "1732190400000-12"])
def test_a_log_entry_is_an_id_in_a_stream(entry: str) -> None:
    assert TypeAdapter[str](LogEntry).validate_python(entry) == entry


@each_row("entry", ["", "-", "+", "$", "1", "1-", "1-*", "-1-1", "1-1\n", "9" * 21 + "-0"])
def test_anything_else_is_not_a_log_entry(entry: str) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter[str](LogEntry).validate_python(entry)


def test_a_trusted_value_is_the_same_as_one_that_was_validated() -> None:
    trusted = Usage.trusted(**dict(FULL))

    assert trusted == FULL
    assert trusted.model_dump_json() == FULL.model_dump_json()


def test_a_trusted_value_has_every_field() -> None:
    with pytest.raises(AssertionError, match="all fields"):
        Usage.trusted(input_tokens=10)


def test_usage_adds_up() -> None:
    assert FULL.total_tokens == 16
    assert FULL.plus(FULL) == Usage(
        input_tokens=20, output_tokens=6, cache_read_tokens=4, cache_write_tokens=2, cost_usd=0.5
    )


def test_a_sum_with_an_unknown_cost_has_an_unknown_cost() -> None:
    assert FULL.plus(Usage()).cost_usd is None
    assert Usage().plus(FULL).cost_usd is None
