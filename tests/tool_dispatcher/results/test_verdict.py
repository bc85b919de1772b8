"""The verdict of a validating tool, and the digest that identifies a value."""

import json
from typing import Any

import pytest
from antiphon_shared.output.validation import content_digest
from antiphon_shared.tools.calls import ToolError
from antiphon_shared.tools.contract import Contract
from hypothesis import given
from hypothesis import strategies as st

from tests.rows import each_row
from tool_dispatcher.authoring.failures import InvalidTool
from tool_dispatcher.authoring.tool import tool
from tool_dispatcher.results.outcome import verdict

VALIDATES = Contract(effect="read", validates="plan")
BROKEN = ToolError(error_type="api_failure", message="No such component.", suggested_action="Look it up.")


@each_row(
    ("outcome", "has_passed", "errors"),
    [
        ({"valid": True}, True, ()),
        ({"anything": 1}, True, ()),
        (None, True, ()),
        ("All is well.", True, ()),
        ({"valid": False}, False, ("It is not valid.",)),
        ({"valid": None}, False, ("It is not valid.",)),
        ({"valid": 1}, False, ("It is not valid.",)),
        (
            {"valid": False, "errors": [{"property": "channel", "message": "is missing"}, "and more", 7, ""]},
            False,
            ("Property: channel, Message: is missing", "and more"),
        ),
        ({"valid": False, "errors": ["no"] * 50}, False, ("no",) * 10),
        (BROKEN, False, ("No such component.",)),
    ],
)
def test_a_failed_validation_is_reported_by_an_error_or_by_valid_false(
    outcome: Any, has_passed: bool, errors: tuple[str, ...]
) -> None:
    found = verdict(VALIDATES, {"plan": {"a": 1}}, outcome)
    assert found is not None
    assert (found.has_passed, found.errors, found.of) == (has_passed, errors, content_digest({"a": 1}))


def test_other_tools_find_nothing_out() -> None:
    assert verdict(Contract(effect="read"), {"plan": 1}, {"valid": True}) is None


@each_row(
    ("one", "other", "are_same"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ([1, 2], [2, 1], False),
        (1, 1.0, True),
        (1, True, False),
        (0, False, False),
        (0, None, False),
        ("1", 1, False),
        ("\u00e9", "e\u0301", False),
        ({"a": None}, {}, False),
        (10**15, 1e15, True),
    ],
)
def test_values_are_known_by_their_exact_content(one: Any, other: Any, are_same: bool) -> None:
    assert (content_digest(one) == content_digest(other)) is are_same


SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)


@given(st.recursive(SCALARS, lambda part: st.lists(part) | st.dictionaries(st.text(), part)))
def test_a_digest_survives_json(value: Any) -> None:
    assert content_digest(json.loads(json.dumps(value))) == content_digest(value)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object()])
def test_a_plan_outside_json_has_no_verdict(value: Any) -> None:
    assert verdict(VALIDATES, {"plan": value}, {"valid": True}) is None


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"effect": "write"}, "it is a write with validates"),
        ({"effect": "read", "cache_ttl_s": 60}, "validates with a cache"),
        ({"effect": "read", "deterministic": True}, "validates with a cache"),
        ({"effect": "read", "alternatives": "other"}, "validates with batch or alternatives"),
        ({"effect": "read", "validates": "pln"}, "names 'pln', which is not one"),
    ],
)
def test_a_contract_that_could_not_vouch_for_anything_is_refused(options: dict[str, Any], why: str) -> None:
    def check(plan: dict[str, Any]) -> dict[str, bool]:
        """Check a plan."""
        return {"valid": bool(plan)}

    with pytest.raises(InvalidTool, match=why):
        tool(**{"validates": "plan", **options})(check)
