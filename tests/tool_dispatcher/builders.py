"""Batches to run, and tools that keep a ledger of their effects."""

import asyncio
import inspect
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import fakeredis
from antiphon_shared.bus.connection import Connections
from antiphon_shared.bus.handling import Delivery, SessionStore
from antiphon_shared.bus.keys import Keys
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import ToolsCompleted, ToolsRequested
from antiphon_shared.process.clock import utc_now
from antiphon_shared.process.ids import idempotency_key
from antiphon_shared.process.settings import BusSettings
from antiphon_shared.tools.calls import RequestedCall, ToolError, ToolResult
from antiphon_shared.tools.contract import Effect
from antiphon_shared.tools.journal import journal_name

from tests.envelopes import an_event
from tool_dispatcher.authoring.context import ToolContext
from tool_dispatcher.authoring.tool import Tool
from tool_dispatcher.catalogue import Registry
from tool_dispatcher.component import build
from tool_dispatcher.settings import ToolDispatcherSettings

LEASE_S = 600.0
"""A process that is slow, on a busy machine, does not lose its leases."""
DEADLINE = datetime(2099, 1, 1, tzinfo=UTC)
ANYTHING: dict[str, Any] = {"type": "object", "additionalProperties": True}
QUICK = {"initial_ms": 1, "max_ms": 1}
"""A backoff."""


def a_tool(name: str, function: Callable[..., Any], effect: Effect = "read", **options: Any) -> Tool:
    """Return a tool that takes any arguments."""
    return Tool(name, f"Does {name}.", ANYTHING, function, effect=effect, **options)


class Ledger:
    """Counts the runs of tools by idempotency key."""

    def __init__(self) -> None:
        self.effects: Counter[str] = Counter()

    def tool(self, name: str, effect: Effect = "read") -> Tool:
        async def enter(arguments: dict[str, Any], context: ToolContext) -> dict[str, Any]:
            self.effects[context.idempotency_key] += 1
            return {"entered": context.call_id, "times": self.effects[context.idempotency_key]}

        return a_tool(name, enter, effect)


class Flaky:
    """Fails as scripted, then answers; stores each run."""

    def __init__(self, *failures: BaseException) -> None:
        self.failures = list(failures)
        self.runs: list[ToolContext] = []

    def __call__(self, arguments: dict[str, Any], context: ToolContext) -> str:
        self.runs.append(context)
        if len(self.runs) <= len(self.failures):
            raise self.failures[len(self.runs) - 1]
        return "at last"

    def tool(self, name: str = "look", effect: Effect = "read", **options: Any) -> Tool:
        return a_tool(name, self, effect, **{"backoff": QUICK, **options})


def a_call(id: str = "c1", name: str = "look", key: str | None = None, **fields: Any) -> RequestedCall:
    return RequestedCall(
        id=id, name=name, idempotency_key=key or idempotency_key("default", "s1", 1, id), **fields
    )


def a_request(
    *calls: RequestedCall,
    allowed: tuple[str, ...] | None = None,
    deadline: datetime = DEADLINE,
    round: int = 1,
    **fields: Any,
) -> ToolsRequested:
    names = tuple(dict.fromkeys(call.name for call in calls))
    return ToolsRequested(
        round=round, calls=calls, allowed=names if allowed is None else allowed, deadline=deadline, **fields
    )


def soon(seconds: float) -> datetime:
    """Return a deadline."""
    return utc_now() + timedelta(seconds=seconds)


def a_delivery(
    request: ToolsRequested, *, redelivered: bool = False, attempt: int = 0, session_id: str = "s1"
) -> Delivery:
    return Delivery(an_event(request, session_id), "1-0", attempt, redelivered)


@asynccontextmanager
async def a_bus(lease_s: float = LEASE_S, **settings: Any) -> AsyncIterator[Bus]:
    """Yield a bus on a fakeredis of its own."""
    client = fakeredis.FakeAsyncRedis(server=fakeredis.FakeServer(), protocol=3, legacy_responses=False)
    bus = Bus(Connections.to_fake(client), Keys(), BusSettings(lease_s=lease_s), **settings)
    await bus.open()
    yield bus
    await bus.close()


class Dispatcher:
    """A whole dispatcher on a bus, whose sessions may read and write."""

    def __init__(self, tools: list[Tool], bus: Bus, **settings: Any) -> None:
        self.bus = bus
        chosen = ToolDispatcherSettings(**{"default_scopes": ("read", "write"), **settings})
        self._service = build(bus, Registry(tools), chosen)

    async def run(
        self,
        request: ToolsRequested,
        redelivered: bool = False,
        session: SessionStore | None = None,
        session_id: str = "s1",
    ) -> tuple[ToolResult, ...]:
        """Return the answer to one delivery of a batch."""
        delivery = a_delivery(request, redelivered=redelivered, session_id=session_id)
        outcome = await self._service.handlers[ToolsRequested](
            delivery, session or self.bus.session(session_id)
        )
        assert (outcome.writes, outcome.timers, outcome.closes_session) == ((), (), False)
        (completed,) = outcome.events
        assert isinstance(completed, ToolsCompleted)
        assert completed.round == request.round
        assert [result.call_id for result in completed.results] == [call.id for call in request.calls]
        assert [result.index for result in completed.results] == list(range(len(request.calls)))
        return completed.results

    async def close(self) -> None:
        assert self._service.close is not None
        await self._service.close()


@asynccontextmanager
async def a_dispatcher(*tools: Tool, bus: Bus | None = None, **settings: Any) -> AsyncIterator[Dispatcher]:
    """Yield a dispatcher, on a bus of its own unless one is given."""
    async with AsyncExitStack() as stack:
        own = await stack.enter_async_context(a_bus()) if bus is None else bus
        dispatcher = Dispatcher(list(tools), own, **settings)
        stack.push_async_callback(dispatcher.close)
        yield dispatcher


async def results_of(
    tools: list[Tool],
    request: ToolsRequested,
    bus: Bus | None = None,
    redelivered: bool = False,
    session: SessionStore | None = None,
    **settings: Any,
) -> tuple[ToolResult, ...]:
    """Return the answer to one delivery of a batch, by a dispatcher whose sessions may read and write."""
    async with a_dispatcher(*tools, bus=bus, **settings) as dispatcher:
        return await dispatcher.run(request, redelivered, session)


async def noted(bus: Bus, round: int = 1) -> dict[str, bytes]:
    """Return the journal of a batch."""
    return await bus.session("s1").settled(journal_name(round))


async def all_of_redis(bus: Bus) -> str:
    """Return every key with its content, as one text."""
    found: list[Any] = []
    read = {
        b"string": ("GET",),
        b"hash": ("HGETALL",),
        b"list": ("LRANGE", 0, -1),
        b"stream": ("XRANGE", "-", "+"),
        b"zset": ("ZRANGE", 0, -1),
        b"set": ("SMEMBERS",),
    }
    for key in await bus.client.execute_command("KEYS", "*"):
        kind = await bus.client.execute_command("TYPE", key)
        if kind == b"none":  # it has expired since
            continue
        command, *rest = read[kind]
        found += [key, await bus.client.execute_command(command, key, *rest)]
    return repr(found)


async def until(condition: Callable[[], Any]) -> None:
    """Wait for a condition, plain or async. Raises TimeoutError when it does not come."""
    async with asyncio.timeout(60):
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
