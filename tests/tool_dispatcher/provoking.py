"""The cause of each error: a real dispatcher, and a real service if there is one."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import httpx2
import pytest
from antiphon_shared.bus.breakers import SharedBreakers
from antiphon_shared.tools.calls import ToolError
from antiphon_shared.tools.contract import Dependency, RateLimit
from pydantic import Field

from examples.local_http import Reply, serving
from tests.clock import controlled_clock
from tests.tool_dispatcher.booking_service import (
    REQUEST,
    BookingService,
    cut_off_long_ago,
    is_asked_again,
    over_a_wire,
    taken_over,
)
from tests.tool_dispatcher.builders import (
    a_bus,
    a_call,
    a_dispatcher,
    a_request,
    a_tool,
    error_in,
    results_of,
    soon,
)
from tests.tool_dispatcher.keys import an_issuer
from tool_dispatcher.authoring.context import ToolContext
from tool_dispatcher.authoring.tool import Tool, ToolFailed, tool

PATIENCE_S = 60.0
"""The timeout of calls to a running service, long enough for a busy machine."""


@tool(effect="read", example={"city": "Oslo", "days": 2})
async def forecast(city: str, days: Annotated[int, Field(ge=1, le=14)] = 3) -> str:
    """The weather of the next days."""
    if city == "Atlantis":
        raise ToolFailed("not_found", "There is no city 'Atlantis'.", "Ask for a city that is on the map.")
    if city == "oslo":
        raise ToolFailed("validation_error", "A city begins with a capital letter.")
    return f"{days} days of rain in {city}"


def raising(error: Exception, name: str = "look", effect: Any = "read", **options: Any) -> Tool:
    def fail(arguments: dict[str, Any], context: ToolContext) -> None:
        raise error

    return a_tool(name, fail, effect, **{"retry": 1, **options})


async def hang(arguments: dict[str, Any], context: ToolContext) -> None:
    await asyncio.Event().wait()


def answer(arguments: dict[str, Any], context: ToolContext) -> str:
    return "an answer"


async def last(
    tools: list[Tool], *calls: Any, allowed: Any = None, seconds: float = 60, **more: Any
) -> ToolError:
    """Return the result of the last of the calls."""
    settings = {
        name: more.pop(name) for name in ("default_scopes", "approval", "grant_key_file") if name in more
    }
    request = a_request(*calls, allowed=allowed, deadline=soon(seconds), **more)
    return error_in((await results_of(tools, request, **settings))[-1])


async def of_forecast(**arguments: Any) -> ToolError:
    return await last([forecast], a_call(name="forecast", arguments=arguments))


@asynccontextmanager
async def a_service(status: int, headers: dict[str, str] | None = None) -> AsyncIterator[Callable[..., Tool]]:
    """Run a real service that always answers so; yield a maker of tools that ask it by a real client."""
    with serving(lambda request: Reply(status, {"detail": "out of order"}, headers or {})) as url:

        def asking(effect: Any = "read", **options: Any) -> Tool:
            async def ask(arguments: dict[str, Any], context: ToolContext) -> Any:
                async with httpx2.AsyncClient(timeout=PATIENCE_S) as client:
                    response = await client.get(f"{url}/weather")
                    response.raise_for_status()
                    return response.json()

            return a_tool("look", ask, effect, **{"backoff": {"initial_ms": 1, "max_ms": 1}, **options})

        yield asking


async def of_service(status: int, effect: Any = "read", headers: Any = None, **options: Any) -> ToolError:
    async with a_service(status, headers) as asking:
        return await last([asking(effect, **options)], a_call())


# How each is provoked.


async def by_a_forged_grant(folder: Path) -> ToolError:
    (folder / "other").mkdir()
    forged, issuer = an_issuer(folder / "other").grant(), an_issuer(folder)
    return await last([forecast], a_call(name="forecast"), grant=forged, grant_key_file=issuer.key_file)


async def by_full_slots() -> ToolError:
    stuck = a_tool("look", hang, max_concurrency=1, timeout_s=3_600)
    async with a_bus() as bus, a_dispatcher(stuck, bus=bus) as dispatcher:
        first = asyncio.create_task(dispatcher.run(a_request(a_call()), session_id="s2"))
        try:
            while not await bus.client.execute_command("EXISTS", bus.keys.slots("look")):  # noqa: ASYNC110  # any slot
                await asyncio.sleep(0.005)
            other, wire = over_a_wire(bus)
            with controlled_clock() as clock:
                waiting = asyncio.create_task(
                    results_of([stuck], a_request(a_call(), deadline=soon(60)), other)
                )
                await is_asked_again(wire)
                wire.once_answered = partial(clock.forward, 60)
                (result,) = await waiting
        finally:
            first.cancel()
            await asyncio.gather(first, return_exceptions=True)
    return error_in(result)


async def by_a_rate() -> ToolError:
    often = a_tool("look", answer, rate_limit=RateLimit(calls=1, per_s=1_000))
    return await last([often], a_call("a"), a_call("b"), seconds=60)


async def by_a_crash() -> ToolError:
    service = BookingService()
    async with a_bus() as bus:
        await cut_off_long_ago(service, bus)
        return error_in(await taken_over(service, bus))


async def by_failing_often() -> ToolError:
    broken = raising(ToolFailed("api_failure", "out of order"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SharedBreakers, "_now", lambda _: 1_000.0)  # all of it happens at one moment
        return await refused_by_its_breaker(broken)


async def refused_by_its_breaker(broken: Tool) -> ToolError:
    async with a_dispatcher(broken) as dispatcher:
        for n in range(10):
            await dispatcher.run(a_request(a_call(f"c{n}")))
        (result,) = await dispatcher.run(a_request(a_call("last")))
    return error_in(result)


async def by_another_call_with_its_key() -> ToolError:
    service = BookingService()
    service.go_on.set()
    async with a_bus() as bus:
        await results_of([service.tool], REQUEST, bus)
        other = a_call("c2", "book", REQUEST.calls[0].idempotency_key, arguments={"day": 2})
        return error_in((await results_of([service.tool], a_request(other), bus))[0])


def fetching() -> list[Tool]:
    search = a_tool("search", lambda a, c: {"documents": []})
    fetch = a_tool("fetch", answer, depends_on=[Dependency(tool="search", required_fields=("id",))])
    return [search, fetch]


def writes() -> list[Tool]:
    return [
        raising(ToolFailed("not_found", "No such flight."), "book", "write"),
        a_tool("mail", answer, "write"),
    ]
