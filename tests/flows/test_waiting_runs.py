"""Runs that wait for longer than anything of a session is kept."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from antiphon_shared.bus.handling import RECORDS, RUN
from antiphon_shared.events import NodeDue
from antiphon_shared.process.clock import utc_now
from antiphon_shared.process.ids import new_id

from antiphon import Antiphon, tool, workflows
from antiphon.errors import UnknownSession
from antiphon.submission import signal

RETENTION_S = 3.0
WAITS_S = 3_600.0
ASKING: dict[str, Any] = {
    "ask": {"type": "yield", "message": "Sure?", "expects": {"yes": "bool"}, "timeout_s": WAITS_S},
    "look": {"call": "look", "args": {"x": 1}},
    "again": {"call": "look", "depends_on": ["ask", "look"], "args": {"x": "$look.n"}},
}


@tool(effect="read")
def look(x: int) -> dict[str, int]:
    """Look."""
    return {"n": x}


def a_file(graph: dict[str, Any]) -> Any:
    return workflows.build(
        {"domain": "test", "version": "1", "workflows": {"main": {"description": "A test.", "graph": graph}}}
    )


async def until(holds: Callable[[], Awaitable[bool]], bound_s: float = 60.0) -> None:
    async with asyncio.timeout(bound_s):
        while not await holds():  # noqa: ASYNC110  # it stands in Redis
            await asyncio.sleep(0.05)


async def test_a_run_that_waits_for_a_person_is_kept_whole_until_the_wait_is_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ANTIPHON_BUS_RETENTION_S", str(RETENTION_S))
    async with Antiphon.embedded(tools=[look], model="offline") as antiphon:
        bus = antiphon.open_bus()
        run_id = await workflows.start(antiphon, "main", source=a_file(ASKING))

        async def waits() -> bool:
            try:
                is_asked = bool(await workflows.waiting(antiphon, run_id))
            except UnknownSession:
                return False
            log = await bus.session(run_id).log()
            kinds = [event.type for _, event in log]
            return is_asked and "antiphon.tools.completed.v1" in kinds

        await until(waits)
        # Events from dispatchers, timers or outside do not shorten it.
        first = await bus.first_event(run_id)
        assert first is not None
        late = signal(NodeDue, {"node": "look", "attempt": 0}, run_id, first, new_id(), utc_now())
        await bus.publish(late, "signal")
        inbox = bus.keys.inbox(bus.keys.partition(run_id), "coordinator")

        async def is_handled() -> bool:
            return int(await bus.batcher.submit("XLEN", inbox)) == 0

        await until(is_handled)
        kept = [one.decode() async for one in bus.client.scan_iter(match=f"*{run_id}*")]
        assert {bus.keys.log(run_id), *(bus.keys.of_session(run_id, name) for name in (RUN, RECORDS))} < {
            *kept
        }
        for key in kept:
            if ":journal:" in key or key.endswith(":handled"):
                continue  # of calls that have ended
            left_ms = await bus.batcher.submit("PTTL", key)
            assert left_ms > WAITS_S * 900, (key, left_ms)
        await workflows.give(antiphon, run_id, {"yes": True})
        assert (await antiphon.result(run_id, 60)).status == "complete"
