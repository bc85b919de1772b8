"""Digests of JSON values."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tool_dispatcher.idempotency.identity import fingerprint

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def exactly(value: Any) -> str:
    """Return a form that distinguishes JSON values: in Python 1, 1.0 and True are equal."""
    match value:
        case dict():
            return f"an object of {sorted((key, exactly(item)) for key, item in value.items())}"
        case list():
            return repr([exactly(item) for item in value])
        case _:
            return repr(value)


@settings(max_examples=200, deadline=None)
@given(JSON, JSON)
def test_two_values_have_one_digest_exactly_when_they_are_the_same(one: Any, other: Any) -> None:
    assert (fingerprint(one) == fingerprint(other)) is (exactly(one) == exactly(other))


def test_the_order_of_keys_makes_no_difference() -> None:
    assert fingerprint({"a": 1, "b": {"c": 2, "d": 3}}) == fingerprint({"b": {"d": 3, "c": 2}, "a": 1})


def test_the_parts_stay_apart() -> None:
    assert (
        len({fingerprint("ab", "c"), fingerprint("a", "bc"), fingerprint("abc"), fingerprint(["ab", "c"])})
        == 4
    )


def test_a_digest_is_the_same_in_every_process_and_version() -> None:
    """Records and cached results are kept under it."""
    assert fingerprint("pay", {"amount": 5, "to": "Zoë"}) == "5ba1015f38bcf4edfe0740c71c2764dc"


def test_text_that_cannot_be_encoded_has_a_digest_too() -> None:
    assert len(fingerprint("\ud800")) == 32


def _nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value", [{1, 2}, b"bytes", float("nan"), float("inf"), object(), _nested(100_000)], ids=lambda _: ""
)
def test_a_value_outside_json_has_no_fingerprint(value: Any) -> None:
    with pytest.raises(ValueError, match="no digest"):
        fingerprint(value)
