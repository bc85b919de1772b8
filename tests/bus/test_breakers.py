"""Breakers that many processes share: each `SharedBreakers` here represents one process."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest
from antiphon_shared.breakers.breaker import Allowed, BreakerState, ForcedOpen, RefusedCall
from antiphon_shared.breakers.outages import NO_OUTAGES
from antiphon_shared.breakers.table import BREAKERS_MAX, model_breaker, tool_breaker, write_state
from antiphon_shared.bus import breakers as breakers_module
from antiphon_shared.bus.breaker_store import BreakersBusy, BreakerStore
from antiphon_shared.bus.breakers import SharedBreakers
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.wire import Command

from tests.bus.breaker_processes import (
    LONG,
    LOOK,
    MODEL,
    SHORT,
    Ahead,
    all_refuse,
    allows,
    fail,
    is_gone,
    is_reported,
    kept,
    processes,
    refuses,
    time_passes,
)
from tests.bus.builders import Tapped, eventually


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let processes wait longer for Redis, so that none decides without it on a busy machine."""
    monkeypatch.setattr(breakers_module, "_CLAIM_TIMEOUT_S", 60.0)


async def test_a_failure_seen_by_one_process_opens_the_circuit_for_all(bus: Bus) -> None:
    async with processes(bus, 3) as all_of_them:
        fail(all_of_them[0])
        assert await refuses(all_of_them[0])  # at once: it has seen enough itself
        await eventually(lambda: all_refuse(all_of_them))
        assert not await refuses(all_of_them[1], tool_breaker("fetch"))


async def test_failures_of_many_processes_add_up(bus: Bus) -> None:
    """Each reports one at the same moment: a process that is late with its change repeats it."""
    breaker = replace(LONG, calls_min=8, window_calls=8)
    async with processes(bus, 8, breaker) as all_of_them:
        for name in (LOOK, MODEL):
            for breakers in all_of_them:
                fail(breakers, 1, name)
            await eventually(lambda name=name: all_refuse(all_of_them, name))  # type: ignore[misc]  # mypy cannot tell what the lambda gives
        assert {state.failures for state in (await kept(bus)).values()} == {8}


async def test_failures_take_the_successes_of_their_process_along(bus: Bus) -> None:
    """Three failures of nine calls are no half of them."""
    async with processes(bus, 2) as (busy, other):
        for _ in range(6):
            busy.note(LOOK, False)
        fail(busy)

        async def is_reported() -> bool:
            return LOOK in await kept(bus)

        await eventually(is_reported)
        state = (await kept(bus))[LOOK]
        assert (state.opened, state.failures, len(state.endings)) == (None, 3, 9)
        for _ in range(3):
            other.note(LOOK, False)  # reported too, as the failures are weighed against it
        await eventually(lambda: has_endings(bus, 10))
        assert not await refuses(other)


async def has_endings(bus: Bus, count: int) -> bool:
    return len((await kept(bus))[LOOK].endings) == count


async def test_successes_of_a_closed_breaker_cause_no_traffic(bus: Bus) -> None:
    sent: list[Command] = []
    bus.batcher.open(Tapped(bus.route(), sent.extend))
    breakers = SharedBreakers(bus, LONG)
    for _ in range(100):
        assert isinstance(await breakers.ask(LOOK), Allowed)
        breakers.note(LOOK, False)
    assert sent == []
    async with processes(bus, 1) as (running_one,):
        running_one.note(LOOK, False)
        await eventually(lambda: len(sent) >= 6)
    assert {command[0] for command in sent} == {"HGETALL", "TIME"}


async def test_an_outcome_during_a_report_is_reported_next(bus: Bus) -> None:
    breakers = SharedBreakers(bus, LONG)
    left = 3

    def meanwhile(commands: Sequence[Command]) -> None:
        nonlocal left
        if left and any(str(command[0]).startswith("EVAL") for command in commands):
            left -= 1
            breakers.note(LOOK, True)

    bus.batcher.open(Tapped(bus.route(), meanwhile))
    duty = asyncio.create_task(breakers.run())
    fail(breakers, 1)
    await eventually(lambda: is_open(bus))
    assert (await kept(bus))[LOOK].failures == LONG.calls_min
    duty.cancel()


async def is_open(bus: Bus) -> bool:
    state = (await kept(bus)).get(LOOK)
    return state is not None and state.opened is not None


@pytest.mark.usefixtures("patient")
async def test_one_of_fifty_concurrent_callers_becomes_the_probe(bus: Bus) -> None:
    async with processes(bus, 5) as all_of_them:
        fail(all_of_them[0])
        await eventually(lambda: all_refuse(all_of_them))
        await time_passes(bus)
        allowed: list[SharedBreakers] = []

        async def ask(breakers: SharedBreakers) -> None:
            if not await refuses(breakers):
                allowed.append(breakers)

        for _ in range(2_000):
            await asyncio.gather(*(ask(breakers) for breakers in all_of_them * 10))
            if allowed:
                break
            await asyncio.sleep(0.01)
        assert len(allowed) == 1
        allowed[0].note(LOOK, False)

        async def all_allow() -> bool:
            return not any([await refuses(breakers) for breakers in all_of_them])

        await eventually(all_allow)
        await eventually(lambda: is_gone(bus))


@pytest.mark.usefixtures("patient")
async def test_a_failed_probe_keeps_the_circuit_open_for_all(bus: Bus) -> None:
    async with processes(bus, 2) as (one, other):
        fail(one)
        await eventually(lambda: all_refuse((one, other)))
        before = (await kept(bus))[LOOK]
        await time_passes(bus)

        async def is_probe() -> bool:
            return not await refuses(other)

        await eventually(is_probe)
        other.note(LOOK, True)
        assert await refuses(other)

        async def is_open_again() -> bool:
            after = (await kept(bus))[LOOK]
            return after.opened is not None and after.opened > (before.opened or 0) and after.probed is None

        await eventually(is_open_again)


async def test_a_lost_probe_is_replaced_by_another_process(bus: Bus) -> None:
    async with processes(bus, 2, SHORT) as (one, other):
        fail(one)

        async def is_probe(breakers: SharedBreakers) -> bool:
            return not await refuses(breakers)

        await eventually(lambda: all_refuse((one, other)))
        await eventually(lambda: is_probe(one))  # and then its process ends
        await eventually(lambda: is_probe(other))


async def test_a_circuit_forced_open_stays_open_until_a_person_closes_it(bus: Bus) -> None:
    store = BreakerStore(bus.batcher, bus.keys)
    forced_open = ForcedOpen(at=0, by="Ada", because="The provider is moving house.")
    async with processes(bus, 2, SHORT) as all_of_them:
        assert await store.set_by_hand(
            LOOK, lambda now: SHORT.force_open(forced_open.model_copy(update={"at": now}))
        )
        await eventually(lambda: all_refuse(all_of_them))
        await asyncio.sleep(SHORT.open_s)
        all_of_them[0].note(LOOK, False)
        assert await all_refuse(all_of_them)
        state = (await kept(bus))[LOOK]
        assert state.held is not None
        assert (state.held.by, state.held.because) == (forced_open.by, forced_open.because)
        assert await store.set_by_hand(LOOK, lambda _: BreakerState())
        assert not await store.set_by_hand(LOOK, lambda _: BreakerState())

        async def all_allow() -> bool:
            return not any([await refuses(breakers) for breakers in all_of_them])

        await eventually(all_allow)


async def test_outages_are_those_that_are_open_and_equal_as_long_as_nothing_changes(bus: Bus) -> None:
    async with processes(bus, 2) as (one, other):
        for name in (tool_breaker("b"), tool_breaker("a"), MODEL):
            fail(one, 3, name)
        fail(one, 1, tool_breaker("fine"))
        await eventually(lambda: len(other.outages().tools) == 2 and len(other.outages().models) == 1)
        first = other.outages()
        assert first.tools == ("a", "b")
        assert first.models[0].model == "claude"
        assert first.models[0].until.microsecond == 0
        looks = 0
        while looks < 10:
            await asyncio.sleep(0.05)
            assert other.outages() == first
            looks += 1
        await eventually(lambda: one.outages() == first)


async def test_a_half_open_circuit_is_not_reported_as_an_outage(bus: Bus) -> None:
    async with processes(bus, 2) as (one, other):
        fail(one)
        await eventually(lambda: other.outages() != NO_OUTAGES)
        await time_passes(bus)
        await eventually(lambda: other.outages() == NO_OUTAGES)
        assert LOOK in await kept(bus)


async def test_an_empty_breaker_is_deleted(bus: Bus) -> None:
    async with processes(bus, 2) as (one, _):
        fail(one, 2)
        fail(one, 3, MODEL)  # opens, and is not asked for again

        async def is_reported() -> bool:
            return len(await kept(bus)) == 2

        await eventually(is_reported)
        store, long_s = BreakerStore(bus.batcher, bus.keys), 10 * LONG.open_s
        for name, state in (await kept(bus)).items():
            endings = tuple(one.model_copy(update={"at": one.at - long_s}) for one in state.endings)
            opened = None if state.opened is None else state.opened - long_s
            long_ago = state.model_copy(update={"endings": endings, "opened": opened})
            await store.swap(name, write_state(state), write_state(long_ago))
        await eventually(lambda: is_gone(bus))


async def test_names_that_are_made_up_do_not_fill_redis(bus: Bus) -> None:
    async with processes(bus, 1) as (breakers,):
        fail(breakers, 3, LOOK)
        await eventually(lambda: is_reported(bus, LOOK))
        for n in range(BREAKERS_MAX + 50):
            breakers.note(model_breaker(f"m{n}"), True)
        await eventually(lambda: is_full(bus))
        breakers.note(MODEL, True)
        await eventually(lambda: is_reported(bus, MODEL))
        states = await kept(bus)
        assert len(states) == BREAKERS_MAX
        assert states[LOOK].opened is not None


async def is_full(bus: Bus) -> bool:
    return len(await kept(bus)) == BREAKERS_MAX


async def test_the_number_of_breakers_noted_by_a_process_is_bounded(
    bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tool catalogue that always changes would otherwise fill the process; the oldest is forgotten, and is closed."""
    monkeypatch.setattr(breakers_module, "_BREAKERS_NOTED_MAX", 2)
    breakers, names = SharedBreakers(bus, LONG), [tool_breaker(name) for name in ("first", "second", "third")]
    for name in names:
        fail(breakers, name=name)
    assert [isinstance(await breakers.ask(name), RefusedCall) for name in names] == [False, True, True]


async def test_a_full_table_of_open_breakers_rejects_new_ones_and_processes_decide_alone(bus: Bus) -> None:
    fill = write_state(BreakerState(opened=1e12))
    for n in range(BREAKERS_MAX):
        await bus.batcher.submit("HSET", bus.keys.breakers(), f"tool:t{n}", fill)
    store = BreakerStore(bus.batcher, bus.keys)
    assert (await store.swap(LOOK, b"", b"{}")).outcome == "full"
    with pytest.raises(BreakersBusy, match="breakers that are not closed"):
        await store.set_by_hand(LOOK, lambda now: LONG.force_open(ForcedOpen(at=now)))
    breakers = SharedBreakers(bus, LONG, clock := Ahead())
    fail(breakers)
    assert await refuses(breakers)
    clock.by_s = LONG.open_s
    assert await allows(breakers)  # its own probe, as Redis has no place for it
