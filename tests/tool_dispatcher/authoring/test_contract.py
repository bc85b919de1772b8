"""Contracts: their defaults, and the contradictions that are refused."""

from typing import Any, get_args

import pytest
from antiphon_shared.tools.contract import (
    Backoff,
    BatchVariant,
    Contract,
    Dependency,
    Effect,
    RateLimit,
    Retry,
)
from hypothesis import given
from hypothesis import strategies as st

from tests.rows import each_row
from tool_dispatcher.authoring.contract import OPTIONS, complete
from tool_dispatcher.authoring.failures import InvalidTool


def test_a_read_without_options_runs_concurrently_and_its_failure_stops_nothing() -> None:
    contract = complete("look", "read", {})
    assert (contract.mode, contract.error_propagation) == ("parallel-safe", "partial-success")


def test_a_write_without_options_runs_one_after_another_and_a_failure_stops_the_rest() -> None:
    contract = complete("note", "write", {})
    assert (contract.mode, contract.error_propagation) == ("sequential-only", "fail-fast")
    assert not contract.is_safe_to_repeat


@each_row("effect", get_args(Effect))
@each_row(
    ("options", "mode"),
    [
        ({"depends_on": "search"}, "dependent"),
        ({"max_concurrency": 4}, "fan-out-bounded"),
        ({"depends_on": "search", "max_concurrency": 4}, "dependent"),
        ({"mode": "fan-out-bounded", "depends_on": "search", "max_concurrency": 4}, "fan-out-bounded"),
    ],
)
def test_the_mode_follows_from_the_options(effect: Effect, options: dict[str, Any], mode: str) -> None:
    assert complete("t", effect, options).mode == mode


def test_a_contract_is_the_same_after_it_travelled_in_a_schema() -> None:
    options = {
        "depends_on": [Dependency(tool="search", required_fields=("id",))],
        "batch": BatchVariant(tool="notes", argument="items"),
        "retry": Retry(attempts=5),
        "backoff": Backoff(initial_ms=50),
        "rate_limit": RateLimit(calls=3),
        "rounds": [1, 2],
        "slow_s": 2,
        "idempotent": True,
        "next": "rerank",
    }
    contract = complete("note", "write", options, has_reconcile=True)
    assert Contract.of_schema({"x-orchestration": contract.as_keyword()}, "write") == contract


def test_every_default_is_written_into_the_schema() -> None:
    keyword = complete("look", "read", {}).as_keyword()
    assert keyword.keys() == Contract.model_fields.keys()
    assert keyword["error_propagation"] == "partial-success"
    assert keyword["backoff"] == {"strategy": "exponential", "initial_ms": 200, "max_ms": 10_000}
    assert (keyword["rate_limit"], keyword["deterministic"], keyword["cache_ttl_s"]) == (None, False, 0)


def test_an_author_can_set_every_option_of_the_contract() -> None:
    resolved = {
        "effect",
        "reconciles",
    }  # `effect` has its own parameter, `reconciles` follows from `reconcile`
    assert set(OPTIONS) == set(Contract.model_fields) - resolved


CONTRADICTIONS: list[tuple[Effect, dict[str, Any], str]] = [
    ("read", {"mode": "fan-out-bounded"}, "without max_concurrency.*max_concurrency=4"),
    ("read", {"mode": "parallel-safe", "max_concurrency": 2}, "but its mode is parallel-safe.*Write mode="),
    (
        "read",
        {"mode": "sequential-only", "max_concurrency": 2},
        "max_concurrency, but its mode is sequential",
    ),
    ("read", {"mode": "dependent"}, "without depends_on.*Name a tool"),
    ("read", {"mode": "dependent", "depends_on": []}, "without depends_on.*Name a tool"),
    ("write", {"mode": "sequential-only", "depends_on": "search"}, "has depends_on, but.*sequential-only"),
    ("read", {"depends_on": "t"}, "depends_on names the tool itself"),
    ("read", {"alternatives": ["t"]}, "alternatives names the tool itself"),
    ("read", {"batch": {"tool": "t", "argument": "a"}}, "batch names the tool itself"),
    ("write", {"cache_ttl_s": 1}, "write with cache_ttl_s.*Omit cache_ttl_s"),
    ("read", {"idempotent": True}, "read with idempotent"),
    ("read", {"idempotency_ttl_s": 100_000}, "read with idempotency_ttl_s"),
    ("write", {"idempotency_ttl_s": 86_399}, r"idempotency_ttl_s is 86399.*from 86400 \(24 h\)"),
    ("read", {"retry": 1, "backoff": {"initial_ms": 5}}, "one attempt.*Omit backoff"),
    ("read", {"backoff": {"initial_ms": 60_000}}, "starts at 60000 ms, above its max_ms of 10000"),
    ("read", {"depends_on": ["a", "a"]}, "depends_on name 'a' twice"),
    ("read", {"depends_on": Dependency(tool="a", required_fields=("x", "x"))}, "fields of a name 'x' twice"),
    ("read", {"depends_on": Dependency(tool="a", required_fields=("",))}, "contain an empty name"),
    ("read", {"alternatives": ["a", {"tool": "a"}]}, "alternatives name 'a' twice"),
    ("read", {"alternatives": {"tool": "a", "arguments": {"x": "z", "y": "z"}}}, "name 'z' twice"),
    ("read", {"scopes": ["crm", "crm"]}, "scopes name 'crm' twice"),
    ("read", {"next": ["a", "a"]}, "next name 'a' twice"),
    ("read", {"rounds": [2, 2]}, "rounds name 2 twice"),
    ("read", {"rounds": []}, "rounds are empty.*omit the option for all rounds"),
    ("read", {"scopes": ["read"]}, "scopes name 'read'.*always a required scope"),
    ("read", {"timeout_s": 5, "slow_s": 5}, "slow_s is not less than its timeout_s.*Lower slow_s"),
    ("read", {"scopes": "write"}, "scopes name 'write'.*always a required scope"),
]


@each_row(("effect", "options", "why"), CONTRADICTIONS)
def test_a_contradictory_contract_is_refused_with_the_fix(
    effect: Effect, options: dict[str, Any], why: str
) -> None:
    with pytest.raises(InvalidTool, match=f"^Tool 't': .*{why}") as refused:
        complete("t", effect, options)
    assert refused.value.hint


def test_a_read_cannot_have_a_reconcile_function() -> None:
    with pytest.raises(InvalidTool, match=r"read with reconcile.*Omit reconcile"):
        complete("t", "read", {}, has_reconcile=True)


_anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9) | st.binary(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=9), inner, max_size=2),
    max_leaves=4,
)


@given(st.dictionaries(st.sampled_from(OPTIONS), _anything, max_size=3), st.sampled_from(get_args(Effect)))
def test_any_options_give_a_contract_or_one_clear_error(options: dict[str, Any], effect: Effect) -> None:
    try:
        contract = complete("t", effect, options)
    except InvalidTool as refused:
        text, hint = str(refused), refused.hint
    else:
        assert Contract.of_schema({"x-orchestration": contract.as_keyword()}, effect) == contract
        return
    assert text.startswith("Tool 't': ")
    assert hint
    assert "validation error" not in text
