"""A dispatcher ends in the middle of a batch, and another one takes it over when the lease is over."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.tools.journal import begun_entry, outcomes

from tests.tool_dispatcher.booking_service import (
    KEY,
    REQUEST,
    BookingService,
    cut_off,
    cut_off_long_ago,
    end_lease,
    is_asked_again,
    over_a_wire,
    taken_over,
)
from tests.tool_dispatcher.builders import (
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
from tests.tool_dispatcher.keys import an_issuer
from tool_dispatcher.authoring.reconcile import NO_EFFECT, TookEffect
from tool_dispatcher.authoring.tool import Tool


@pytest.fixture
async def bus() -> AsyncIterator[Bus]:
    async with a_bus() as own:
        yield own


class TestCutOff:
    async def test_a_write_cut_off_is_only_noted_as_begun(self, bus: Bus) -> None:
        await cut_off_long_ago(BookingService(), bus)
        assert set(await noted(bus)) == {begun_entry("c1")}

    async def test_an_idempotent_write_runs_again_with_its_key_and_a_higher_fence(self, bus: Bus) -> None:
        service = BookingService(idempotent=True)
        await cut_off_long_ago(service, bus)
        assert (await taken_over(service, bus)).data == "booked"
        assert [(run.idempotency_key, run.fence, run.attempt) for run in service.runs] == [
            (KEY, 1, 1),
            (KEY, 2, 2),
        ]

    async def test_a_write_is_not_taken_over_before_its_lease_expires(self, bus: Bus) -> None:
        service = BookingService(idempotent=True)
        await cut_off(service, bus)
        other, wire = over_a_wire(bus)
        waiting = asyncio.create_task(taken_over(service, other))
        await is_asked_again(wire)
        assert not waiting.done()
        await end_lease(bus, KEY)
        assert (await waiting).data == "booked"

    @pytest.mark.parametrize(
        ("reply", "data", "runs"),
        [(TookEffect({"id": 7}), {"id": 7}, 1), (TookEffect(), None, 1), (NO_EFFECT, "booked", 2)],
        ids=["took effect", "took effect, without a result", "no effect"],
    )
    async def test_a_reconcilable_write_is_reconciled_after_a_takeover(
        self, bus: Bus, reply: Any, data: Any, runs: int
    ) -> None:
        asked: list[Any] = []

        async def reconcile(key: str, arguments: dict[str, Any]) -> Any:
            asked.append((key, arguments))
            return reply

        service = BookingService(reconcile=reconcile)
        await cut_off_long_ago(service, bus)
        result = await taken_over(service, bus)
        assert (result.status, result.data) == ("ok", data)
        assert (len(service.runs), asked) == (runs, [(KEY, {})])
        assert await taken_over(service, bus) == result
        assert len(asked) == 1

    @pytest.mark.parametrize(
        "reconcile",
        [lambda key, arguments: None, lambda key, arguments: 1 / 0, lambda key, arguments: "yes", None],
        ids=["cannot tell", "breaks", "says what is not known", "cannot be asked"],
    )
    async def test_an_unknown_outcome_is_reported_and_the_write_never_runs_again(
        self, bus: Bus, reconcile: Callable[..., Any] | None
    ) -> None:
        service = BookingService(reconcile=reconcile)
        await cut_off_long_ago(service, bus)
        result = await taken_over(service, bus)
        assert error_in(result).error_type == "outcome_unknown"
        assert "It may or may not have taken effect" in error_in(result).message
        assert await taken_over(service, bus) == result
        assert len(service.runs) == 1

    async def test_a_reconcile_that_hangs_is_given_up_and_its_thread_is_not_lost(self, bus: Bus) -> None:
        end = threading.Event()
        service = BookingService(reconcile=lambda key, arguments: end.wait(20), timeout_s=0.2)
        plain = a_tool("look", lambda a, c: "there is a thread")
        await cut_off_long_ago(service, bus)
        async with a_dispatcher(service.tool, plain, bus=bus, threads=1) as dispatcher:
            (result,) = await dispatcher.run(REQUEST, redelivered=True)
            (looked,) = await dispatcher.run(a_request(a_call("d"), deadline=soon(60)))
            end.set()
        assert error_in(result).error_type == "outcome_unknown"
        assert looked.data == "there is a thread"

    async def test_a_read_cut_off_runs_again(self, bus: Bus) -> None:
        service = BookingService()
        look = a_tool("book", service.book)
        async with a_dispatcher(look, bus=bus) as dispatcher:
            dying = asyncio.create_task(dispatcher.run(REQUEST))
            await service.begun.wait()
            dying.cancel()
            with pytest.raises(asyncio.CancelledError):
                await dying
            service.go_on.set()
            (result,) = await dispatcher.run(REQUEST, redelivered=True)
        assert result.data == "booked"
        assert [run.attempt for run in service.runs] == [1, 2]

    async def test_only_unsettled_calls_run_after_a_takeover(self, bus: Bus) -> None:
        ledger, service = Ledger(), BookingService(idempotent=True, error_propagation="partial-success")
        tools = [ledger.tool("look"), service.tool]
        calls = a_call("a"), a_call("c1", "book")
        async with a_dispatcher(*tools, bus=bus) as dispatcher:
            dying = asyncio.create_task(dispatcher.run(a_request(*calls)))

            async def has_settled_one() -> bool:
                return service.begun.is_set() and len(outcomes(await noted(bus))) == 1

            await until(has_settled_one)
            dying.cancel()
            with pytest.raises(asyncio.CancelledError):
                await dying
            service.go_on.set()
            await end_lease(bus, KEY)
            looked, booked = await dispatcher.run(a_request(*calls), redelivered=True)
        assert (looked.data["times"], booked.data) == (1, "booked")
        assert ledger.effects == {"default/s1/1/a": 1}


class TestUnknownAfterTakeover:
    """A write has begun, and its next worker must not, or cannot, find out its outcome."""

    async def test_an_expired_grant_does_not_claim_that_the_write_was_not_run(
        self, bus: Bus, tmp_path: Path
    ) -> None:
        service, issuer = BookingService(idempotent=True), an_issuer(tmp_path)
        await cut_off_long_ago(service, bus)
        async with a_dispatcher(service.tool, bus=bus, grant_key_file=issuer.key_file) as dispatcher:
            request = a_request(a_call(name="book"), grant=issuer.grant(lasts_s=-60))
            (result,) = await dispatcher.run(request, redelivered=True)
        error = error_in(result)
        assert error.error_type == "outcome_unknown"
        assert "book was begun by a dispatcher that stopped" in error.message
        assert "grant ended" in error.message
        assert len(service.runs) == 1

    async def test_an_outcome_is_unknown_when_the_tool_is_gone_or_has_other_arguments(self, bus: Bus) -> None:
        service = BookingService()
        await cut_off_long_ago(service, bus)
        (result,) = await results_of([], REQUEST, bus, redelivered=True)
        assert error_in(result).error_type == "outcome_unknown"
        assert "this dispatcher has no such tool" in error_in(result).message

        stricter = Tool(
            "book", "Books.", {"required": ["day"]}, lambda a, c: service.runs.append(c), effect="write"
        )
        async with a_bus() as another:
            service.begun.clear()
            service.go_on.clear()
            await cut_off_long_ago(service, another)
            (result,) = await results_of([stricter], REQUEST, another, redelivered=True)
        assert error_in(result).error_type == "outcome_unknown"
        assert "The arguments of book are not valid" in error_in(result).message
        assert len(service.runs) == 2
