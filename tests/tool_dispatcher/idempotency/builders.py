"""Writes to do once, a wire to Redis that fails on request, and a service that counts its requests."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from antiphon_shared.bus.batcher import Batcher
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.wire import Command, Exchange
from antiphon_shared.tools.calls import ToolError, ToolResult
from antiphon_shared.tools.journal import journal_name
from redis.exceptions import ConnectionError as ConnectionLost

from tool_dispatcher.authoring.failures import tool_error
from tool_dispatcher.idempotency.identity import fingerprint
from tool_dispatcher.idempotency.ledger import Ledger
from tool_dispatcher.idempotency.port import Claim
from tool_dispatcher.idempotency.write import Results, Write
from tool_dispatcher.running.write import Writes

DAY_S = 86_400.0
LEASE_S, PATIENCE_S = 600.0, 60.0
"""A slow process loses neither its claims nor Redis, unless a test wants that."""
UNKNOWN = tool_error("outcome_unknown", "The connection was lost.")


def a_write(arguments: Any = "x", tool: str = "pay", **fields: Any) -> Write:
    given: dict[str, Any] = {
        "session_id": "s1",
        "key": "default/s1/1/c1",
        "tool": tool,
        "fingerprint": fingerprint(tool, arguments),
        "round": 1,
        "call_ids": ("c1",),
        "ttl_s": DAY_S,
    }
    return Write(**{**given, **fields})


def results_of(outcome: Any | ToolError, write: Write | None = None) -> Results:
    """Return the outcome for each call of the write."""
    write = write or a_write()
    is_error = isinstance(outcome, ToolError)
    return tuple(
        ToolResult(
            index=index,
            call_id=call_id,
            tool=write.tool,
            status="error" if is_error else "ok",
            data=None if is_error else outcome,
            error=outcome if is_error else None,
        )
        for index, call_id in enumerate(write.call_ids)
    )


@dataclass(frozen=True)
class WriteHooks:
    """A run without a tool, its outcome as results, and its answer to `reconcile`."""

    run: Callable[[Claim], Awaitable[Results]]
    results_of: Callable[[Any], Awaitable[Results]]
    is_safe_to_repeat: bool
    wait_s: float
    reconcile: Callable[[Claim], Awaitable[Any]] | None = None
    may_have_begun: bool = False


class _Call:
    """The parts of a call that its write needs; it is also the tool, its attempts and results."""

    def __init__(self, hooks: WriteHooks) -> None:
        self.contract = self.tool = self._hooks = hooks
        self.batch, self.time_left_s = self, hooks.wait_s
        self.attempt = 2 if hooks.may_have_begun else 1

    def with_claim(self, claim: Claim) -> "_Call":
        self.claim = claim
        return self

    async def answer(self, call: "_Call") -> Any:
        return SimpleNamespace(outcome=await self._hooks.run(call.claim))

    async def reconcile(self, call: "_Call") -> Any:
        assert self._hooks.reconcile is not None
        return await self._hooks.reconcile(call.claim)

    async def results(self, call: "_Call", answer: Any) -> Results:
        outcome = answer.outcome
        return outcome if isinstance(outcome, tuple) else await self._hooks.results_of(outcome)


async def once(ledger: Ledger, write: Write, hooks: WriteHooks) -> Results:
    """Make the write by `Writes.once`, with these hooks in the place of a tool."""
    call: Any = _Call(hooks)
    return await Writes({}, ledger, call, call, call, DAY_S, is_caching=False).once(call, write)


class BreakableWire:
    """Loses replies, is disconnected, or is never answered, as the test sets."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self.replies_to_lose = 0
        self.is_away = False
        self.is_silent = False
        self.attempts = 0
        self.once_answered: Callable[[], None] | None = None
        """Done once, when a reply has come: a clock put forward meanwhile would have it come too late."""

    async def __call__(self, commands: Sequence[Command]) -> list[Any]:
        self.attempts += 1
        if self.is_away:
            raise ConnectionLost("nobody there")
        if self.is_silent:
            await asyncio.Event().wait()
        replies = await self._exchange(commands)
        if self.once_answered is not None:
            self.once_answered()
            self.once_answered = None
        # A script that Redis has not seen yet is sent again: its reply is the one to lose.
        if self.replies_to_lose and not any(isinstance(reply, Exception) for reply in replies):
            self.replies_to_lose -= 1
            raise ConnectionLost("the reply was lost")
        return replies


def a_ledger(bus: Bus, wire: BreakableWire | None = None, **settings: Any) -> Ledger:
    batcher = bus.batcher if wire is None else Batcher(wire)
    return Ledger(
        batcher, bus.keys, **{"lease_s": LEASE_S, "retention_s": DAY_S, "patience_s": PATIENCE_S, **settings}
    )


def a_wire(bus: Bus) -> BreakableWire:
    route = bus.route()

    async def exchange(commands: Sequence[Command]) -> list[Any]:
        return await route.exchange(route.lane_of(commands[0]), commands)

    return BreakableWire(exchange)


def record_of(bus: Bus, write: Write) -> str:
    return bus.keys.effect(write.session_id, write.key)


def journal_of(bus: Bus, write: Write) -> str:
    return bus.keys.of_session(write.session_id, journal_name(write.round))


async def state(bus: Bus, write: Write | None = None) -> str:
    return (await a_ledger(bus).status(write or a_write())).state


def the_error(results: Results) -> ToolError:
    """Return the error of a write with one call."""
    (result,) = results
    assert result.status == "error"
    assert result.data is None
    assert result.error is not None
    return result.error


async def record(bus: Bus, write: Write | None = None) -> dict[bytes, bytes]:
    found: dict[bytes, bytes] = await bus.batcher.submit("HGETALL", record_of(bus, write or a_write()))
    return found


async def journal(bus: Bus, write: Write | None = None) -> dict[str, bytes]:
    write = write or a_write()
    return await bus.session(write.session_id).settled(journal_name(write.round))


async def life_ms(bus: Bus, key: str) -> int:
    return int(await bus.batcher.submit("PTTL", key))


async def end_lease(bus: Bus, write: Write | None = None) -> None:
    """Let the claimant's lease expire, as if it were silent."""
    await bus.batcher.submit("HSET", record_of(bus, write or a_write()), "lease_ends", 1)


async def abandoned(bus: Bus, write: Write | None = None) -> None:
    """Let a worker claim the write, and stay silent."""
    assert await a_ledger(bus).claim(write or a_write()) is not None
    await end_lease(bus, write)


class Service:
    """The service that a tool writes to. Counts the runs, and lets a test decide the outcome of each."""

    def __init__(self, outcome: Any = "paid", write: Write | None = None) -> None:
        self.runs: list[int] = []
        self.asked: list[int] = []
        self.outcome = outcome
        self.write = write or a_write()
        self.final_outcome: Any = None
        self.begun = asyncio.Event()
        self.go_on = asyncio.Event()
        self.go_on.set()

    async def run(self, claim: Claim) -> Results:
        self.runs.append(claim.fence)
        self.begun.set()
        await self.go_on.wait()
        return await self.results_of(self.outcome)

    async def results_of(self, outcome: Any | ToolError) -> Results:
        return results_of(outcome, self.write)

    async def reconcile(self, claim: Claim) -> Any:
        self.asked.append(claim.fence)
        if isinstance(self.final_outcome, Exception):
            raise self.final_outcome
        return self.final_outcome

    def hooks(
        self,
        *,
        is_safe_to_repeat: bool = False,
        can_be_asked: bool = False,
        wait_s: float = PATIENCE_S,
        may_have_begun: bool = False,
    ) -> WriteHooks:
        asked: Callable[[Claim], Awaitable[Any]] | None = self.reconcile if can_be_asked else None
        return WriteHooks(self.run, self.results_of, is_safe_to_repeat, wait_s, asked, may_have_begun)


async def never(*_: Any) -> Any:
    raise AssertionError("this must not happen")
