"""The cost that the dispatcher adds to a tool call, against the bare function and one round trip to Redis a call.

The floor does by hand what is least: run the functions with `asyncio.gather`, and note each outcome in Redis
with one command of redis-py. The dispatcher validates, plans, claims writes, bounds, journals and settles.
"""

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from antiphon_shared.bus.handling import Delivery, Handler
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import AnyEvent, Event, ToolsCompleted, ToolsRequested
from antiphon_shared.formats import FORMAT
from antiphon_shared.process import logs
from antiphon_shared.process.collector import freeze_program_objects
from antiphon_shared.process.ids import new_id
from antiphon_shared.process.settings import BusSettings, PipelineSettings
from antiphon_shared.tools.calls import RequestedCall
from antiphon_shared.tools.contract import Effect
from pydantic_core import to_json
from redis.asyncio import Redis

from benchmarks.noop_tools import RESULT
from tests.redis_server import running
from tool_dispatcher.authoring.tool import tool
from tool_dispatcher.catalogue import Registry
from tool_dispatcher.component import build
from tool_dispatcher.settings import ToolDispatcherSettings

TARGETS: dict[Effect, dict[int, float]] = {
    "read": {1: 2.2, 10: 2.0, 100: 1.8},
    "write": {1: 3.5, 10: 3.0, 100: 3.0},
}
"""The target of a call in floors, by effect and size of the batch."""
CALLS_PER_RUN = 600
WAVES_BOUND, WAVES_CALLS, WAIT_S = 25, 100, 0.05
IDEAL_S = WAVES_CALLS / WAVES_BOUND * WAIT_S

Batch = Callable[[], Awaitable[None]]
Row = tuple[str, str, str, str]


@tool(effect="read")
async def look(q: str) -> dict[str, object]:
    """Looks a thing up, at no cost."""
    return RESULT


@tool(effect="write", mode="parallel-safe")
async def note(q: str) -> dict[str, object]:
    """Writes a thing down, at no cost."""
    return RESULT


@tool(effect="read")
async def wait(q: str) -> str:
    """Takes 50 ms."""
    await asyncio.sleep(WAIT_S)
    return q


def measure(runs: int) -> list[Row]:
    """Return every row: each figure the median of so many runs, each ratio that of pairs."""
    logs.configure("warning", "tool_dispatcher")
    with running() as server:
        return asyncio.run(_measure(server.url, runs))


async def _measure(url: str, runs: int) -> list[Row]:
    bus = Bus.from_settings(PipelineSettings(redis_url=url), BusSettings())
    await bus.open()
    client = Redis.from_url(url, protocol=3, legacy_responses=False)
    settings = ToolDispatcherSettings(default_scopes=("read", "write"), batch_concurrency=WAVES_BOUND)
    service = build(bus, Registry([look, note, wait]), settings)
    handler = service.handlers[ToolsRequested]
    freeze_program_objects()  # as every component does when it starts
    try:
        rows = []
        for effect, targets in TARGETS.items():
            rows += [
                await _overhead(handler, bus, client, effect, size, target, runs)
                for size, target in targets.items()
            ]
        rows.append(await _waves(handler, bus, runs))
        return rows
    finally:
        if service.close is not None:
            await service.close()
        await client.aclose()
        await bus.close()


async def _overhead(
    handler: Handler, bus: Bus, client: Any, effect: Effect, size: int, target: float, runs: int
) -> Row:
    one = look if effect == "read" else note
    batches = {
        "ours": lambda: _through_dispatcher(handler, bus, one.name, size),
        "floor": lambda: _by_hand(client, one.function, size),
        "pipelined": lambda: _pipelined(bus, one.function, size),
        "bare": lambda: _bare(one.function, size),
    }
    for batch in batches.values():
        await _microseconds(batch, size)
    found = [{name: await _microseconds(batch, size) for name, batch in batches.items()} for _ in range(runs)]
    median = {name: statistics.median(run[name] for run in found) for name in batches}
    ratio = statistics.median(run["ours"] / run["floor"] for run in found)
    return (
        f"dispatcher, {effect}, batch of {size}",
        f"{median['ours']:.0f} us a call",
        f"floor {median['floor']:.0f}: {ratio:.2f}; pipelined {median['pipelined']:.0f}; bare {median['bare']:.1f}",
        f"<= {target} floors",
    )


async def _waves(handler: Handler, bus: Bus, runs: int) -> Row:
    seconds = []
    for _ in range(runs):
        started = time.perf_counter()
        await _through_dispatcher(handler, bus, "wait", WAVES_CALLS)
        seconds.append(time.perf_counter() - started)
    taken = statistics.median(seconds)
    return (
        f"{WAVES_CALLS} calls of {WAIT_S * 1000:.0f} ms, {WAVES_BOUND} at once",
        f"{taken * 1000:.0f} ms",
        f"ideal {IDEAL_S * 1000:.0f} ms: {taken / IDEAL_S:.2f}",
        "<= 1.15",
    )


async def _microseconds(batch: Batch, size: int) -> float:
    """Return the cost per call, over as many batches as make CALLS_PER_RUN calls."""
    batches = max(1, CALLS_PER_RUN // size)
    started = time.perf_counter()
    for _ in range(batches):
        await batch()
    return (time.perf_counter() - started) / (batches * size) * 1e6


async def _through_dispatcher(handler: Handler, bus: Bus, name: str, size: int) -> None:
    session_id = uuid4().hex
    calls = tuple(
        RequestedCall(
            id=f"c{n}", name=name, arguments={"q": "x"}, idempotency_key=f"default/{session_id}/1/c{n}"
        )
        for n in range(size)
    )
    now = datetime.now(UTC)
    request = ToolsRequested(round=1, calls=calls, allowed=(name,), deadline=now + timedelta(minutes=1))
    id = new_id()
    event: AnyEvent = Event(
        id=id,
        source="coordinator",
        type=request.type,
        subject=session_id,
        time=now,
        correlationid=id,
        format=FORMAT,
        data=request,
    )
    outcome = await handler(Delivery(event, "1-0"), bus.session(session_id))
    (completed,) = outcome.events
    assert isinstance(completed, ToolsCompleted)
    assert {result.status for result in completed.results} == {"ok"}, completed


async def _by_hand(client: Any, function: Callable[[str], Awaitable[Any]], size: int) -> None:
    key = uuid4().hex

    async def one(n: int) -> None:
        await client.execute_command("HSET", key, f"c{n}", to_json(await function("x")))

    await asyncio.gather(*(one(n) for n in range(size)))


async def _pipelined(bus: Bus, function: Callable[[str], Awaitable[Any]], size: int) -> None:
    """Measure the same over the bus's one connection, whose commands share round trips."""
    key = uuid4().hex

    async def one(n: int) -> None:
        await bus.batcher.submit("HSET", key, f"c{n}", to_json(await function("x")))

    await asyncio.gather(*(one(n) for n in range(size)))


async def _bare(function: Callable[[str], Awaitable[Any]], size: int) -> None:
    await asyncio.gather(*(function("x") for _ in range(size)))
