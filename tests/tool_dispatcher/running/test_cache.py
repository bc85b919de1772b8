"""The cache of reads: never wrong, and never in the way."""

from datetime import UTC, datetime
from typing import Any

import pytest
from antiphon_shared.bus.batcher import Batcher
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.tools.contract import Contract

from tests.tool_dispatcher.idempotency.builders import a_wire
from tool_dispatcher.authoring.contract import complete
from tool_dispatcher.authoring.failures import tool_error
from tool_dispatcher.authoring.tool import Tool
from tool_dispatcher.results.outcome import Answer
from tool_dispatcher.running.cache import ReadCache, digest_of, is_cached

AT = datetime(2026, 11, 22, 21, 30, tzinfo=UTC)


def look_up(name: str = "look_up", description: str = "Looks up.", **options: Any) -> Tool:
    given: dict[str, Any] = {"effect": "read", "cache_ttl_s": 60, **options}
    schema = given.pop("schema", {"type": "object", "additionalProperties": True})
    return Tool(name, description, schema, lambda arguments, context: None, **given)


def a_digest(**fields: Any) -> str:
    given: dict[str, Any] = {
        "tool": look_up(),
        "tenant": "default",
        "scopes": ("read", "crm"),
        "arguments": {"name": "Ann", "limit": 3},
    }
    digest = digest_of(**{**given, **fields})
    assert digest is not None
    return digest


@pytest.mark.parametrize("data", [None, 0, "", False, {"a": [1, None, "ü"]}, 2**70, 1.5])
async def test_a_cached_answer_is_found(bus: Bus, data: Any) -> None:
    ReadCache(bus.batcher, bus.keys).store(a_digest(), data, AT, 60)
    assert await ReadCache(bus.batcher, bus.keys).get(a_digest()) == Answer(data, cached_at=AT)


async def test_an_uncached_answer_is_not_found(bus: Bus) -> None:
    assert await ReadCache(bus.batcher, bus.keys).get(a_digest()) is None


@pytest.mark.parametrize(
    "other",
    [
        {"tool": look_up("look_down")},
        {"tool": look_up(version="2")},
        {"tool": look_up(description="Looks up, and differently.")},
        {"tool": look_up(schema={"type": "object", "properties": {"name": {"type": "string"}}})},
        {"tool": look_up(cache_ttl_s=61)},
        {"cache_name": "s1#1"},
        {"tenant": "another"},
        {"scopes": ("read",)},
        {"scopes": ("read", "crm", "admin")},
        {"arguments": {"name": "Ann", "limit": "3"}},
        {"arguments": {"name": "Ann"}},
        {"arguments": {}},
    ],
    ids=str,
)
async def test_only_an_identical_call_of_the_same_tenant_and_scopes_hits_the_cache(
    bus: Bus, other: dict[str, Any]
) -> None:
    cache = ReadCache(bus.batcher, bus.keys)
    cache.store(a_digest(), "a secret of the tenant", AT, 60)
    assert await cache.get(a_digest(**other)) is None


async def test_the_order_of_arguments_and_scopes_makes_no_difference(bus: Bus) -> None:
    cache = ReadCache(bus.batcher, bus.keys)
    cache.store(a_digest(), "found", AT, 60)
    same = a_digest(scopes=["crm", "read", "crm"], arguments={"limit": 3, "name": "Ann"})
    assert await cache.get(same) == Answer("found", cached_at=AT)


def test_no_argument_appears_in_a_key() -> None:
    assert "hunter2" not in a_digest(arguments={"password": "hunter2"})


@pytest.mark.parametrize(
    "contract",
    [Contract(effect="read"), Contract(effect="write"), Contract(effect="write", cache_ttl_s=60)],
    ids=["a read without a cache", "a write", "a write that asks for it"],
)
def test_only_reads_whose_contract_allows_it_are_cached(contract: Contract) -> None:
    assert not is_cached(contract)


def test_a_deterministic_read_is_cached_for_five_minutes_by_default() -> None:
    options: list[dict[str, Any]] = [{}, {"deterministic": True}, {"deterministic": True, "cache_ttl_s": 0}]
    assert [complete("t", "read", one).cache_ttl_s for one in options] == [0, 300, 0]


def test_arguments_that_are_not_json_are_not_cached() -> None:
    assert digest_of(look_up(), "default", (), {"when": object()}) is None


async def test_an_entry_expires_with_its_contract(bus: Bus) -> None:
    cache = ReadCache(bus.batcher, bus.keys)
    cache.store(a_digest(), "found", AT, 60)
    assert await cache.get(a_digest()) is not None
    assert 0 < await bus.batcher.submit("PTTL", bus.keys.cached(a_digest())) <= 60_000


@pytest.mark.parametrize("ttl_s", [0, -1, -0.0])
async def test_without_a_ttl_nothing_is_cached(bus: Bus, ttl_s: float) -> None:
    cache = ReadCache(bus.batcher, bus.keys)
    cache.store(a_digest(), "found", AT, ttl_s)
    assert await cache.get(a_digest()) is None


@pytest.mark.parametrize(
    "data", [tool_error("timeout", "Too late."), object(), "\ud800"], ids=["error", "object", "text"]
)
async def test_errors_and_values_outside_json_are_not_cached(bus: Bus, data: Any) -> None:
    cache = ReadCache(bus.batcher, bus.keys)
    cache.store(a_digest(), data, AT, 60)
    assert await cache.get(a_digest()) is None


async def test_an_oversized_answer_is_not_cached(bus: Bus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tool_dispatcher.running.cache.BYTES_MAX", 142)
    cache = ReadCache(bus.batcher, bus.keys)
    cache.store(a_digest(), "x" * 99, AT, 60)
    assert await cache.get(a_digest()) is None
    cache.store(a_digest(), "x" * 98, AT, 60)
    assert await cache.get(a_digest()) == Answer("x" * 98, cached_at=AT)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"\xff\xfe", b"not json", b"[]", b'{"data": 1}', b'{"at": 5, "data": 1}']
)
async def test_an_entry_that_cannot_be_read_is_a_miss(bus: Bus, content: bytes) -> None:
    await bus.batcher.submit("SET", bus.keys.cached(a_digest()), content)
    assert await ReadCache(bus.batcher, bus.keys).get(a_digest()) is None


async def test_an_entry_of_another_type_is_a_miss(bus: Bus) -> None:
    await bus.batcher.submit("HSET", bus.keys.cached(a_digest()), "a", "b")
    assert await ReadCache(bus.batcher, bus.keys).get(a_digest()) is None


@pytest.mark.parametrize("failing", ["is_away", "is_silent"])
async def test_a_redis_that_cannot_be_reached_or_does_not_answer_is_a_miss(
    bus: Bus, failing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wire = a_wire(bus)
    cache = ReadCache(Batcher(wire), bus.keys)
    cache.store(a_digest(), "found", AT, 60)
    assert await cache.get(a_digest()) == Answer("found", cached_at=AT)
    setattr(wire, failing, True)
    monkeypatch.setattr("tool_dispatcher.running.cache.PATIENCE_S", 0.05)
    assert await cache.get(a_digest()) is None
    cache.store(a_digest(), "found", AT, 60)
