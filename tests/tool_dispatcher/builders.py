"""Batches to run, and tools that keep a ledger of what they did."""

import asyncio
import inspect
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import fakeredis

from shared.bus.connection import Connections
from shared.bus.handling import Delivery, SessionStore
from shared.bus.keys import Keys
from shared.bus.redis_bus import Bus
from shared.clock import utc_now
from shared.contract import Effect
from shared.events import ToolsCompleted, ToolsRequested
from shared.ids import idempotency_key
from shared.settings import BusSettings
from shared.tools import RequestedCall, ToolError, ToolResult
from tests.envelopes import an_event
from tool_dispatcher.catalogue import Registry
from tool_dispatcher.component import build
from tool_dispatcher.context import ToolContext
from tool_dispatcher.settings import ToolDispatcherSettings
from tool_dispatcher.tool import Tool

DEADLINE = datetime(2099, 1, 1, tzinfo=UTC)
ANYTHING: dict[str, Any] = {"type": "object", "additionalProperties": True}


def a_tool(name: str, function: Callable[..., Any], effect: Effect = "read", **options: Any) -> Tool:
    """A tool that takes any arguments."""
    return Tool(name, f"Does {name}.", ANYTHING, function, effect=effect, **options)


class Ledger:
    """Counts what tools did, by idempotency key."""

    def __init__(self) -> None:
        self.effects: Counter[str] = Counter()

    def tool(self, name: str, effect: Effect = "read") -> Tool:
        async def enter(arguments: dict[str, Any], context: ToolContext) -> dict[str, Any]:
            self.effects[context.idempotency_key] += 1
            return {"entered": context.call_id, "times": self.effects[context.idempotency_key]}

        return a_tool(name, enter, effect)


def a_call(id: str = "c1", name: str = "look", key: str | None = None, **fields: Any) -> RequestedCall:
    return RequestedCall(
        id=id, name=name, idempotency_key=key or idempotency_key("default", "s1", 1, id), **fields
    )


def a_request(
    *calls: RequestedCall, allowed: tuple[str, ...] | None = None, deadline: datetime = DEADLINE
) -> ToolsRequested:
    names = tuple(dict.fromkeys(call.name for call in calls))
    return ToolsRequested(
        round=1, calls=calls, allowed=names if allowed is None else allowed, deadline=deadline
    )


def a_delivery(request: ToolsRequested, *, redelivered: bool = False, attempt: int = 0) -> Delivery:
    return Delivery(an_event(request), "1-0", attempt, redelivered)


@asynccontextmanager
async def a_bus(lease_s: float = 0.6) -> AsyncIterator[Bus]:
    """A bus on a fakeredis of its own."""
    client = fakeredis.FakeAsyncRedis(server=fakeredis.FakeServer(), protocol=3, legacy_responses=False)
    bus = Bus(Connections.to_fake(client), Keys(), BusSettings(lease_s=lease_s))
    await bus.open()
    yield bus
    await bus.close()


async def results_of(
    tools: list[Tool],
    request: ToolsRequested,
    bus: Bus | None = None,
    redelivered: bool = False,
    session: SessionStore | None = None,
    **settings: Any,
) -> tuple[ToolResult, ...]:
    """The answer to one delivery of a batch, by a dispatcher whose sessions may read and write."""
    if bus is None:
        async with a_bus() as own:
            return await results_of(tools, request, own, redelivered, session, **settings)
    chosen = ToolDispatcherSettings(**{"default_scopes": ("read", "write"), **settings})
    service = build(bus, Registry(tools), chosen)
    handler = service.handlers[ToolsRequested]
    delivery = a_delivery(request, redelivered=redelivered)
    try:
        outcome = await handler(delivery, session or bus.session(delivery.event.subject))
    finally:
        assert service.close is not None
        await service.close()
    (completed,) = outcome.events
    assert isinstance(completed, ToolsCompleted)
    assert [result.call_id for result in completed.results] == [call.id for call in request.calls]
    assert [result.index for result in completed.results] == list(range(len(request.calls)))
    return completed.results


async def until(condition: Callable[[], Any]) -> None:
    """Wait for a condition, plain or async. Raises TimeoutError when it does not come."""
    async with asyncio.timeout(10):
        while not ((await found) if inspect.isawaitable(found := condition()) else found):  # noqa: ASYNC110  # any condition
            await asyncio.sleep(0.005)


def error_in(result: ToolResult) -> ToolError:
    assert result.status == "error"
    assert result.data is None
    assert result.error is not None
    return result.error


def a_context(**fields: Any) -> ToolContext:
    given: dict[str, Any] = {
        "idempotency_key": "s1/1/c1",
        "session_id": "s1",
        "call_id": "c1",
        "attempt": 1,
        "deadline": utc_now() + timedelta(seconds=30),
    }
    return ToolContext(**{**given, **fields})
