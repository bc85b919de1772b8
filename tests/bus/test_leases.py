"""The right to work on a delivery: renewed, lost, never stolen back."""

import asyncio

from antiphon_shared.bus.consumer import Consumer
from antiphon_shared.bus.handling import NOTHING, Delivery, Outcome, SessionStore
from antiphon_shared.bus.leases import Leases
from antiphon_shared.bus.reader import Entry
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import CancellationRequested, QuerySubmitted

from tests.bus.builders import (
    OUTPUT,
    SILENT_S,
    Seen,
    a_query,
    claim,
    entries,
    eventually,
    inbox_of,
    pending,
    silent,
    types_in_log,
    until_done,
    working,
)
from tests.clock import Clock


async def test_a_handler_that_outlasts_its_lease_keeps_its_delivery_while_its_worker_lives(
    clock: Clock, bus: Bus
) -> None:
    """Two thirds of a lease pass, and it is renewed; and so again, and again."""
    bus.settings = bus.settings.model_copy(update={"lease_s": 1.5 * SILENT_S})
    runs, end, inbox = 0, asyncio.Event(), inbox_of(bus)

    async def slow(delivery: Delivery, session: SessionStore) -> Outcome:
        nonlocal runs
        runs += 1
        await end.wait()
        return NOTHING

    async def is_renewed() -> bool:
        ((_, holder, idle_ms, _),) = await pending(bus, inbox)
        return holder == b"w1" and idle_ms < SILENT_S * 1000

    async with working(bus, {QuerySubmitted: slow}, "w1"):
        await bus.publish(a_query(), "open")
        await eventually(lambda: runs == 1)
        ((entry, _),) = await entries(bus, inbox)
        async with working(bus, {QuerySubmitted: slow}, "w2"):
            for _ in range(3):
                await claim(bus, inbox, "coordinator", entry, "w1")
                clock.forward(SILENT_S / 2)
                await eventually(is_renewed)
            end.set()
            await until_done(bus)
    assert runs == 1


async def test_a_stalled_workers_delivery_is_taken_over_and_its_late_commit_refused(bus: Bus) -> None:
    wake = asyncio.Event()

    async def stalled(delivery: Delivery, session: SessionStore) -> Outcome:
        await wake.wait()
        return Outcome(events=(CancellationRequested(reason="too late"),))

    quick = Seen(Outcome(events=(OUTPUT,)))
    async with working(bus, {QuerySubmitted: stalled, CancellationRequested: Seen()}, "stalled") as worker:
        _deafen(worker, bus)
        await bus.publish(a_query(), "open")
        await eventually(lambda: worker.in_flight == 1)
        async with working(bus, {QuerySubmitted: quick, CancellationRequested: Seen()}, "quick"):
            await until_done(bus)
            wake.set()
            await eventually(lambda: worker.in_flight == 0)
    assert [(d.redelivered, d.attempt) for d in quick.deliveries] == [(True, 0)]
    log = await bus.session("s1").log()
    assert [event.data for _, event in log if isinstance(event.data, CancellationRequested)] == [OUTPUT]


def _deafen(worker: Consumer, bus: Bus) -> None:
    """Stop the worker's renewals: leases in flight from now on expire."""
    leases = worker._member.leases
    leases._bus = _Mute(bus)  # type: ignore[assignment]  # all that renewing needs


class _Mute:
    """A bus whose renewals are never answered."""

    def __init__(self, bus: Bus) -> None:
        self.settings = bus.settings
        self.batcher = self

    async def run(self, *_: object) -> list[bytes]:
        return []


async def test_a_lost_lease_cancels_the_handler_and_is_not_stolen_back(clock: Clock, bus: Bus) -> None:
    """Another worker holds it with a fresh lease, so it must not be reclaimed."""
    bus.settings = bus.settings.model_copy(update={"lease_s": SILENT_S})
    begun, cancelled = asyncio.Event(), asyncio.Event()

    async def endless(delivery: Delivery, session: SessionStore) -> Outcome:
        begun.set()
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            cancelled.set()
            raise
        return Outcome(events=(OUTPUT,))

    async with working(bus, {QuerySubmitted: endless}, "w1", concurrency=1) as worker:
        await bus.publish(a_query(), "open")
        await begun.wait()
        inbox = inbox_of(bus)
        ((entry, _),) = await entries(bus, inbox)
        await claim(bus, inbox, "coordinator", entry, "thief", silent_s=0)
        clock.forward(SILENT_S / 2)
        await eventually(lambda: cancelled.is_set() and worker.in_flight == 0)
        clock.forward(SILENT_S / 2)  # long enough for a reader to look for prey
        ((_, holder, _, _),) = await pending(bus, inbox)
        assert holder == b"thief"
    assert OUTPUT.type not in await types_in_log(bus)


async def test_renewing_reports_lost_leases_and_leaves_them_alone(bus: Bus) -> None:
    for n in range(3):
        await bus.publish(a_query(query=str(n)), "open" if n == 0 else "signal")
    await silent(bus, name="me")
    inbox = inbox_of(bus)
    found = [entry.decode() for entry, _ in await entries(bus, inbox)]
    await claim(bus, inbox, "coordinator", found[1].encode(), "other", times=4)
    leases = Leases(bus, "coordinator", "me")
    leased = [Entry(inbox, entry, {}) for entry in found]
    assert [await leases.begin(entry) for entry in leased] == [True, False, True]
    counts = {entry.decode(): (holder, count) for entry, holder, _, count in await pending(bus, inbox)}
    assert counts == {found[0]: (b"me", 2), found[1]: (b"other", 4), found[2]: (b"me", 2)}
