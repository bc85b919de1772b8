"""The life of one message."""

import asyncio
from datetime import timedelta

import pytest
from antiphon_shared.bus import scripts
from antiphon_shared.bus.committing import outcome_operations, script_arguments
from antiphon_shared.bus.handling import (
    NOTHING,
    RESPONSE,
    STATE,
    Append,
    CancelTimer,
    Delivery,
    Outcome,
    PutDocument,
    SessionStore,
    SetTimer,
)
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import (
    CancellationRequested,
    ComponentFailed,
    DeadlineReached,
    QuerySubmitted,
    ResponseReady,
)
from antiphon_shared.process.clock import utc_now
from antiphon_shared.process.ids import child_id
from antiphon_shared.process.settings import BusSettings
from redis.crc import key_slot
from redis.exceptions import ConnectionError as RedisConnectionError

from tests.bus.builders import (
    OUTPUT,
    PLACE,
    Proxy,
    Seen,
    a_bus,
    a_query,
    admin,
    dead_letters,
    delivered,
    entries,
    eventually,
    inbox_of,
    length,
    pending,
    silent,
    types_in_log,
    until_done,
    words_of,
    working,
)
from tests.redis_server import RedisServer


def a_response(session_id: str = "s1") -> ResponseReady:
    return ResponseReady(
        session_id=session_id,
        status="complete",
        answer="42",
        termination_reason="natural_completion",
        rounds_used=1,
        tool_calls_used=0,
        duration_ms=1,
    )


async def test_a_delivery_is_handled_once_and_its_outcome_committed(bus: Bus) -> None:
    on_query, on_output = Seen(Outcome(events=(OUTPUT,))), Seen()
    async with working(bus, {QuerySubmitted: on_query, CancellationRequested: on_output}):
        assert await bus.publish(a_query(), "open") == "sent"
        await eventually(lambda: len(on_output.deliveries) == 1)
        await until_done(bus)
    log = await bus.session("s1").log()
    assert [event.type for _, event in log] == [QuerySubmitted.type, CancellationRequested.type]
    assert log[1][1].causationid == log[0][1].id
    assert [delivery.log_entry for delivery in on_output.deliveries] == [log[1][0]]
    assert len(on_query.deliveries) == 1


async def test_all_parts_of_an_outcome_are_committed_together(bus: Bus) -> None:
    outcome = Outcome(
        events=(OUTPUT, a_response()),
        writes=(
            PutDocument(STATE, 0, b"\xff\x00state"),
            Append("memory", 0, b"one"),
            PutDocument(RESPONSE, 0, b"{}"),
        ),
        timers=(SetTimer("deadline", timedelta(seconds=60), DeadlineReached()), CancelTimer("none")),
        closes_session=True,
    )
    async with working(
        bus, {QuerySubmitted: Seen(outcome), CancellationRequested: Seen(), ResponseReady: Seen()}
    ):
        await bus.publish(a_query(), "open")
        await until_done(bus)
        session, keys, partition = bus.session("s1"), bus.keys, bus.keys.partition("s1")
        await eventually(lambda: _is_answered(bus, partition))
    assert await session.document(STATE) == (1, b"\xff\x00state")
    assert await session.items("memory") == [b"one"]
    assert await bus.batcher.submit("ZRANGE", keys.timers(partition), 0, -1) == [b"s1/deadline"]
    assert await bus.batcher.submit("ZCARD", keys.open_sessions(partition)) == 0
    assert [fields[b"session_id"] for _, fields in await entries(bus, keys.responses(partition))] == [b"s1"]
    pointers = [fields[b"type"].decode() for _, fields in await entries(bus, keys.feed(partition))]
    assert pointers == [QuerySubmitted.type, CancellationRequested.type, ResponseReady.type]


async def _is_answered(bus: Bus, partition: int) -> bool:
    return await length(bus, bus.keys.responses(partition)) == 1


async def test_one_of_two_commits_of_the_same_entry_is_written(bus: Bus) -> None:
    """A stalled worker that resumes commits a duplicate."""
    await bus.publish(query := a_query(), "open")
    await silent(bus)
    ((entry, _),) = await entries(bus, inbox_of(bus))
    outcome = Outcome(events=(OUTPUT,), writes=(Append("memory", 0, b"once"),))
    operations = outcome_operations(
        outcome, Delivery(query, PLACE), "coordinator", bus.keys, bus.settings, utc_now()
    )
    keys, values = script_arguments(
        operations,
        "s1",
        entry.decode(),
        "coordinator",
        partition=bus.keys.partition("s1"),
        keys=bus.keys,
        settings=bus.settings,
    )
    results = await asyncio.gather(*(bus.batcher.run(scripts.COMMIT, keys, values) for _ in range(2)))
    assert sorted(results) == [b"committed", b"duplicate"]
    assert await bus.session("s1").items("memory") == [b"once"]
    assert (await types_in_log(bus)).count(CancellationRequested.type) == 1
    assert {key_slot(key.encode()) for key in keys} == {key_slot(keys[0].encode())}


async def test_a_conflict_writes_nothing_and_runs_again_on_fresh_state(bus: Bus) -> None:
    versions: list[int] = []

    async def contended(delivery: Delivery, session: SessionStore) -> Outcome:
        version, _ = await session.document(STATE)
        versions.append(version)
        if len(versions) == 1:  # another worker is quicker
            key = bus.keys.of_session("s1", STATE)
            await bus.batcher.submit("HSET", key, "version", 7, "content", "theirs")
        return Outcome(
            events=(OUTPUT,), writes=(Append("memory", 0, b"x"), PutDocument(STATE, version, b"ours"))
        )

    async with working(bus, {QuerySubmitted: contended, CancellationRequested: Seen()}):
        await bus.publish(a_query(), "open")
        await until_done(bus)
    assert versions == [0, 7]
    assert await bus.session("s1").document(STATE) == (8, b"ours")
    assert await bus.session("s1").items("memory") == [b"x"]
    assert (await types_in_log(bus)).count(CancellationRequested.type) == 1


async def test_only_a_worker_that_committed_its_outcome_is_notified(bus: Bus) -> None:
    """A conflict and a faster worker are both covered."""
    committed: list[str] = []
    attempts = iter(["conflict", "committed"])

    async def handler(delivery: Delivery, session: SessionStore) -> Outcome:
        version, _ = await session.document(STATE)
        attempt = "duplicate" if delivery.event.subject == "s2" else next(attempts)
        if attempt == "conflict":
            await bus.batcher.submit(
                "HSET", bus.keys.of_session("s1", STATE), "version", 7, "content", "theirs"
            )
        if attempt == "duplicate":
            ((entry, _),) = await entries(bus, inbox_of(bus, "s2"))
            await bus.batcher.submit("XACK", inbox_of(bus, "s2"), "coordinator", entry)
            await bus.batcher.submit("XDEL", inbox_of(bus, "s2"), entry)
        return Outcome(
            writes=(PutDocument(STATE, version, b"ours"),), after_commit=lambda: committed.append(attempt)
        )

    async with working(bus, {QuerySubmitted: handler}):
        for session_id in ("s1", "s2"):
            await bus.publish(a_query(session_id), "open")
            await until_done(bus, session_id)
        await eventually(lambda: "committed" in committed)
    assert committed == ["committed"]


async def test_endless_conflicts_end_as_a_failure_not_as_a_loop(bus: Bus) -> None:
    on_failed = Seen()

    bus.settings = bus.settings.model_copy(update={"max_attempts": 1})

    async def hopeless(delivery: Delivery, session: SessionStore) -> Outcome:
        return Outcome(writes=(PutDocument(STATE, 99, b""),))

    async with working(bus, {QuerySubmitted: hopeless, ComponentFailed: on_failed}):
        await bus.publish(a_query(), "open")
        await eventually(lambda: len(on_failed.deliveries) == 1)
    assert on_failed.failures()[0].error.code == "contended"


async def test_a_second_run_gives_its_outputs_the_same_ids(bus: Bus) -> None:
    on_output, ran = Seen(), Seen(Outcome(events=(OUTPUT, OUTPUT)))
    query = a_query()
    await bus.publish(query, "open")
    await delivered(bus, times=1)
    async with working(bus, {QuerySubmitted: ran, CancellationRequested: on_output}):
        await eventually(lambda: len(on_output.deliveries) == 2)
    assert [d.event.id for d in on_output.deliveries] == [child_id(query.id, 0), child_id(query.id, 1)]
    assert [d.redelivered for d in ran.deliveries] == [True]


async def test_scripts_that_redis_forgot_are_sent_again(bus: Bus) -> None:
    seen = Seen()
    async with working(bus, {QuerySubmitted: seen}):
        for n in range(3):
            await bus.client.script_flush()
            await bus.publish(a_query(f"s{n}"), "open")
            await eventually(lambda n=n: len(seen.deliveries) == n + 1)  # type: ignore[misc]  # a bound default


@pytest.mark.parametrize("attempt", range(3))
async def test_a_commit_whose_reply_is_lost_is_applied_once(
    redis_server: RedisServer, namespace: str, bus_settings: BusSettings, attempt: int
) -> None:
    outcome = Outcome(events=(OUTPUT,), writes=(Append("memory", 0, b"once"),))
    async with (
        Proxy(redis_server.port) as proxy,
        a_bus(proxy.url, namespace, bus_settings) as bus,
        a_bus(redis_server.url, namespace, bus_settings) as watching,  # its connection is not cut
    ):
        async with working(bus, {QuerySubmitted: Seen(outcome), CancellationRequested: Seen()}):
            proxy.cut_after = b"an output"
            await bus.publish(a_query(), "open")
            await until_done(watching)
            await eventually(lambda: proxy.cuts == 1)
        assert await watching.session("s1").items("memory") == [b"once"]
        assert (await types_in_log(watching)).count(CancellationRequested.type) == 1


async def test_a_key_of_another_type_fails_a_commit_whole(bus: Bus) -> None:
    """A commit is atomic: the acknowledgement and the outputs are written together."""
    on_failed = Seen()

    bus.settings = bus.settings.model_copy(update={"max_attempts": 1})

    async def occupied(delivery: Delivery, session: SessionStore) -> Outcome:
        await bus.batcher.submit("SET", bus.keys.responses(bus.keys.partition("s1")), "a string")
        return Outcome(events=(OUTPUT, a_response()), writes=(Append("memory", 0, b"x"),))

    async with working(bus, {QuerySubmitted: occupied, ComponentFailed: on_failed}):
        await bus.publish(a_query(), "open")
        await eventually(lambda: len(on_failed.deliveries) == 1)
    assert await bus.session("s1").items("memory") == []
    assert CancellationRequested.type not in await types_in_log(bus)


async def test_a_document_of_another_type_fails_a_commit_whole_though_its_version_does_not_matter(
    bus: Bus,
) -> None:
    bus.settings = bus.settings.model_copy(update={"max_attempts": 1})
    await bus.batcher.submit("SET", bus.keys.of_session("s1", "briefing"), "a string")
    on_failed = Seen()
    outcome = Outcome(events=(OUTPUT,), writes=(PutDocument("briefing", None, b"x"),))
    async with working(bus, {QuerySubmitted: Seen(outcome), ComponentFailed: on_failed}):
        await bus.publish(a_query(), "open")
        await eventually(lambda: len(on_failed.deliveries) == 1)
    assert CancellationRequested.type not in await types_in_log(bus)


async def test_a_feed_of_another_type_stops_no_process(bus: Bus) -> None:
    await bus.batcher.submit("SET", bus.keys.feed(bus.keys.partition("s1")), "a string")
    on_output = Seen()
    async with working(
        bus, {QuerySubmitted: Seen(Outcome(events=(OUTPUT,))), CancellationRequested: on_output}
    ):
        await bus.publish(a_query(), "open")
        await eventually(lambda: len(on_output.deliveries) == 1)


async def test_redis_away_in_a_handler_is_waited_for_and_buries_nothing(bus: Bus) -> None:
    tries = 0

    async def unlucky(delivery: Delivery, session: SessionStore) -> Outcome:
        nonlocal tries
        tries += 1
        if tries < 6:
            raise RedisConnectionError("gone")
        return NOTHING

    async with working(bus, {QuerySubmitted: unlucky}):
        await bus.publish(a_query(), "open")
        await eventually(lambda: tries == 6)
        await until_done(bus)
    assert await dead_letters(bus) == 0


@pytest.mark.usefixtures("unhurried_farewell")
async def test_stopping_hands_slow_work_back_without_counting_a_delivery(bus: Bus) -> None:
    begun = asyncio.Event()

    async def endless(delivery: Delivery, session: SessionStore) -> Outcome:
        begun.set()
        await asyncio.sleep(3600)
        return NOTHING

    async with working(bus, {QuerySubmitted: endless}, "w1", grace_s=0):
        await bus.publish(a_query(), "open")
        await begun.wait()
    ((_, consumer, idle_ms, count),) = await pending(bus, inbox_of(bus))
    assert (consumer, count) == (b"w1", 0)
    assert idle_ms > 60_000
    seen = Seen()
    async with working(bus, {QuerySubmitted: seen}, "w2"):
        await until_done(bus)
    assert len(seen.deliveries) == 1


async def test_stopping_while_redis_is_away_ends(
    redis_server: RedisServer, namespace: str, bus_settings: BusSettings
) -> None:
    """No step of the shutdown waits for a Redis that stays unavailable."""
    begun = asyncio.Event()

    async def endless(delivery: Delivery, session: SessionStore) -> Outcome:
        begun.set()
        await asyncio.sleep(3600)
        return NOTHING

    async with (
        Proxy(redis_server.port) as proxy,
        a_bus(proxy.url, namespace, bus_settings) as bus,
        asyncio.timeout(30),
        working(bus, {QuerySubmitted: endless}, grace_s=0.2),
    ):
        await bus.publish(a_query(), "open")
        await begun.wait()
        await proxy.__aexit__()
    assert await admin(redis_server.url, "XLEN", inbox_of(bus)) == 1


async def test_many_deliveries_are_all_handled_with_few_slots(bus: Bus) -> None:
    """One place for three readers: they take turns."""
    seen: list[str] = []

    async def on_query(delivery: Delivery, session: SessionStore) -> Outcome:
        seen.append(words_of(delivery))
        return NOTHING

    async with working(bus, {QuerySubmitted: on_query}, concurrency=1):
        for n in range(30):
            await bus.publish(a_query(f"s{n}", query=str(n)), "open")
        await eventually(lambda: len(seen) == 30)
    assert sorted(seen, key=int) == [str(n) for n in range(30)]
