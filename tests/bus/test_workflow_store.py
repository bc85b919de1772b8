"""Published workflows in Redis: domains are independent of each other, and specifications do not expire."""

import asyncio

import pytest
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.workflow_store import WorkflowStore
from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.workflows.specification import Specification, specification_hash

_DAY_MS = 86_400_000


def a_specification(domain: str, *names: str, version: str = "1") -> Specification:
    flow = {"description": "D", "graph": {"a": {"type": "error", "message": "M"}}}
    return Specification.model_validate(
        {"domain": domain, "version": version, "workflows": dict.fromkeys(names, flow)}
    )


async def life_ms(bus: Bus, specification: Specification) -> int:
    key = bus.keys.specification(specification_hash(specification))
    return int(await bus.batcher.submit("PTTL", key))


async def test_concurrently_published_domains_are_all_published(bus: Bus) -> None:
    each = [a_specification(f"domain_{n}", f"flow_{n}") for n in range(8)]
    await asyncio.gather(*(WorkflowStore(bus).publish([one]) for one in each))
    published = await WorkflowStore(bus).hashes()
    assert published == {f"flow_{n}": specification_hash(one) for n, one in enumerate(each)}


async def test_publishing_a_domain_replaces_its_earlier_workflows(bus: Bus) -> None:
    store = WorkflowStore(bus)
    await store.publish([a_specification("soups", "cook", "eat"), a_specification("other", "wash")])
    newer = a_specification("soups", "cook", version="2")
    await store.publish([newer])
    assert {*await store.hashes()} == {"cook", "wash"}
    assert (await store.hashes())["cook"] == specification_hash(newer)


async def test_a_name_that_another_domain_has_is_refused_and_nothing_changes(bus: Bus) -> None:
    store = WorkflowStore(bus)
    await store.publish([a_specification("soups", "cook")])
    with pytest.raises(ConfigurationError, match="Two domains have a workflow 'cook': soups and stews"):
        await store.publish([a_specification("stews", "stir"), a_specification("stews", "cook")])
    assert {*await store.hashes()} == {"cook"}


async def test_a_withdrawn_specification_stays_available_to_running_runs(bus: Bus) -> None:
    store, one = WorkflowStore(bus), a_specification("soups", "cook")
    await store.publish([one])
    withdrawn = await store.withdraw("soups")
    assert withdrawn is not None
    assert withdrawn.workflows == ("cook",)
    assert await store.hashes() == {}
    assert await WorkflowStore(bus).specification(specification_hash(one)) == one


async def test_a_specification_lost_by_redis_is_restored_and_newer_ones_stay(bus: Bus) -> None:
    store = WorkflowStore(bus)
    lost, older = a_specification("lost", "find"), a_specification("soups", "cook")
    await store.publish([lost, older])
    newer = a_specification("soups", "cook", version="2")
    await store.publish([newer])
    await store.withdraw("lost")
    await bus.batcher.submit("DEL", bus.keys.specification(specification_hash(lost)))
    await store.restore([lost, older])
    assert await store.hashes() == {"find": specification_hash(lost), "cook": specification_hash(newer)}
    assert await WorkflowStore(bus).specification(specification_hash(lost)) == lost


async def test_a_specification_lives_on_while_it_is_published_or_a_run_waits(bus: Bus) -> None:
    store, one = WorkflowStore(bus), a_specification("soups", "cook")
    await store.publish([one])
    key = bus.keys.specification(specification_hash(one))
    await bus.batcher.submit("PEXPIRE", key, 1_000)
    await store.restore([])
    assert await life_ms(bus, one) > 30 * _DAY_MS
    await store.keep_on([specification_hash(one)], 300 * 86_400.0)
    await store.publish([one])
    assert await life_ms(bus, one) > 330 * _DAY_MS, "a shorter life does not take the place of a longer"


async def test_invalid_entries_among_published_workflows_are_left_out(bus: Bus) -> None:
    store = WorkflowStore(bus)
    await bus.batcher.submit("HSET", bus.keys.workflows(), "junk", b"{", b"\xff", b"{}")
    await store.publish([a_specification("soups", "cook")])
    assert {*await store.hashes()} == {"cook"}
