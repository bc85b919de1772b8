"""A contract is described in words, and no field is omitted."""

from pathlib import Path
from typing import Any

import orjson
import pytest
from antiphon_shared.tools.contract import (
    Alternative,
    Backoff,
    BatchVariant,
    Contract,
    Dependency,
    RateLimit,
    Retry,
)

from antiphon.cli.contract_words import contract_words, duration
from tests.antiphon.conftest import InProcess
from tests.rows import each_row

EVERYTHING: dict[str, Any] = {
    "mode": "sequential-only",
    "max_concurrency": 4,
    "depends_on": (Dependency(tool="search", required_fields=("id", "title")),),
    "error_propagation": "fail-fast",
    "batch": BatchVariant(tool="looks", argument="places", items_max=50),
    "timeout_s": 90.0,
    "slow_s": 4.0,
    "retry": Retry(attempts=5),
    "backoff": Backoff(strategy="linear", initial_ms=50, max_ms=4_000),
    "cache_ttl_s": 600.0,
    "deterministic": True,
    "scopes": ("crm:read",),
    "alternatives": (Alternative(tool="guess", arguments={"city": "place"}),),
    "result_bytes_max": 5_000,
    "rounds": (2, 1),
    "rate_limit": RateLimit(calls=10, per_s=60),
    "open_world": True,
    "pinned": True,
    "next": ("rerank",),
    "validates": "plan",
    "version": "2026-11",
}
WRITES: dict[str, Any] = {
    "idempotent": True,
    "reconciles": True,
    "idempotency_ttl_s": 86_400.0 * 7,
    "repeat": "run",
}


def words(contract: Contract) -> dict[str, str]:
    return dict(contract_words(contract))


def test_every_option_of_a_contract_is_described() -> None:
    assert words(Contract(effect="read", **EVERYTHING)) == {
        "mode": "sequential-only: its calls run one after another, in their order",
        "at once": "at most 4, across all dispatchers",
        "after": "search, whose result must contain id, title",
        "batch": "several calls are merged into one call of looks: up to 50 items in its places",
        "next": "rerank",
        "errors": "fail-fast: when a call fails, the calls of the batch that have not started are cancelled",
        "timeout": "1.5 min",
        "slow": "after 4 s; the circuit breaker counts a slow call as a failure",
        "retry": "5 attempts in all; pauses linear, from 50 ms to 4 s",
        "rate limit": "10 per 1 min, across all dispatchers",
        "cache": "10 min; the same arguments give the same result",
        "scopes": "crm:read, read",
        "approval": "not needed",
        "instead": "guess (its place from city)",
        "rounds": "1, 2",
        "offered": "always, in a catalogue of any size",
        "validates": "the value of plan, for answers that must pass this validation",
        "result": "5000 bytes are shown; the rest can be read by its handle",
        "trust": "its results may contain text from unknown authors",
        "version": "2026-11",
    }


@each_row("field", sorted(set(Contract.model_fields) - {"effect"}))
def test_every_field_of_a_contract_is_described(field: str) -> None:
    """The test fails for a new field until it has a value here and a description."""
    effect: Any = "write" if field in WRITES else "read"
    changed = {**EVERYTHING, **WRITES}[field]
    assert contract_words(Contract(effect=effect, **{field: changed})) != contract_words(
        Contract(effect=effect)
    )


@pytest.mark.parametrize(
    ("promised", "text"),
    [
        ({"idempotent": True}, "run again with the same key"),
        ({"reconciles": True}, "the tool is asked for the outcome of its key"),
        ({}, "the outcome is reported as unknown"),
    ],
)
def test_the_description_of_a_write_states_its_promise_after_a_crash(
    promised: dict[str, Any], text: str
) -> None:
    assert text in words(Contract(effect="write", **promised))["after a crash"]


def test_a_write_that_is_not_safe_to_repeat_is_not_promised_to_be_retried() -> None:
    assert "only if the call cannot have taken effect" in words(Contract(effect="write"))["retry"]
    assert "only" not in words(Contract(effect="write", idempotent=True))["retry"]
    assert words(Contract(effect="read", retry=Retry(attempts=1)))["retry"] == "never"


def test_the_operators_rule_is_shown() -> None:
    contract = Contract(effect="write")
    assert dict(contract_words(contract, "always"))["approval"] == "a person must approve each call"
    assert "untrusted" in dict(contract_words(contract, "after_untrusted"))["approval"]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.25, "250 ms"), (1, "1 s"), (30, "30 s"), (90, "1.5 min"), (86_400, "24 h"), (86_400 * 30, "30 days")],
)
def test_a_time_is_shown_in_the_unit_that_fits(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_the_command_line_shows_hints_of_a_file(run: InProcess, folder: Path) -> None:
    (folder / "hints.yaml").write_text("find_recipe: { hint: One dish at a time., next: [read_result] }")
    hints = {"ANTIPHON_TOOL_DISPATCHER_HINTS": "hints.yaml"}
    description = "Find recipes by what is in them.\nNext: read_result.\nOne dish at a time."
    assert (
        f"\n\n{description}\n\n" in run("tools", "show", "find_recipe", "--tools", "recipes", **hints).stdout
    )
    listed = run("tools", "list", "--tools", "recipes", "--json", **hints).stdout
    assert orjson.loads(listed)[0]["description"] == description
    (folder / "hints.yaml").write_text("find_recipes: {}")
    refused = run.refused("tools", "list", "--tools", "recipes", **hints)
    assert "hints.yaml: line 1, column 1: find_recipes: there is no tool 'find_recipes'." in refused
    assert "Did you mean find_recipe?" in refused


def test_tools_show_prints_the_contract_and_the_schema(run: InProcess) -> None:
    shown = run("tools", "show", "find_recipe", "--tools", "recipes").stdout
    assert shown.startswith(
        "find_recipe (read)\n\nFind recipes by what is in them.\n\nmode          parallel-safe: "
    )
    assert "\ntimeout       30 s\n" in shown
    assert orjson.loads(shown[shown.index("\n{") :])["type"] == "object"
    listed = run("tools", "list", "--tools", "recipes").stdout
    assert listed.splitlines()[1].split()[:4] == ["find_recipe", "read", "parallel-safe", "query"]
