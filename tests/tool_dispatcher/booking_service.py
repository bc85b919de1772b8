"""A service for bookings, and dispatchers that end in the middle of one."""

import asyncio
from copy import copy
from typing import Any

import pytest
from antiphon_shared.bus.batcher import Batcher
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.tools.calls import ToolResult

from tests.tool_dispatcher.builders import (
    a_call,
    a_dispatcher,
    a_request,
    a_tool,
    results_of,
    until,
)
from tests.tool_dispatcher.idempotency.builders import BreakableWire, a_wire
from tool_dispatcher.authoring.context import ToolContext
from tool_dispatcher.authoring.tool import Tool

KEY = "default/s1/1/c1"


class BookingService:
    """A service for bookings. Holds each until it is released, and keeps a ledger."""

    def __init__(self, **options: Any) -> None:
        self.options = options
        self.runs: list[ToolContext] = []
        self.begun, self.go_on = asyncio.Event(), asyncio.Event()
        self.returns: Any = "booked"

    async def book(self, arguments: dict[str, Any], context: ToolContext) -> Any:
        self.runs.append(context)
        self.begun.set()
        await self.go_on.wait()
        return self.returns

    @property
    def tool(self) -> Tool:
        return a_tool("book", self.book, "write", **self.options)


REQUEST = a_request(a_call(name="book"))


async def cut_off(service: BookingService, bus: Bus) -> None:
    """End the dispatcher in the middle of the write, as a crash does, without any record."""
    async with a_dispatcher(service.tool, bus=bus) as dispatcher:
        dying = asyncio.create_task(dispatcher.run(REQUEST))
        await service.begun.wait()
        dying.cancel()
        with pytest.raises(asyncio.CancelledError):
            await dying
    service.go_on.set()


async def cut_off_long_ago(service: BookingService, bus: Bus) -> None:
    """End the dispatcher, with its lease expired."""
    await cut_off(service, bus)
    await end_lease(bus, KEY)


async def end_lease(bus: Bus, key: str) -> None:
    """Let the lease of a begun write expire, as if its worker were silent."""
    await bus.batcher.submit("HSET", bus.keys.effect("s1", key), "lease_ends", 1)


async def taken_over(service: BookingService, bus: Bus) -> ToolResult:
    (result,) = await results_of([service.tool], REQUEST, bus, redelivered=True)
    return result


def over_a_wire(bus: Bus) -> tuple[Bus, BreakableWire]:
    """Return the same bus, over a connection of its own that can be broken, and counts its commands."""
    other, wire = copy(bus), a_wire(bus)
    other.batcher = other.claims = Batcher(wire)
    return other, wire


async def is_asked_again(wire: BreakableWire) -> None:
    attempts = wire.attempts
    await until(lambda: wire.attempts > attempts + 2)
