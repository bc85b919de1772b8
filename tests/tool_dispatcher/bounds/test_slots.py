"""At most a bounded number of calls of a tool at once: in one process, over several, and after any failure."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import pytest
from antiphon_shared.bus.batcher import Batcher
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.process.settings import BusSettings

from tests.bus.builders import Proxy, a_bus, eventually
from tests.clock import Clock
from tests.flows.starting import Forked
from tests.redis_server import RedisServer
from tests.tool_dispatcher.booking_service import is_asked_again
from tests.tool_dispatcher.bounds import process
from tests.tool_dispatcher.bounds.batchers import Counting, Failing
from tests.tool_dispatcher.bounds.processes import a_process, run_several
from tests.tool_dispatcher.idempotency.builders import a_wire
from tool_dispatcher.bounds import slots as slots_module
from tool_dispatcher.bounds.refusals import BoundUnknown, NoSlot
from tool_dispatcher.bounds.slots import Slots

LONG_S = 60.0
LEASE_S = 600.0
"""A frozen process does not lose its slot."""
BRIEF_S = 0.1


class Calls:
    """Calls of a tool, the number in flight, and their order."""

    def __init__(self, slots: Slots, max_concurrency: int) -> None:
        self.under_way = self.most = 0
        self.began: list[str] = []
        self._slots, self._max = slots, max_concurrency

    async def call(self, name: str, end: asyncio.Event | None = None, wait_s: float = LONG_S) -> None:
        async with self._slots.hold("t", self._max, wait_s):
            self.began.append(name)
            self.under_way += 1
            self.most = max(self.most, self.under_way)
            await (end.wait() if end is not None else asyncio.sleep(0))
            self.under_way -= 1


@pytest.fixture
async def slots(bus: Bus) -> Slots:
    return Slots(bus.batcher, bus.keys, LEASE_S)


async def in_redis(bus: Bus) -> int:
    count: int = await bus.batcher.submit("ZCARD", bus.keys.slots("t"))
    return count


async def until_all_are_free(bus: Bus) -> None:
    """Wait until Redis has freed all slots: callers do not wait for the release."""

    async def are_free() -> bool:
        return await in_redis(bus) == 0

    await eventually(are_free)


async def test_no_more_calls_run_at_once_than_allowed_and_all_run(bus: Bus, slots: Slots) -> None:
    calls = Calls(slots, 3)
    await asyncio.gather(*(calls.call(str(n)) for n in range(50)))
    assert (calls.most, len(calls.began)) == (3, 50)
    await until_all_are_free(bus)


async def test_calls_are_served_in_their_order_of_arrival(bus: Bus, slots: Slots) -> None:
    calls = Calls(slots, 2)
    await asyncio.gather(*(calls.call(f"{n:02}") for n in range(20)))
    assert calls.began == sorted(calls.began)
    await until_all_are_free(bus)


async def test_waiting_calls_share_one_request(bus: Bus) -> None:
    counting = Counting(bus.batcher)
    slots = Slots(counting, bus.keys, LEASE_S)
    calls, end = Calls(slots, 10), asyncio.Event()
    running = [asyncio.create_task(calls.call(str(n), end)) for n in range(10)]
    await eventually(lambda: calls.under_way == 10)
    end.set()
    await asyncio.gather(*running)
    assert counting.asked == [2 + 10]
    await until_all_are_free(bus)


async def test_a_slot_is_passed_on_within_a_process_without_redis(
    bus: Bus, slots: Slots, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is the same one all along."""
    monkeypatch.setattr(slots_module, "_PASSED_ON_S_MAX", LONG_S)
    names: set[bytes] = set()

    async def call() -> None:
        async with slots.hold("t", 1, LONG_S):
            names.update(await bus.batcher.submit("ZRANGE", bus.keys.slots("t"), 0, -1))

    await asyncio.gather(*(call() for _ in range(20)))
    assert len(names) == 1
    await until_all_are_free(bus)


async def test_a_slot_passed_on_for_long_is_returned_to_redis(
    bus: Bus, slots: Slots, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or the queues of other processes would never move."""
    monkeypatch.setattr(slots_module, "_PASSED_ON_S_MAX", 0.05)
    is_over = asyncio.Event()
    calls, other = Calls(slots, 1), Slots(bus.batcher, bus.keys, LEASE_S)

    async def keep_calling() -> None:
        while not is_over.is_set():
            await calls.call("greedy")

    greedy = [asyncio.create_task(keep_calling()) for _ in range(3)]
    await eventually(lambda: len(calls.began) > 5)
    for _ in range(3):
        async with other.hold("t", 1, LONG_S):
            pass
    is_over.set()
    await asyncio.gather(*greedy)
    assert calls.most == 1
    await until_all_are_free(bus)


async def test_a_call_that_waits_too_long_receives_an_error_and_leaves_the_queue(
    bus: Bus, clock: Clock
) -> None:
    wire = a_wire(bus)
    calls, end = Calls(Slots(Batcher(wire), bus.keys, LEASE_S), 1), asyncio.Event()
    first = asyncio.create_task(calls.call("first", end))
    await eventually(lambda: calls.under_way == 1)
    second = asyncio.create_task(calls.call("second"))
    await is_asked_again(wire)
    wire.once_answered = partial(clock.forward, LONG_S)
    with pytest.raises(NoSlot) as refused:
        await second
    error = refused.value.error
    assert error.error_type == "rate_limit"
    assert (
        error.message
        == "t runs at most 1 at once, and no slot became free within 60 s. The call was not run."
    )
    assert "fewer calls at once" in error.suggested_action
    end.set()
    await first
    await calls.call("third")
    assert calls.began == ["first", "third"]
    await until_all_are_free(bus)


@pytest.mark.parametrize("yields", range(12))
async def test_a_call_that_is_cancelled_keeps_no_slot(bus: Bus, slots: Slots, yields: int) -> None:
    """At any point: in the queue, while Redis answers, or in flight."""
    calls = Calls(slots, 2)
    doomed = [asyncio.create_task(calls.call(str(n), asyncio.Event())) for n in range(3)]
    for _ in range(yields):
        await asyncio.sleep(0.0005)
    for task in doomed:
        task.cancel()
    await asyncio.gather(*doomed, return_exceptions=True)
    await asyncio.gather(calls.call("a"), calls.call("b"))

    await until_all_are_free(bus)


class TestRedisAway:
    @pytest.mark.parametrize("loses_replies", [False, True])
    async def test_the_slots_wait_for_redis(self, bus: Bus, loses_replies: bool) -> None:
        """Slots whose reply was lost are found or released, so no slot is lost."""
        failing = Failing(bus.batcher, loses_replies=loses_replies)
        calls = Calls(Slots(failing, bus.keys, LEASE_S), 2)
        running = asyncio.gather(*(calls.call(str(n)) for n in range(5)))
        await eventually(lambda: len(failing.asked) > 2)
        assert calls.began == []
        failing.times = 0
        await running
        assert (calls.most, len(calls.began)) == (2, 5)
        await until_all_are_free(bus)

    @pytest.mark.parametrize("loses_replies", [False, True])
    async def test_the_call_finally_receives_an_error_that_nothing_was_run(
        self, bus: Bus, loses_replies: bool
    ) -> None:
        failing = Failing(bus.batcher, loses_replies=loses_replies)
        slots = Slots(failing, bus.keys, LEASE_S)
        with pytest.raises(BoundUnknown) as refused:
            await Calls(slots, 1).call("a", wait_s=BRIEF_S)
        assert (refused.value.error.error_type, refused.value.error.retry_after_s) == ("api_failure", None)
        assert "Redis did not answer. The call was not run." in refused.value.error.message

        await eventually(lambda: slots._queues["t"]._poller is None)
        await until_all_are_free(bus)

    async def test_a_slot_that_cannot_be_given_back_harms_no_call(
        self, redis_server: RedisServer, namespace: str
    ) -> None:
        async with Proxy(redis_server.port) as proxy, a_bus(proxy.url, namespace, BusSettings()) as bus:
            calls = Calls(Slots(bus.batcher, bus.keys, 0.5), 1)
            proxy.cut_after = b"ZREM"
            await calls.call("a")
            await eventually(lambda: proxy.cuts == 1)
            await calls.call("b")
            assert calls.began == ["a", "b"]
            await until_all_are_free(bus)


class TestProcesses:
    async def test_four_processes_together_never_exceed_the_bound(
        self, redis_server: RedisServer, namespace: str
    ) -> None:
        await run_several("count", redis_server.url, namespace)
        async with a_bus(redis_server.url, namespace, BusSettings()) as bus:
            most, done = [
                int(await bus.batcher.submit("GET", f"{namespace}:{name}")) for name in ("most", "done")
            ]
            assert done == 4 * process.TASKS * process.CALLS_OF_A_TASK
            assert most == process.MAX_CONCURRENCY
            assert await in_redis(bus) == 0

    async def test_the_slots_of_a_killed_process_come_back(
        self, redis_server: RedisServer, namespace: str
    ) -> None:
        async with (
            a_bus(redis_server.url, namespace, BusSettings()) as bus,
            holding(redis_server.url, namespace) as holder,
        ):
            calls = Calls(Slots(bus.batcher, bus.keys, LEASE_S), process.MAX_CONCURRENCY)
            first = await lives_of_slots(bus)

            async def are_renewed() -> bool:
                return not first & await lives_of_slots(bus)

            await eventually(are_renewed)  # it is alive
            holder.kill()
            await asyncio.gather(*(calls.call(str(n)) for n in range(process.MAX_CONCURRENCY)))
            await until_all_are_free(bus)


async def lives_of_slots(bus: Bus) -> set[float]:
    """Return when the slots that are held now expire."""
    leases = await bus.batcher.submit("ZRANGE", bus.keys.slots("t"), 0, -1, "WITHSCORES")
    return {float(score) for _, score in leases}


@asynccontextmanager
async def holding(url: str, namespace: str) -> AsyncIterator[Forked]:
    """Run a process that holds every slot."""
    async with a_process("hold", url, namespace) as holder:
        await eventually(lambda: holder.output.read_text() == "held\n" * process.MAX_CONCURRENCY, limit_s=60)
        yield holder.process
