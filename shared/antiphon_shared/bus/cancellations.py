"""Stopped sessions, as known to one process, and the cancellation of work in flight for them.

The coordinator's commit that cancels a session adds it to a sorted set of its partition; see commit.lua. The
services that stop with a session read the set a few times a second. Dropped work is acknowledged and commits
nothing: the session has continued without it.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import structlog
from redis.exceptions import RedisError

from antiphon_shared.bus.committing import STOPS_KEPT_MAX
from antiphon_shared.bus.handling import NOTHING, Delivery, Outcome
from antiphon_shared.bus.redis_bus import Bus

LOOK_EVERY_S = 0.25
_REFUSAL_S = 0.5
"""How long a cancelled handler may take to end before it is abandoned, in seconds."""

_REFUSING: set[asyncio.Task[Any]] = set()
"""Abandoned handlers, referenced until they end: the event loop holds only weak references to tasks."""

Work = Callable[[], Awaitable[Outcome]]
_End = asyncio.Future[Outcome | BaseException | None]
"""The end of one piece of work: its outcome, or what it raised; None where its session was stopped."""


class Cancellations:
    """The stopped sessions known to this process, and its work in flight."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._stopped_ms: dict[str, int] = {}
        self._newest_ms = dict.fromkeys(range(bus.keys.partitions), 0)
        self._under_way: dict[_End, Delivery] = {}
        self._is_blind = False
        self._log = structlog.get_logger()

    async def watch(self) -> None:
        """Read the stopped sessions repeatedly, until cancelled."""
        while True:
            await self.look()
            await asyncio.sleep(LOOK_EVERY_S)

    async def look(self) -> None:
        """Read new stops and end the work in flight for them; the first time, read all that are stored."""
        try:
            await asyncio.gather(*map(self._look_at, self._newest_ms))
            self._is_blind = False
        except (RedisError, OverflowError) as error:  # a foreign score may be infinite
            if not self._is_blind:
                self._log.warning("cancellations_unreadable", error=str(error))
            self._is_blind = True

    def cover(self, delivery: Delivery) -> bool:
        """Return whether the session was stopped after the request; a later session under the same id was not."""
        stopped_ms = self._stopped_ms.get(delivery.event.subject)
        return stopped_ms is not None and delivery.asked_ms <= stopped_ms

    async def unless_stopped(self, delivery: Delivery, work: Work) -> Outcome:
        """Return the outcome of the work; NOTHING if its session is stopped. Raises the errors of the work.

        Work is cancelled when its session is stopped or its caller is cancelled; work that does not end then
        is abandoned.
        """
        if self.cover(delivery):
            self._log.info("handler_skipped_session_stopped")
            return NOTHING
        end: _End = asyncio.Future()
        task = asyncio.create_task(_run(work, end))
        self._under_way[end] = delivery
        try:
            outcome = await end
        except asyncio.CancelledError:
            await self._end(task)
            raise
        finally:
            del self._under_way[end]
        if outcome is None:
            await self._end(task)
            self._log.info("handler_cancelled_session_stopped")
            return NOTHING
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    async def _end(self, task: asyncio.Task[Any]) -> None:
        task.cancel()
        _REFUSING.add(task)
        task.add_done_callback(_REFUSING.discard)
        if not (await asyncio.wait((task,), timeout=_REFUSAL_S))[0]:
            self._log.warning("cancelled_handler_abandoned")

    async def _look_at(self, partition: int) -> None:
        found = await self._bus.batcher.submit(
            "ZRANGEBYSCORE",
            self._bus.keys.stopped(partition),
            f"({self._newest_ms[partition]}",
            "+inf",
            "WITHSCORES",
        )
        if not found:
            return
        for session, at in _pairs(found):
            self._stopped_ms[session.decode(errors="replace")] = self._newest_ms[partition] = int(at)
        while len(self._stopped_ms) > STOPS_KEPT_MAX:
            del self._stopped_ms[next(iter(self._stopped_ms))]
        for end, delivery in self._under_way.items():
            if not end.done() and self.cover(delivery):
                end.set_result(None)


async def _run(work: Work, end: _End) -> None:
    """Set the end of the work, also to a SystemExit: one that leaves a task would end the process."""
    outcome: Outcome | BaseException
    try:
        outcome = await work()
    except asyncio.CancelledError:
        end.cancel()
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001  # raised again where the end is awaited
        outcome = error
    if not end.done():
        end.set_result(outcome)


def _pairs(found: list[Any]) -> list[tuple[bytes, float]]:
    """Return members with their scores; some servers nest them, and some do not."""
    if found and isinstance(found[0], bytes):
        return list(zip(found[::2], map(float, found[1::2]), strict=True))
    return [(member, score) for member, score in found]
