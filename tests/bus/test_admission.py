"""Waiting queries: the order of their admission, their number, and their deadline."""

import asyncio
from collections import Counter
from datetime import timedelta

import pytest
from antiphon_shared.bus.admission import Admission
from antiphon_shared.bus.handling import Outcome
from antiphon_shared.bus.redis_bus import Bus, Published
from antiphon_shared.bus.signing import Signer
from antiphon_shared.events import AnyEvent, QuerySubmitted
from antiphon_shared.events.session import QueryOptions
from antiphon_shared.process.clock import utc_now

from tests.bus.builders import Seen, dead_letters, eventually, session_in, types_in_log, working
from tests.bus.test_intake import keys_of_waiting
from tests.envelopes import an_event


def a_query_named(session_id: str, deadline_s: float | None = None, age_s: float = 0.0) -> AnyEvent:
    query = QuerySubmitted(query="Why?", options=QueryOptions(deadline_s=deadline_s))
    event: AnyEvent = an_event(query, session_id)
    return event.model_copy(update={"time": utc_now() - timedelta(seconds=age_s)})


class PartitionUnderTest:
    """Partition 0 of a bus: submits queries by tenant and returns the order of their admission."""

    def __init__(self, bus: Bus, weights: dict[str, float] | None = None) -> None:
        self.bus, self.admission = bus, Admission(bus, weights or {})
        self._count = 0

    def names(self, tenant: str, count: int) -> list[str]:
        """Return session ids that name the tenant, in partition 0."""
        found: list[str] = []
        while len(found) < count:
            name = f"{tenant}.{self._count}"
            self._count += 1
            if self.bus.keys.partition(name) == 0:
                found.append(name)
        return found

    async def submit(self, tenant: str, count: int = 1) -> list[Published]:
        return [
            await self.bus.publish(a_query_named(name, age_s=60 - self._count / 1000), "open", tenant=tenant)
            for name in self.names(tenant, count)
        ]

    async def admit(self, places: int) -> list[str]:
        """Return tenants in the order of their admission, after a number of sessions have closed."""
        before = len(await self.logged())
        self.set_bounds(max_open_sessions=await self._open() + places)
        await self.admission.admit(0)
        return [name.partition(".")[0] for name in (await self.logged())[before:]]

    def set_bounds(self, **bounds: int) -> None:
        self.bus.settings = self.bus.settings.model_copy(update=bounds)

    async def _open(self) -> int:
        return int(await self.bus.batcher.submit("ZCARD", self.bus.keys.open_sessions(0)))

    async def logged(self) -> list[str]:
        feed = await self.bus.batcher.submit("XRANGE", self.bus.keys.feed(0), "-", "+")
        return [fields[b"session"].decode() for _, fields in feed]


@pytest.fixture
async def full(bus: Bus) -> PartitionUnderTest:
    """Return an intake without room."""
    partition = PartitionUnderTest(bus)
    partition.set_bounds(max_open_sessions=1)
    assert await partition.submit("first") == ["sent"]
    return partition


async def test_a_session_is_indexed_by_the_time_of_its_first_log_entry(full: PartitionUnderTest) -> None:
    """One clock is used for sessions admitted at once and for those that waited."""
    await full.submit("late")
    await full.admit(1)
    keys, ask = full.bus.keys, full.bus.batcher.submit
    for tenant in ("first", "late"):
        (name,) = [one for one in await full.logged() if one.startswith(tenant)]
        ((entry, _),) = await ask("XRANGE", keys.log(name), "-", "+")
        for key in (keys.sessions(0), keys.open_sessions(0)):
            assert float(await ask("ZSCORE", key, name)) == int(entry.split(b"-")[0])


async def test_a_new_query_does_not_overtake_waiting_ones_when_slots_are_free(
    full: PartitionUnderTest,
) -> None:
    assert await full.submit("late") == ["waiting"]
    full.set_bounds(max_open_sessions=10)
    assert await full.submit("later") == ["waiting"]
    assert await full.admit(10) == ["late", "later"]
    assert await full.submit("last") == ["sent"]


async def test_tenants_take_turns_regardless_of_their_number_of_queries(full: PartitionUnderTest) -> None:
    await full.submit("big", 20)
    await full.submit("small", 2)
    assert await full.admit(6) == ["big", "small", "big", "small", "big", "big"]


async def test_the_queries_of_a_tenant_are_admitted_in_their_order_of_submission(
    full: PartitionUnderTest,
) -> None:
    early, late = full.names("big", 2)
    await full.bus.publish(a_query_named(late, age_s=1), "open", tenant="big")
    await full.bus.publish(a_query_named(early, age_s=2), "open", tenant="big")
    await full.admit(1)
    assert await types_in_log(full.bus, early) == [QuerySubmitted.type]
    assert await types_in_log(full.bus, late) == []


async def test_a_weight_is_a_number_of_turns(full: PartitionUnderTest) -> None:
    full.admission = Admission(full.bus, {"gold": 4, "trial": 0.5})
    for tenant in ("gold", "plain", "trial"):
        await full.submit(tenant, 40)
    assert Counter(await full.admit(55)) == {"gold": 40, "plain": 10, "trial": 5}


async def test_a_new_tenant_has_saved_up_no_turns(full: PartitionUnderTest) -> None:
    await full.submit("big", 30)
    assert await full.admit(10) == ["big"] * 10
    await full.submit("anew", 10)
    assert await full.admit(5) == ["anew", "anew", "big", "anew", "big"]


async def test_a_tenant_that_submits_one_by_one_gains_no_advantage(full: PartitionUnderTest) -> None:
    """Its line is empty each time, and its name comes first in the alphabet."""
    await full.submit("big", 30)
    seen: list[str] = []
    for _ in range(20):
        if await full.bus.batcher.submit("ZCARD", full.bus.keys.waiting(0, "a")) == 0:
            await full.submit("a")
        seen += await full.admit(1)
    assert Counter(seen) == {"a": 10, "big": 10}


async def test_beyond_the_bound_only_tenants_below_their_share_are_accepted(
    full: PartitionUnderTest,
) -> None:
    full.set_bounds(max_waiting_sessions=6)
    assert await full.submit("big", 8) == ["waiting"] * 6 + ["overloaded"] * 2
    assert await full.submit("small", 5) == ["waiting"] * 3 + ["overloaded"] * 2
    assert await full.submit("third", 3) == ["waiting"] * 2 + ["overloaded"]
    assert await full.submit("fourth", 2) == ["waiting", "overloaded"], "twice the bound is all there is"
    assert await full.submit("fifth") == ["overloaded"]
    await full.admit(12)
    assert await full.submit("big", 2) == ["waiting"] * 2


async def test_a_query_past_its_deadline_is_admitted_at_once_without_using_a_slot(
    full: PartitionUnderTest,
) -> None:
    patient, hasty = full.names("big", 2)
    await full.bus.publish(a_query_named(patient, deadline_s=3_600, age_s=60), "open", tenant="big")
    await full.bus.publish(a_query_named(hasty, deadline_s=30, age_s=60), "open", tenant="big")
    assert list(await full.admission.admit(0)) == [1, 1]
    assert await types_in_log(full.bus, hasty) == [QuerySubmitted.type]
    assert await full.admit(1) == ["big"]
    assert await keys_of_waiting(full.bus) == []


async def test_a_query_without_a_deadline_waits_for_the_default_one(full: PartitionUnderTest) -> None:
    first, second = full.names("big", 2)
    await full.bus.publish(a_query_named(first, age_s=60), "open", tenant="big", deadline_s=59)
    await full.bus.publish(a_query_named(second, age_s=60), "open", tenant="big", deadline_s=600)
    assert list(await full.admission.admit(0)) == [1, 1]


async def test_no_query_waits_for_longer_than_a_session_may_take(full: PartitionUnderTest) -> None:
    """A session's time is cut to half of the retention: the refusal of a longer wait would come too late."""
    full.set_bounds(retention_s=100)
    by_default, named = full.names("big", 2)
    await full.bus.publish(a_query_named(by_default, age_s=51), "open", tenant="big", deadline_s=300)
    await full.bus.publish(a_query_named(named, deadline_s=3_600, age_s=51), "open", tenant="big")
    assert list(await full.admission.admit(0)) == [2, 0]


async def test_a_submission_that_already_waits_is_reported_as_known(full: PartitionUnderTest) -> None:
    (name,) = full.names("big", 1)
    results = [
        await full.bus.publish(a_query_named(name), "open", tenant=tenant)
        for tenant in ("big", "other", "default")
    ]
    assert results == ["waiting", "known", "known"]
    assert await full.admit(5) == ["big"]
    assert await full.bus.publish(a_query_named(name), "open", tenant="big") == "known"
    assert await keys_of_waiting(full.bus) == []


async def test_concurrent_admissions_open_each_session_once(full: PartitionUnderTest) -> None:
    for tenant in ("a", "b", "c"):
        await full.submit(tenant, 20)
    full.set_bounds(max_open_sessions=41)
    others = [Admission(full.bus, {}) for _ in range(5)]
    await asyncio.gather(*(one.admit(0) for one in others for _ in range(4)))
    logged = await full.logged()
    assert len(set(logged)) == len(logged) == 41
    assert Counter(name[0] for name in logged[1:]) == {"a": 14, "b": 13, "c": 13}


async def test_an_admitted_submission_keeps_the_signatures_of_its_arrival(bus: Bus) -> None:
    bus.signer = Signer((b"a key of 16 bytes",))
    bus.settings = bus.settings.model_copy(update={"max_open_sessions": 1})
    seen = Seen(Outcome(closes_session=True))
    names = [session_in(bus.keys, 0, n) for n in range(3)]
    for name in names:
        await bus.publish(a_query_named(name), "open", tenant="big")
    duty = asyncio.create_task(Admission(bus, {}).run())
    async with working(bus, {QuerySubmitted: seen}):
        await eventually(lambda: len(seen.deliveries) == 3)
    duty.cancel()
    assert [await types_in_log(bus, name) for name in names] == [[QuerySubmitted.type]] * 3
    assert await dead_letters(bus) == 0


async def test_keys_damaged_by_foreign_programs_stop_no_process(full: PartitionUnderTest) -> None:
    """A tenant's queue of another type, a malformed record, and a record that is in no queue."""
    keys, submit = full.bus.keys, full.bus.batcher.submit
    (spoilt,) = full.names("spoilt", 1)
    await full.bus.publish(a_query_named(spoilt, deadline_s=80_000), "open", tenant="spoilt")
    await submit("DEL", keys.waiting(0, "spoilt"))
    await submit("SET", keys.waiting(0, "spoilt"), "a string")
    (odd,) = full.names("odd", 1)
    await full.bus.publish(a_query_named(odd), "open", tenant="odd")
    await submit("HSET", keys.queries_waiting(0), odd, "no record")
    await full.submit("well", 2)
    assert await full.admit(10) == ["well", "well"]
    assert await dead_letters(full.bus) == 1
    await submit("ZADD", keys.waiting_deadlines(0), 0, spoilt)
    await full.admission.admit(0)
    assert await types_in_log(full.bus, spoilt) == [QuerySubmitted.type]


async def test_a_key_of_another_type_is_waited_out(full: PartitionUnderTest) -> None:
    await full.submit("big", 2)
    inbox = full.bus.keys.inbox(0, "coordinator")
    await full.bus.batcher.submit("RENAME", inbox, f"{inbox}:aside")
    await full.bus.batcher.submit("SET", inbox, "a string")
    full.set_bounds(max_open_sessions=10)
    with pytest.raises(Exception, match="WRONGTYPE"):
        await full.admission.admit(0)
    await full.bus.batcher.submit("DEL", inbox)
    assert await full.admit(5) == ["big", "big"]
