"""Rate limits: the number of calls of a tool that may begin per period, across all dispatcher processes."""

import asyncio

import structlog
from antiphon_shared.bus.batcher import Batcher
from antiphon_shared.bus.connection import retry_while_unavailable
from antiphon_shared.bus.keys import Keys
from antiphon_shared.bus.scripts import script_of
from antiphon_shared.process.clock import monotonic_s
from antiphon_shared.tools.contract import RateLimit
from redis.exceptions import RedisError

from tool_dispatcher.bounds.refusals import BoundUnknown, RateExceeded

_RATE = script_of(__name__, "rate")
_MICROSECONDS = 1_000_000
_ANSWER_S = 1.0
"""The least time that Redis has to reply, in seconds."""


class RateLimiter:
    """Rate limits shared by all processes, by the generic cell rate algorithm; see `rate.lua`.

    After an idle period, `limit.calls` calls are admitted at once, then one call every `per_s / calls` seconds; so
    no span of `per_s` has more than twice the calls. The resolution is a microsecond: at most a million calls a
    second.
    """

    def __init__(self, batcher: Batcher, keys: Keys) -> None:
        self._batcher, self._keys = batcher, keys

    async def admit(self, tool: str, limit: RateLimit, wait_s: float) -> None:
        """Wait for the call's turn. A turn that is taken and then not used is lost.

        Raises:
            RateExceeded: at once, if the turn is more than `wait_s` away.
            BoundUnknown: Redis did not reply within `wait_s`.
        """
        ends_s = monotonic_s() + wait_s
        try:
            async with asyncio.timeout(max(_ANSWER_S, wait_s)):
                is_admitted, pause_us = await retry_while_unavailable(
                    "admit call", lambda: self._request_turn(tool, limit, ends_s)
                )
        except TimeoutError:
            raise BoundUnknown(tool) from None
        except RedisError as error:
            structlog.get_logger().error("rate_limit_unavailable", tool=tool, error=str(error))
            raise BoundUnknown(tool) from error
        pause_s = pause_us / _MICROSECONDS
        if not is_admitted:
            raise RateExceeded(tool, pause_s)
        if pause_s:
            await asyncio.sleep(pause_s)

    async def _request_turn(self, tool: str, limit: RateLimit, ends_s: float) -> list[int]:
        interval_us = max(1.0, limit.per_s * _MICROSECONDS / limit.calls)
        wait_us = max(0, round((ends_s - monotonic_s()) * _MICROSECONDS))
        reply: list[int] = await self._batcher.run(
            _RATE, [self._keys.rate(tool)], [repr(interval_us), limit.calls, wait_us]
        )
        return reply
