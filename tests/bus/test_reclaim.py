"""Taking over from workers that went silent."""

import asyncio
import os
from pathlib import Path

from antiphon_shared.bus.dead_letters import DeadLetters
from antiphon_shared.bus.handling import NOTHING, Delivery, Outcome, SessionStore
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import ComponentFailed, QuerySubmitted
from antiphon_shared.process.settings import BusSettings

from tests.bus.builders import (
    Seen,
    a_bus,
    a_query,
    dead_letters,
    delivered,
    eventually,
    inbox_of,
    length,
    pending,
    sessions_of_one_partition,
    silent,
    until_done,
    words_of,
    working,
)
from tests.flows.starting import ROOT, Forked, Program
from tests.redis_server import RedisServer


async def test_a_delivery_of_a_dead_worker_is_reclaimed_when_its_lease_expires(bus: Bus) -> None:
    for n in range(5):
        await bus.publish(a_query(f"s{n}", query=str(n)), "open")
    for partition in range(bus.keys.partitions):
        for session_id in (f"s{n}" for n in range(5)):
            if bus.keys.partition(session_id) == partition:
                await silent(bus, session_id)
                break
    seen = Seen()
    async with working(bus, {QuerySubmitted: seen}):
        await eventually(lambda: len(seen.deliveries) == 5)
    assert sorted(seen.queries) == list("01234")
    assert all(delivery.redelivered for delivery in seen.deliveries)


async def test_from_its_third_delivery_on_an_entry_runs_alone(bus: Bus) -> None:
    running: set[str] = set()
    concurrent: dict[str, set[str]] = {}
    most_together = 0

    async def watched(delivery: Delivery, session: SessionStore) -> Outcome:
        nonlocal most_together
        words = words_of(delivery)
        running.add(words)
        most_together = max(most_together, len(running))
        for other in running:
            concurrent.setdefault(other, set()).update(running - {other})
            concurrent.setdefault(words, set()).update(running - {words})
        await asyncio.sleep(0.05)
        running.discard(words)
        return NOTHING

    suspects, others = ["suspect-1", "suspect-2"], [f"fresh-{n}" for n in range(8)]
    for words in suspects:
        await bus.publish(a_query(words, words), "open")
    for words in suspects:
        await delivered(bus, times=2, session_id=words)
    for words in others:
        await bus.publish(a_query(words, words), "open")
    async with working(bus, {QuerySubmitted: watched}):
        await eventually(lambda: len(concurrent) == 10)
        for words in (*suspects, *others):
            await until_done(bus, words)
    assert {words: concurrent[words] for words in suspects} == {words: set() for words in suspects}
    assert most_together > 1


async def test_waiting_for_a_slot_counts_no_delivery(bus: Bus) -> None:
    """If the process dies while an entry waits to run alone, another entry has killed it."""
    first, second = sessions_of_one_partition(bus.keys, 2)
    for session_id in (first, second):
        await bus.publish(a_query(session_id, session_id), "open")
    await delivered(bus, times=2, session_id=first)
    begun: list[str] = []

    async def endless(delivery: Delivery, session: SessionStore) -> Outcome:
        begun.append(words_of(delivery))
        await asyncio.sleep(3600)
        return NOTHING

    async with working(bus, {QuerySubmitted: endless}, grace_s=0.01) as worker:
        await eventually(lambda: len(begun) == 1 and worker.in_flight == 2)
        counts = [count for _, _, _, count in await pending(bus, inbox_of(bus, first))]
        assert counts == ([3, 2] if begun == [first] else [2, 3])


async def test_a_message_beyond_its_last_delivery_is_dead_lettered_and_reported(bus: Bus) -> None:
    await bus.publish(query := a_query(), "open")
    await delivered(bus, times=bus.settings.max_deliveries)
    on_query, on_failed = Seen(), Seen()
    async with working(bus, {QuerySubmitted: on_query, ComponentFailed: on_failed}):
        await eventually(lambda: len(on_failed.deliveries) == 1)
        await until_done(bus)
    assert on_query.deliveries == []
    failure = on_failed.failures()[0]
    assert (failure.failed_event, failure.error.code) == (query.id, "workers_lost")
    ((_, letter),) = await DeadLetters(bus).list()
    assert letter.error.code == "workers_lost"


async def test_a_poison_message_takes_none_of_its_neighbours_along(
    redis_server: RedisServer, namespace: str
) -> None:
    """It kills one worker after another, while others in flight have begun, and more come in."""
    lease_s = 0.4
    settings = BusSettings(lease_s=lease_s, max_deliveries=5)
    null = Path(os.devnull)
    arguments = (redis_server.url, namespace, str(lease_s))
    poisoned = Program("tests.bus.poisoned_worker", {**os.environ}, ROOT, null, null, arguments=arguments)
    async with a_bus(redis_server.url, namespace, settings) as bus:
        neighbours = [f"n{n}" for n in range(12)]
        await bus.publish(a_query("poison", "poison"), "open")
        for session_id in neighbours:
            await bus.publish(a_query(session_id, "fine"), "open")
        deaths = 0
        while not await _is_over(bus):
            if not await _died(Forked(poisoned), bus):
                break
            deaths += 1
            neighbours.append(f"late{deaths}")
            await bus.publish(a_query(f"late{deaths}", "fine"), "open")
        assert deaths == settings.max_deliveries
        assert await dead_letters(bus) == 1
        assert [await bus.session(n).items("done") for n in neighbours] == [[b"1"]] * len(neighbours)


async def _died(worker: Forked, bus: Bus) -> bool:
    """Return whether the worker dies before the inbox is empty; then kill it."""
    try:
        await eventually(lambda: worker.poll() is not None or _is_over(bus), limit_s=30)
        return worker.poll() is not None
    finally:
        worker.kill()
        worker.wait(30)


async def _is_over(bus: Bus) -> bool:
    return await dead_letters(bus) > 0 and await length(bus, inbox_of(bus)) == 0
