"""One attempt at a call is admitted by every bound of its tool, over all dispatchers."""

import asyncio
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.scripts import EXPIRING, Script
from antiphon_shared.process.clock import utc_now
from antiphon_shared.tools.contract import RateLimit
from antiphon_shared.tools.grant_verifier import LEEWAY
from pydantic import BaseModel, field_serializer
from redis.exceptions import ConnectionError as ConnectionLost

from tests.clock import Clock
from tests.tool_dispatcher.booking_service import is_asked_again, over_a_wire
from tests.tool_dispatcher.builders import (
    LEASE_S,
    Ledger,
    a_bus,
    a_call,
    a_dispatcher,
    a_request,
    a_tool,
    error_in,
    soon,
    until,
)
from tests.tool_dispatcher.keys import an_issuer
from tool_dispatcher.authoring.context import ToolContext
from tool_dispatcher.authoring.reconcile import TookEffect
from tool_dispatcher.idempotency.ledger import Ledger as WriteLedger
from tool_dispatcher.idempotency.port import LedgerUnavailable
from tool_dispatcher.running import attempt

KEY = "default/s2/1/c1"


async def test_a_tools_bound_holds_over_dispatchers(bus: Bus) -> None:
    running, most = 0, 0

    async def meet(arguments: dict[str, Any], context: ToolContext) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.01)
        running -= 1

    meeting = a_tool("meet", meet, max_concurrency=2)
    async with a_dispatcher(meeting, bus=bus) as one, a_dispatcher(meeting, bus=bus) as other:
        request = a_request(*(a_call(f"c{n}", "meet") for n in range(6)))
        first, second = await asyncio.gather(one.run(request), other.run(request, session_id="s2"))
    assert {result.status for result in (*first, *second)} == {"ok"}
    assert most == 2


async def test_a_rate_is_kept_over_dispatchers(bus: Bus) -> None:
    often = a_tool("look", lambda a, c: None, rate_limit=RateLimit(calls=2, per_s=1_000))
    async with a_dispatcher(often, bus=bus) as one, a_dispatcher(often, bus=bus) as other:
        request = a_request(a_call("a"), a_call("b"), deadline=soon(60))
        first = await one.run(request)
        second = await other.run(request, session_id="s2")
    assert {result.status for result in first} == {"ok"}
    assert {error_in(result).error_type for result in second} == {"rate_limit"}


async def test_nothing_runs_when_the_slot_cannot_be_requested(
    monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    ledger, asked = Ledger(), asyncio.Event()

    bounded = a_tool("look", ledger.tool("x").function, max_concurrency=1, retry=1)
    async with a_bus() as bus, a_dispatcher(bounded, bus=bus) as dispatcher:
        run = bus.batcher.run

        async def away(script: Script, *arguments: Any) -> Any:
            if script is not EXPIRING:  # the journal is there
                asked.set()
                raise ConnectionLost("nobody there")
            return await run(script, *arguments)

        monkeypatch.setattr(bus.batcher, "run", away)
        running = asyncio.create_task(dispatcher.run(a_request(a_call(), deadline=soon(60))))
        await asyncio.wait_for(asked.wait(), 60)
        clock.forward(60)
        (result,) = await running
    assert error_in(result).error_type == "api_failure"
    assert "The call was not run" in error_in(result).message
    assert not ledger.effects


class TestChecksBeforeRunning:
    """A call that has waited is looked at once more, right before it runs."""

    async def test_a_write_whose_claim_has_run_out_while_it_waited_does_not_run(
        self, monkeypatch: pytest.MonkeyPatch, clock: Clock
    ) -> None:
        """Another dispatcher may have taken it over."""
        begun, end, ran = asyncio.Event(), asyncio.Event(), list[str]()

        async def book(arguments: dict[str, Any], context: ToolContext) -> None:
            ran.append(context.session_id)
            begun.set()
            await end.wait()

        async def away(ledger: WriteLedger, claim: object) -> bool:
            raise LedgerUnavailable("nobody there")

        monkeypatch.setattr(WriteLedger, "renew", away)
        one_at_a_time = a_tool("book", book, "write", max_concurrency=1, timeout_s=3_600)
        request, other = a_request(a_call(name="book")), a_request(a_call(name="book", key=KEY))
        async with a_bus() as bus:
            watched, wire = over_a_wire(bus)
            async with a_dispatcher(one_at_a_time, bus=watched) as dispatcher:
                first = asyncio.create_task(dispatcher.run(request))
                await begun.wait()
                second = asyncio.create_task(dispatcher.run(other, session_id="s2"))
                await until(lambda: bus.client.execute_command("HGET", bus.keys.effect("s2", KEY), "state"))
                await is_asked_again(wire)  # for a slot
                clock.forward(LEASE_S)
                end.set()
                (done,), (waited,) = await asyncio.gather(first, second)
        assert (done.status, ran) == ("ok", ["s1"])
        assert error_in(waited).error_type == "api_failure"
        assert "was not run" in error_in(waited).message

    async def test_no_call_starts_after_the_grant_has_expired(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        issuer, ledger = an_issuer(tmp_path), Ledger()
        lasts, later = timedelta(minutes=5), timedelta()

        async def wait(arguments: dict[str, Any], context: ToolContext) -> None:
            nonlocal later
            later = lasts

        monkeypatch.setattr(attempt, "utc_now", lambda: utc_now() + later)
        tools = (a_tool("wait", wait, "write"), ledger.tool("book", "write"))
        grant = issuer.grant(lasts_s=(lasts - LEEWAY).total_seconds())
        request = a_request(a_call("a", "wait"), a_call("b", "book"), grant=grant)
        async with a_dispatcher(*tools, grant_key_file=issuer.key_file) as dispatcher:
            waited, booked = await dispatcher.run(request)
        assert waited.status == "ok"
        assert error_in(booked).error_type == "permission_denied"
        assert "grant has ended" in error_in(booked).message
        assert not ledger.effects


class Unwritable(BaseModel):
    """Data whose error of encoding quotes a value."""

    pin: str

    @field_serializer("pin")
    def written(self, pin: str) -> str:
        raise ValueError(f"cannot write {pin}")


async def test_an_answer_of_a_tool_that_cannot_be_written_is_quoted_without_secrets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    attempts = attempt.Attempts.__new__(attempt.Attempts)

    async def reconciled(call: object) -> TookEffect:
        return TookEffect(Unwritable(pin="hunter2-very-secret"))

    monkeypatch.setattr(attempts, "_reconciled", reconciled)
    call: Any = SimpleNamespace(arguments=SimpleNamespace(secrets=("hunter2-very-secret",)))
    with pytest.raises(RuntimeError) as refused:
        await attempts.reconcile(call)
    assert "hunter2" not in str(refused.value)
    assert refused.value.__cause__ is None
