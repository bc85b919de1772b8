"""A write whose claim Redis has forgotten: a tool that can be asked is asked before it runs again."""

import asyncio
from typing import Any

from antiphon_shared.bus.connection import Connections, retry_while_unavailable
from antiphon_shared.bus.keys import Keys
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.process.settings import BusSettings

from tests.redis_server import running
from tests.tool_dispatcher.idempotency.builders import WriteHooks, a_ledger, a_write, once, results_of
from tool_dispatcher.authoring.reconcile import NO_EFFECT, TookEffect
from tool_dispatcher.idempotency.write import Results


class Service:
    """The service that is written to; it counts the effects, and how often it is asked."""

    def __init__(self) -> None:
        self.effects: list[str] = []
        self.asked = 0

    async def run(self, claim: Any) -> Results:
        self.effects.append(claim.write.key)
        return results_of("done", claim.write)

    async def final_outcome(self, outcome: Any) -> Results:
        return results_of(outcome)

    async def effect_of(self, *about: Any) -> Any:
        self.asked += 1
        return TookEffect("done") if self.effects else NO_EFFECT

    def hooks(self) -> WriteHooks:
        return WriteHooks(
            self.run, self.final_outcome, is_safe_to_repeat=False, wait_s=5, reconcile=self.effect_of
        )


async def test_a_write_lost_by_redis_is_reconciled_and_not_made_twice() -> None:
    """A server without persistence loses everything; only the fact remains that there was another server."""
    service = Service()
    with running() as server:
        bus = Bus(Connections(server.url), Keys(), BusSettings())
        await bus.open()
        ledger = a_ledger(bus)
        await ledger.look_at_history(0)
        await once(ledger, a_write(), service.hooks())
        assert (len(service.effects), service.asked) == (1, 0)
        history = await bus.batcher.submit("HGETALL", bus.keys.history(0))
        server.kill()
        await asyncio.to_thread(server.start)
        words = [word for pair in history.items() for word in pair]
        # As a lagging replica has it: the identity of the server, and no claim.
        await retry_while_unavailable(
            "restore", lambda: bus.batcher.submit("HSET", bus.keys.history(0), *words)
        )
        (result,) = await once(ledger, a_write(), service.hooks())
        await bus.close()
    assert result.error is None
    assert (len(service.effects), service.asked) == (1, 1)


async def test_no_tool_is_asked_while_the_server_is_the_same(bus: Bus) -> None:
    service = Service()
    ledger = a_ledger(bus)
    await ledger.look_at_history(0)
    await once(ledger, a_write(), service.hooks())
    assert (len(service.effects), service.asked) == (1, 0)


async def test_sessions_opened_since_then_are_not_asked_about(bus: Bus) -> None:
    service = Service()
    ledger = a_ledger(bus)
    partition = bus.keys.partition("s1")
    await bus.batcher.submit("HSET", bus.keys.history(partition), "run_id", "another", "lost_ms", 0)
    await ledger.look_at_history(partition)
    opened_ms = (await ledger.look_at_history(partition)) + 1
    await bus.batcher.submit("ZADD", bus.keys.sessions(partition), opened_ms, "s1")
    await once(ledger, a_write(), service.hooks())
    assert (len(service.effects), service.asked) == (1, 0)


async def test_foreign_data_in_place_of_the_history_is_dropped(bus: Bus) -> None:
    """Otherwise no dispatcher would start: the earlier history counts as lost."""
    key = bus.keys.history(0)
    for junk in (("SET", key, "junk"), ("HSET", key, "run_id", "x", "lost_ms", "junk")):
        await bus.batcher.submit("DEL", key)
        await bus.batcher.submit(*junk)
        lost_ms = await a_ledger(bus).look_at_history(0)
        if bus.connections.is_fake:  # does not report its identity
            continue
        assert lost_ms > 0
        assert set(await bus.batcher.submit("HGETALL", key)) == {b"run_id", b"lost_ms"}
