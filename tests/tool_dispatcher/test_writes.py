"""Writes are made once and reported the same, under repetition, concurrency, or loss of Redis at any point."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.process.settings import BusSettings
from antiphon_shared.tools.journal import outcomes
from redis.exceptions import ConnectionError as ConnectionLost

from tests.clock import Clock
from tests.tool_dispatcher.booking_service import (
    KEY,
    REQUEST,
    BookingService,
    end_lease,
    is_asked_again,
    over_a_wire,
    taken_over,
)
from tests.tool_dispatcher.builders import (
    Dispatcher,
    Ledger,
    a_bus,
    a_call,
    a_dispatcher,
    a_request,
    a_tool,
    error_in,
    noted,
    results_of,
    soon,
    until,
)
from tests.tool_dispatcher.idempotency.builders import BreakableWire
from tests.tool_dispatcher.keys import an_issuer
from tool_dispatcher.authoring.context import ToolContext
from tool_dispatcher.idempotency.ledger import Ledger as WriteLedger

DAY_S = 86_400


class TestSettled:
    @pytest.mark.parametrize("answer", ["booked", None, 0, {"a": [1, None]}], ids=str)
    async def test_a_settled_write_returns_its_result_without_running(self, bus: Bus, answer: Any) -> None:
        service = BookingService()
        service.returns = answer
        service.go_on.set()
        (first,) = await results_of([service.tool], REQUEST, bus)
        again = await taken_over(service, bus)
        assert (first.status, first.data) == ("ok", answer)
        assert again == first
        assert len(service.runs) == 1

    async def test_a_write_is_not_repeated_when_the_journal_of_the_batch_is_lost(self, bus: Bus) -> None:
        service = BookingService()
        service.returns = None
        service.go_on.set()
        (first,) = await results_of([service.tool], REQUEST, bus)
        await bus.batcher.submit("DEL", bus.keys.of_session("s1", "journal:1"))
        assert await taken_over(service, bus) == first
        assert len(service.runs) == 1

    async def test_a_settled_write_returns_its_final_error(self, bus: Bus) -> None:
        service = BookingService()
        service.go_on.set()

        def fail(arguments: dict[str, Any], context: ToolContext) -> None:
            service.runs.append(context)
            raise ValueError("no such flight")

        (first,) = await results_of([a_tool("book", fail, "write")], REQUEST, bus)
        assert await taken_over(service, bus) == first
        assert "no such flight" in error_in(first).message
        assert len(service.runs) == 1

    async def test_the_key_of_another_call_is_refused_without_its_result(self, bus: Bus) -> None:
        service = BookingService()
        service.go_on.set()
        await results_of([service.tool], REQUEST, bus)
        other = a_request(a_call("c2", "book", KEY, arguments={"other": 1}))
        (result,) = await results_of([service.tool], other, bus)
        error = error_in(result)
        assert error.error_type == "validation_error"
        assert "was used before for another call" in error.message
        assert len(service.runs) == 1

    async def test_the_record_of_a_write_outlives_a_session_of_any_length(self) -> None:
        service = BookingService()
        service.go_on.set()
        async with a_bus() as bus:
            bus.settings = BusSettings(retention_s=5 * DAY_S)
            late = a_request(a_call(name="book"), deadline=soon(DAY_S))
            await results_of([service.tool], late, bus)
            life_ms = await bus.batcher.submit("PTTL", bus.keys.effect("s1", KEY))
        assert life_ms > (6 * DAY_S - 60) * 1_000

    async def test_a_settled_result_is_not_shown_after_the_grant_has_expired(
        self, bus: Bus, tmp_path: Path
    ) -> None:
        service, issuer = BookingService(), an_issuer(tmp_path)
        service.go_on.set()
        good, ended = issuer.grant(), issuer.grant(lasts_s=-60)
        dispatcher = Dispatcher([service.tool], bus, grant_key_file=issuer.key_file)
        (first,) = await dispatcher.run(a_request(a_call(name="book"), grant=good))
        (again,) = await dispatcher.run(a_request(a_call(name="book"), grant=ended), redelivered=True)
        (later,) = await dispatcher.run(a_request(a_call(name="book"), grant=good), redelivered=True)
        await dispatcher.close()
        error = error_in(again)
        assert error.error_type == "permission_denied"
        assert "book was called earlier, and its result must no longer be shown" in error.message
        assert "The session's grant ended at" in error.message
        assert "Do not call it again: it may have taken effect" in error.suggested_action
        assert later == first
        assert len(service.runs) == 1


class TestAtOnce:
    """Two dispatchers have the same batch in flight."""

    async def test_two_concurrent_dispatchers_agree_and_write_once(self, bus: Bus) -> None:
        ledger = Ledger()
        tools = [ledger.tool("look"), ledger.tool("book", "write")]
        calls = [a_call("a"), *(a_call(f"b{n}", "book") for n in range(5))]
        first, second = await asyncio.gather(
            results_of(tools, a_request(*calls), bus),
            results_of(tools, a_request(*calls), bus, redelivered=True),
        )
        assert first == second == outcomes(await noted(bus))
        written = {key: times for key, times in ledger.effects.items() if "/b" in key}
        assert written == {f"default/s1/1/b{n}": 1 for n in range(5)}

    async def test_a_second_worker_waits_for_the_first(self, bus: Bus) -> None:
        service = BookingService()
        first = asyncio.create_task(results_of([service.tool], REQUEST, bus))
        await service.begun.wait()
        other, wire = over_a_wire(bus)
        second = asyncio.create_task(results_of([service.tool], REQUEST, other, redelivered=True))
        await is_asked_again(wire)
        assert not second.done()
        service.go_on.set()
        assert await first == await second
        assert len(service.runs) == 1

    async def test_a_worker_without_time_to_wait_reports_that_the_write_may_still_take_effect(
        self, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # Its patience is longer than the clock is put forward by.
        monkeypatch.setitem(WriteLedger.__init__.__kwdefaults__ or {}, "patience_s", 3_600)
        service = BookingService(timeout_s=3_600)
        async with a_bus() as bus:
            first = asyncio.create_task(results_of([service.tool], REQUEST, bus))
            await service.begun.wait()
            hurried = a_request(a_call(name="book"), deadline=soon(60))
            other, wire = over_a_wire(bus)
            waiting = asyncio.create_task(results_of([service.tool], hurried, other, redelivered=True))
            await is_asked_again(wire)
            wire.once_answered = partial(clock.forward, 60)
            (result,) = await waiting
            error = error_in(result)
            assert error.error_type == "outcome_unknown"
            assert "still being run by another dispatcher" in error.message
            service.go_on.set()
            await first
        assert len(service.runs) == 1


class TestRedisAway:
    """At no point does losing Redis make a second effect."""

    @pytest.fixture
    async def wired(self) -> AsyncIterator[tuple[Bus, BreakableWire]]:
        """Yield a bus whose shared commands all use a connection that can be broken."""
        async with a_bus() as bus:
            yield over_a_wire(bus)

    @pytest.mark.parametrize("lost", [1, 2, 3, 5])
    async def test_lost_replies_never_make_a_second_effect(
        self, wired: tuple[Bus, BreakableWire], lost: int
    ) -> None:
        bus, wire = wired
        service = BookingService()
        wire.replies_to_lose = lost
        running = asyncio.create_task(results_of([service.tool], REQUEST, bus))
        await service.begun.wait()
        wire.replies_to_lose = lost
        service.go_on.set()
        (result,) = await running
        assert (result.data, len(service.runs)) == ("booked", 1)
        assert await taken_over(service, bus) == result
        assert len(service.runs) == 1

    async def test_a_completed_write_waits_for_redis_and_is_settled(
        self, wired: tuple[Bus, BreakableWire]
    ) -> None:
        bus, wire = wired
        service = BookingService()
        running = asyncio.create_task(results_of([service.tool], REQUEST, bus))
        await service.begun.wait()
        wire.is_away = True
        service.go_on.set()
        await is_asked_again(wire)
        assert not running.done()
        wire.is_away = False
        (result,) = await running
        assert result.data == "booked"
        assert await taken_over(service, bus) == result
        assert len(service.runs) == 1

    async def test_a_worker_that_ends_while_redis_is_away_leaves_an_unknown_outcome(
        self, wired: tuple[Bus, BreakableWire]
    ) -> None:
        bus, wire = wired
        service = BookingService()
        running = asyncio.create_task(results_of([service.tool], REQUEST, bus))
        await service.begun.wait()
        wire.is_away = True
        service.go_on.set()
        await is_asked_again(wire)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        wire.is_away = False
        await end_lease(bus, KEY)
        assert error_in(await taken_over(service, bus)).error_type == "outcome_unknown"
        assert len(service.runs) == 1

    async def test_without_redis_no_write_runs(self, wired: tuple[Bus, BreakableWire]) -> None:
        bus, wire = wired
        service = BookingService()
        service.go_on.set()
        wire.is_away = True
        running = asyncio.create_task(results_of([service.tool], REQUEST, bus))
        await until(lambda: wire.attempts > 3)
        assert not service.runs
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert not service.runs

    @pytest.mark.parametrize(
        ("redelivered", "error_type", "message"),
        [
            (False, "api_failure", "the ledger of writes cannot be reached. Nothing has changed."),
            (True, "outcome_unknown", "book may have been run before"),
        ],
        ids=["nobody has begun", "somebody may have begun"],
    )
    async def test_a_ledger_that_cannot_be_asked_is_an_error(
        self, redelivered: bool, error_type: str, message: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async def away(*_: Any) -> Any:
            raise ConnectionLost("nobody there")

        service = BookingService()
        service.go_on.set()
        monkeypatch.setattr("tool_dispatcher.component.Ledger", partial(WriteLedger, patience_s=0.05))
        async with a_bus() as bus, a_dispatcher(service.tool, bus=bus) as dispatcher:
            monkeypatch.setattr(
                bus.batcher, "run", away
            )  # scripts fail; the journal, which needs none, does not
            (result,) = await dispatcher.run(REQUEST, redelivered)
        error = error_in(result)
        assert error.error_type == error_type
        assert message in error.message
        assert not service.runs
