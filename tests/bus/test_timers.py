"""Timers, retention, and the removal of consumers that are gone."""

import asyncio
from datetime import timedelta

from antiphon_shared.bus import scripts
from antiphon_shared.bus.connection import BLOCK_S
from antiphon_shared.bus.handling import (
    RESPONSE,
    CancelTimer,
    Delivery,
    Handlers,
    Outcome,
    PutDocument,
    SessionStore,
    SetTimer,
)
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.timers import Chores, CleanUp
from antiphon_shared.events import CancellationRequested, DeadlineReached, QuerySubmitted
from antiphon_shared.process.clock import utc_now
from antiphon_shared.tools.calls import Catalogue

from tests.bus.builders import (
    Seen,
    a_query,
    all_timers_due,
    claim,
    dead_letters,
    entries,
    eventually,
    inbox_of,
    length,
    put,
    session_in,
    silent,
    types_in_log,
    until_done,
    working,
)

LONG_S = 600.0


def a_timer(seconds: float, reason: str = "due", name: str = "t") -> SetTimer:
    return SetTimer(name, timedelta(seconds=seconds), CancellationRequested(reason=reason))


def reasons(seen: Seen) -> list[str]:
    data = [delivery.event.data for delivery in seen.deliveries]
    return [item.reason for item in data if isinstance(item, CancellationRequested)]


async def test_a_due_timer_moved_by_several_workers_fires_and_is_logged_once(bus: Bus) -> None:
    bus.settings = bus.settings.model_copy(update={"lease_s": LONG_S})  # no worker takes over from the others
    at = SetTimer("at", utc_now() + timedelta(seconds=0.1), DeadlineReached())
    on_query, on_cancel, on_deadline = Seen(Outcome(timers=(a_timer(0.05), at))), Seen(), Seen()
    handlers: Handlers = {
        QuerySubmitted: on_query,
        CancellationRequested: on_cancel,
        DeadlineReached: on_deadline,
    }
    async with working(bus, handlers, "w1"), working(bus, handlers, "w2"), working(bus, handlers, "w3"):
        await bus.publish(a_query(), "open")
        await eventually(lambda: len(on_cancel.deliveries) == 1 and len(on_deadline.deliveries) == 1)
        await until_done(bus)
    logged = await types_in_log(bus)
    assert sorted(logged) == sorted([QuerySubmitted.type, CancellationRequested.type, DeadlineReached.type])
    assert len(on_cancel.deliveries) == len(on_deadline.deliveries) == 1
    assert await bus.session("s1").event(on_cancel.deliveries[0].log_entry) == on_cancel.deliveries[0].event


async def test_a_timer_is_replaced_by_its_name_and_cancelled(bus: Bus) -> None:
    outcomes = [
        Outcome(timers=(a_timer(LONG_S, "first"), a_timer(LONG_S, "other", "u"))),
        Outcome(timers=(a_timer(LONG_S, "second"), CancelTimer("u"))),
    ]
    on_cancel = Seen()

    async def next_outcome(delivery: Delivery, session: SessionStore) -> Outcome:
        return outcomes.pop(0)

    async with working(bus, {QuerySubmitted: next_outcome, CancellationRequested: on_cancel}, concurrency=3):
        await bus.publish(a_query(), "open")
        await bus.publish(a_query(), "signal")
        await until_done(bus)
        await all_timers_due(bus)
        await eventually(lambda: len(on_cancel.deliveries) == 1)
        assert await bus.batcher.submit("ZCARD", bus.keys.timers(bus.keys.partition("s1"))) == 0
        await until_done(bus)
    assert reasons(on_cancel) == ["second"]


async def test_a_timer_survives_the_process_that_set_it(bus: Bus) -> None:
    on_cancel = Seen()
    async with working(bus, {QuerySubmitted: Seen(Outcome(timers=(a_timer(0.1),)))}, "setter"):
        await bus.publish(a_query(), "open")
        await until_done(bus)
    async with working(bus, {CancellationRequested: on_cancel}, "another"):
        await eventually(lambda: reasons(on_cancel) == ["due"])


async def test_a_timer_of_another_component_is_moved_by_a_coordinator_alone(bus: Bus) -> None:
    """A process that moves timers writes to every inbox; no other component needs that right."""
    await put(bus, a_query(), "reasoning_engine")
    on_query, on_cancel = Seen(Outcome(timers=(a_timer(0.05),))), Seen()
    async with working(bus, {QuerySubmitted: on_query}, "engine", "reasoning_engine"):
        await until_done(bus, component="reasoning_engine")
        await asyncio.sleep(0.5)
        assert await length(bus, inbox_of(bus)) == 0
    async with working(bus, {CancellationRequested: on_cancel}):
        await eventually(lambda: reasons(on_cancel) == ["due"])


async def test_foreign_entries_among_the_timers_stop_no_process(bus: Bus) -> None:
    partition = bus.keys.partition("s1")
    garbage: dict[str, str | bytes] = {
        "x/1": "nonsense",
        "x/2": b"\xff\x00\xff",
        "x/3": "coordinator s1 t - many\n{}",
        "x/4": "",
    }
    for name, message in garbage.items():
        await bus.batcher.submit("ZADD", bus.keys.timers(partition), 1, name)
        await bus.batcher.submit("HSET", bus.keys.timer_messages(partition), name, message)
    await bus.batcher.submit("ZADD", bus.keys.timers(partition), 1, "x/without a message")
    on_cancel = Seen()
    handlers: Handlers = {
        QuerySubmitted: Seen(Outcome(timers=(a_timer(0.05),))),
        CancellationRequested: on_cancel,
    }
    async with working(bus, handlers):
        await bus.publish(a_query(), "open")
        await eventually(lambda: reasons(on_cancel) == ["due"])
    assert await dead_letters(bus) == len(garbage)


async def test_timers_of_another_type_do_not_keep_a_reader_from_reading(bus: Bus) -> None:
    await bus.batcher.submit("SET", bus.keys.timers(bus.keys.partition("s1")), "a string")
    seen = Seen()
    async with working(bus, {QuerySubmitted: seen}):
        await bus.publish(a_query(), "open")
        await eventually(lambda: len(seen.deliveries) == 1)


async def test_after_the_retention_nothing_of_a_session_is_left(bus: Bus) -> None:
    bus.settings = bus.settings.model_copy(update={"retention_s": 1.0})
    session, partition = bus.session("s1"), bus.keys.partition("s1")
    chores = Chores(bus, partition, CleanUp(bus, inbox_of(bus), "coordinator"))
    await bus.publish(a_query(), "open")
    await session.note("journal", "call", b"done")
    await session.stream_text("delta")
    await bus.batcher.submit("DEL", inbox_of(bus))

    async def is_gone() -> bool:
        chores._retain_at = 0.0
        await chores()
        open_set, all_set = bus.keys.open_sessions(partition), bus.keys.sessions(partition)
        counts = [await bus.batcher.submit("ZCARD", key) for key in (open_set, all_set)]
        left = await bus.client.execute_command("KEYS", bus.keys.of_session("s1", "*"))
        return not (any(counts) or left or await length(bus, bus.keys.feed(partition)))

    await eventually(is_gone)


async def test_an_open_session_is_kept_at_any_age(bus: Bus) -> None:
    partition = bus.keys.partition("s1")
    await bus.publish(a_query(), "open")
    for key in (bus.keys.open_sessions(partition), bus.keys.sessions(partition)):
        await bus.batcher.submit("ZADD", key, 1, "s1")
        await bus.batcher.submit("ZADD", key, 1, "gone")
    await Chores(bus, partition, CleanUp(bus, inbox_of(bus), "coordinator"))()
    assert await bus.batcher.submit("ZRANGE", bus.keys.open_sessions(partition), 0, -1) == [b"s1"]


async def test_only_open_session_entries_without_a_live_session_are_removed(bus: Bus) -> None:
    """Ids without a session, and those answered long ago; none that was just opened, or waits to be closed."""
    partition, submit = bus.keys.partition("s1"), bus.batcher.submit
    open_sessions = bus.keys.open_sessions(partition)
    answered, answered_long_ago = (session_in(bus.keys, partition, n) for n in (2, 3))
    for session_id in ("s1", answered):
        assert await bus.publish(a_query(session_id), "open") == "sent"
    for n in range(1_200):
        submit("ZADD", open_sessions, n, f"ghost-{n}")
    await submit("XADD", bus.keys.log(answered_long_ago), "1-1", "event", "{}")
    await submit("ZADD", open_sessions, 1, answered_long_ago)
    for session_id in (answered, answered_long_ago):
        await submit("HSET", bus.keys.of_session(session_id, RESPONSE), "version", 1, "content", "{}")
    chores = Chores(bus, partition, CleanUp(bus, inbox_of(bus), "coordinator"))
    for _ in range(5):
        chores._sweep_at = 0.0
        await chores()
    assert set(await submit("ZRANGE", open_sessions, 0, -1)) == {b"s1", answered.encode()}


async def test_a_sweep_reaches_dead_entries_after_many_open_sessions(bus: Bus) -> None:
    partition, submit = 0, bus.batcher.submit
    open_sessions = bus.keys.open_sessions(partition)
    names = [name for n in range(10_000) if bus.keys.partition(name := f"s{n}") == partition]
    for n, name in enumerate(names[:700]):
        submit("XADD", bus.keys.log(name), "*", "event", "{}")
        submit("ZADD", open_sessions, n, name)
    submit("ZADD", open_sessions, 1_000, "ghost")
    chores = Chores(bus, partition, CleanUp(bus, bus.keys.inbox(0, "coordinator"), "coordinator"))
    await bus.ensure_groups([(bus.keys.inbox(0, "coordinator"), "coordinator")])
    for _ in range(3):
        chores._sweep_at = 0.0
        await chores()
    assert await submit("ZSCORE", open_sessions, "ghost") is None
    assert await submit("ZCARD", open_sessions) == 700


async def test_silent_consumers_are_removed_unless_they_hold_something(bus: Bus) -> None:
    await bus.publish(a_query(), "open")
    await silent(bus, name="holding")
    inbox = inbox_of(bus)
    ((entry, _),) = await entries(bus, inbox)
    await silent(bus, name="empty")
    await claim(bus, inbox, "coordinator", entry, "holding")
    clean_up = CleanUp(bus, inbox, "coordinator", silent_s=0.0, every_s=0.0)

    async def is_clean() -> bool:
        assert await clean_up() == BLOCK_S
        names = await bus.batcher.submit("EVAL", _NAMES, 1, inbox, "coordinator")
        return bool(names == [b"holding"])

    await asyncio.sleep(0.01)
    await eventually(is_clean)
    assert await bus.batcher.run(scripts.LEAVE, [inbox], ["coordinator", "holding"]) == 0


_NAMES = """
local names = {}
for _, held in ipairs(redis.call('XPENDING', KEYS[1], ARGV[1])[4] or {}) do names[#names + 1] = held[1] end
return names
"""


async def test_all_expired_sessions_are_dropped_over_several_passes(bus: Bus) -> None:
    """A busy deployment opens more sessions a minute than are dropped at once."""
    sessions = bus.keys.sessions(0)
    for n in range(1_200):
        bus.batcher.submit("ZADD", sessions, 1, f"s{n}")
    chores = Chores(bus, 0, CleanUp(bus, bus.keys.inbox(0, "coordinator"), "coordinator"))
    await bus.ensure_groups([(bus.keys.inbox(0, "coordinator"), "coordinator")])
    for _ in range(3):
        await chores()
    assert await bus.batcher.submit("ZCARD", sessions) == 0


async def test_a_log_outlives_the_other_keys_of_its_session(bus: Bus) -> None:
    """A session's id is free again when its log is gone; nothing of the old session may be there then."""
    log = bus.keys.log("s1")
    await bus.publish(a_query(), "open")
    await bus.batcher.submit("PEXPIRE", log, 60_000)
    async with working(bus, {QuerySubmitted: Seen(Outcome(writes=(PutDocument("state", 0, b"{}"),)))}):
        await until_done(bus)
    left = await bus.batcher.submit("PTTL", log)
    assert left >= await bus.batcher.submit("PTTL", bus.keys.of_session("s1", "state")) > 60_000


async def test_a_catalogue_is_kept_until_republished_despite_a_short_retention(bus: Bus) -> None:
    bus.settings = bus.settings.model_copy(update={"retention_s": 1.0})
    content_hash = await bus.publish_catalogue(Catalogue())
    assert await bus.batcher.submit("PTTL", bus.keys.catalogue_content(content_hash)) > 3_600_000


async def test_a_timer_that_outlives_its_session_leaves_only_expiring_keys(bus: Bus) -> None:
    log = bus.keys.log("s1")
    async with working(bus, {QuerySubmitted: Seen(Outcome(timers=(a_timer(LONG_S),)))}):
        await bus.publish(a_query(), "open")
        await until_done(bus)
        await bus.batcher.submit("DEL", log)
        await all_timers_due(bus)
        await eventually(lambda: _is_there(bus, log))
    assert await bus.batcher.submit("PTTL", log) > 0


async def _is_there(bus: Bus, key: str) -> bool:
    return bool(await bus.batcher.submit("EXISTS", key))


async def test_the_text_of_a_running_reply_is_capped(bus: Bus) -> None:
    for n in range(3_000):
        arrival = bus.session("s1").stream_text(str(n))
    await arrival
    assert await length(bus, bus.keys.deltas("s1")) < 2_500
