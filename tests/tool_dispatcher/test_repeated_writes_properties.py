"""Any batches, with crashes and takeovers between any two steps: each deliberate write takes effect once."""

import asyncio
from collections import Counter
from contextlib import suppress
from typing import Any

from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.tools.calls import RequestedCall, ToolResult
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tool_dispatcher.builders import Dispatcher, a_bus, a_tool
from tests.tool_dispatcher.repeating import Rounds, asks, forget_journal
from tool_dispatcher.authoring.context import ToolContext
from tool_dispatcher.authoring.tool import Tool

_CALLS = st.tuples(st.sampled_from(("pay", "note", "press")), st.sampled_from("ab"), st.booleans())
_BATCHES = st.lists(st.lists(_CALLS, min_size=1, max_size=4), min_size=1, max_size=4)
_CRASHES = st.lists(st.sampled_from(("before", "after", "settled", None, None)), max_size=8)


class World:
    """A service that honours keys, and a dispatcher that dies on demand."""

    def __init__(self, crashes: list[str | None]) -> None:
        self.crashes, self.effects = crashes, Counter[tuple[str, str, str]]()
        self.dying = asyncio.Event()

    def tool(self, name: str, **options: Any) -> Tool:
        async def run(arguments: dict[str, Any], context: ToolContext) -> str:
            crash = self.crashes.pop(0) if self.crashes else None
            if crash == "before":
                await self._die()
            effect = (name, arguments["x"], context.idempotency_key)
            self.effects[effect] = 1  # the key is honoured: a second run changes nothing
            if crash == "after":
                await self._die()
            return context.idempotency_key

        return a_tool(name, run, "write", idempotent=True, error_propagation="partial-success", **options)

    async def _die(self) -> None:
        self.dying.set()
        await asyncio.Event().wait()

    async def batch(self, session: Rounds, bus: Bus, calls: list[RequestedCall]) -> tuple[ToolResult, ...]:
        """Deliver a batch until a worker completes it."""
        session.round += 1
        while True:
            self.dying = asyncio.Event()
            work = asyncio.create_task(session.again(*calls))
            death = asyncio.create_task(self.dying.wait())
            await asyncio.wait((work, death), return_when=asyncio.FIRST_COMPLETED)
            death.cancel()
            if work.done():
                if self.crashes and self.crashes[0] == "settled":
                    self.crashes.pop(0)
                    await forget_journal(bus, session.round)
                    continue
                return work.result()
            work.cancel()
            with suppress(asyncio.CancelledError):
                await work
            for key in await bus.client.execute_command("KEYS", "*effect:*"):
                if await bus.batcher.submit("HGET", key, "state") == b"in_progress":
                    await bus.batcher.submit("HSET", key, "lease_ends", 1)


async def lived(batches: list[list[tuple[str, str, bool]]], crashes: list[str | None]) -> None:
    world, wanted, outcomes = World(crashes), Counter[tuple[str, str]](), dict[str, str]()
    async with a_bus() as bus:
        modes: Any = {"pay": "sequential-only", "note": "parallel-safe", "press": "sequential-only"}
        repeats: Any = {"pay": "return", "note": "return", "press": "run"}
        tools = [world.tool(name, mode=modes[name], repeat=repeats[name]) for name in modes]
        session = Rounds(Dispatcher(tools, bus))
        made: dict[tuple[str, str], str] = {}
        for n, drawn in enumerate(batches):
            calls, before = [], dict(made)
            for place, (name, x, is_again) in enumerate(drawn):
                what, id = (name, x), f"c{n}_{place}"
                again = before.get(what) if is_again and name != "press" else None
                is_wanted = again is not None or name == "press" or what not in made
                calls.append(asks(id, name, {"x": x}, repeat_of=again))
                wanted[what] += is_wanted
                made.setdefault(what, id)
            for result in await world.batch(session, bus, calls):
                if result.status == "ok" and result.repeated is None:
                    assert result.data not in outcomes, "two calls report that they made the same write"
                    outcomes[result.data] = result.call_id
    assert all(count == 1 for count in world.effects.values())
    assert Counter((name, x) for name, x, _ in world.effects) == wanted


@settings(max_examples=60, deadline=None)
@given(_BATCHES, _CRASHES)
def test_each_deliberate_write_takes_effect_exactly_once(
    batches: list[list[tuple[str, str, bool]]], crashes: list[str | None]
) -> None:
    asyncio.run(lived(batches, list(crashes)))
