"""One attempt at a call is let in by every bound of its tool, over all dispatchers."""

import asyncio
from typing import Any

import pytest
from redis.exceptions import ConnectionError as ConnectionLost

from shared.bus.redis_bus import Bus
from shared.contract import RateLimit
from tests.tool_dispatcher.builders import (
    Ledger,
    a_bus,
    a_call,
    a_dispatcher,
    a_request,
    a_tool,
    error_in,
    soon,
)
from tool_dispatcher.authoring.context import ToolContext


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
        request = a_request(a_call("a"), a_call("b"), deadline=soon(1))
        first = await one.run(request)
        second = await other.run(request, session_id="s2")
    assert {result.status for result in first} == {"ok"}
    assert {error_in(result).error_type for result in second} == {"rate_limit"}


async def test_where_the_bound_cannot_be_asked_for_nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = Ledger()

    async def away(*_: Any) -> Any:
        raise ConnectionLost("nobody there")

    bounded = a_tool("look", ledger.tool("x").function, max_concurrency=1, retry=1)
    async with a_bus() as bus, a_dispatcher(bounded, bus=bus) as dispatcher:
        monkeypatch.setattr(bus.batcher, "run", away)  # scripts fail; the journal, which needs none, does not
        (result,) = await dispatcher.run(a_request(a_call(), deadline=soon(0.2)))
    assert error_in(result).error_type == "api_failure"
    assert "The call was not run" in error_in(result).message
    assert not ledger.effects
