"""The stopped sessions, as read by one process, and the cancellation of its work in flight for them.

The coordinator's commit that cancels a session adds it to a sorted set of its partition; see commit.lua. The
services that stop with a session read the set a few times a second. Cancelled work is acknowledged without any
effect, as the session has continued without it.
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
_CANCEL_TIMEOUT_S = 0.5
"""The time that a cancelled handler has to end before it is abandoned."""

_ABANDONED: set[asyncio.Task[Any]] = set()
"""Abandoned handlers, until they end, as the event loop holds only weak references to tasks."""

Work = Callable[[], Awaitable[Outcome]]
_End = asyncio.Future[Outcome | BaseException | None]
"""The end of one piece of work: its outcome or its error; None if its session was stopped."""


class Cancellations:
    """The stopped sessions that this process has read, and its work in flight."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._stopped_ms: dict[str, int] = {}
        self._newest_ms = dict.fromkeys(range(bus.keys.partitions), 0)
        self._in_flight: dict[_End, Delivery] = {}
        self._is_unreadable = False
        self._log = structlog.get_logger()

    async def watch(self) -> None:
        """Read the stopped sessions repeatedly, until cancelled."""
        while True:
            await self.look()
            await asyncio.sleep(LOOK_EVERY_S)

    async def look(self) -> None:
        """Read the new stops, or all stops the first time, and end the work in flight for them."""
        try:
            await asyncio.gather(*map(self._look_at, self._newest_ms))
            self._is_unreadable = False
        except (RedisError, OverflowError) as error:  # a foreign score may be infinite
            if not self._is_unreadable:
                self._log.warning("cancellations_unreadable", error=str(error))
            self._is_unreadable = True

    def cover(self, delivery: Delivery) -> bool:
        """Return whether the session was stopped after the request; an older stop concerns an earlier session."""
        stopped_ms = self._stopped_ms.get(delivery.event.subject)
        return stopped_ms is not None and delivery.requested_at_ms <= stopped_ms

    async def unless_stopped(self, delivery: Delivery, work: Work) -> Outcome:
        """Return the outcome of the work; NOTHING if its session is stopped. Raises the errors of the work.

        The work is cancelled when its session is stopped or its caller is cancelled. If it does not end then, it is
        abandoned.
        """
        if self.cover(delivery):
            self._log.info("handler_skipped_session_stopped")
            return NOTHING
        end: _End = asyncio.Future()
        task = asyncio.create_task(_run(work, end))
        self._in_flight[end] = delivery
        try:
            outcome = await end
        except asyncio.CancelledError:
            await self._end(task)
            raise
        finally:
            del self._in_flight[end]
        if outcome is None:
            await self._end(task)
            self._log.info("handler_cancelled_session_stopped")
            return NOTHING
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    async def _end(self, task: asyncio.Task[Any]) -> None:
        task.cancel()
        _ABANDONED.add(task)
        task.add_done_callback(_ABANDONED.discard)
        if not (await asyncio.wait((task,), timeout=_CANCEL_TIMEOUT_S))[0]:
            self._log.warning("cancelled_handler_abandoned")

    async def _look_at(self, partition: int) -> None:
        reply = await self._bus.batcher.submit(
            "ZRANGEBYSCORE",
            self._bus.keys.stopped(partition),
            f"({self._newest_ms[partition]}",
            "+inf",
            "WITHSCORES",
        )
        if not reply:
            return
        for session, stopped_ms in _pairs(reply):
            self._stopped_ms[session.decode(errors="replace")] = self._newest_ms[partition] = int(stopped_ms)
        while len(self._stopped_ms) > STOPS_KEPT_MAX:
            del self._stopped_ms[next(iter(self._stopped_ms))]
        for end, delivery in self._in_flight.items():
            if not end.done() and self.cover(delivery):
                end.set_result(None)


async def _run(work: Work, end: _End) -> None:
    """Set the end of the work; also to a SystemExit, which would end the process if it left the task."""
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


def _pairs(reply: list[Any]) -> list[tuple[bytes, float]]:
    """Return members with their scores, which some servers nest and some do not."""
    if reply and isinstance(reply[0], bytes):
        return list(zip(reply[::2], map(float, reply[1::2]), strict=True))
    return [(member, score) for member, score in reply]
