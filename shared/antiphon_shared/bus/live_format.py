"""The format in which new sessions are opened, as every worker of the deployment can read it.

Heartbeats report the newest format that each worker reads. A silent worker counts for a minute longer, as it may
be restarted. The newest format in which a session was opened is stored, so that a worker that does not read it
refuses to start.
"""

import asyncio

import structlog
from redis.exceptions import ResponseError

from antiphon_shared.bus.batcher import Batcher
from antiphon_shared.bus.connection import is_unavailable, retry_while_unavailable
from antiphon_shared.bus.keys import Keys
from antiphon_shared.bus.reads import redis_time_ms
from antiphon_shared.events.base import COMPONENTS
from antiphon_shared.formats import FORMAT
from antiphon_shared.process.clock import monotonic_s
from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.stored import fields_of

FORGET_MS = 60_000
"""The time after which a silent worker no longer counts."""
_FRESH_FOR_S = 2.0
_FIRST_FORMAT, _DIGITS_MAX = 1, 9
_TIME_DIGITS_MAX = 15


class LiveFormat:
    """The newest format that may be written now. It asks Redis at most every other second."""

    def __init__(self, batcher: Batcher, keys: Keys) -> None:
        self._batcher, self._keys = batcher, keys
        self._asking = asyncio.Lock()
        self._format, self._until_s = FORMAT, 0.0
        self._stored_until_s = 0.0
        self._is_refused = False

    @property
    def current(self) -> int:
        """Return the format as last read from Redis."""
        return self._format

    async def now(self) -> int:
        """Return the newest format that every live worker reads."""
        if monotonic_s() < self._until_s:
            return self._format
        async with self._asking:
            if monotonic_s() >= self._until_s:
                self._format = await retry_while_unavailable("read the formats of workers", self._ask)
                self._until_s = monotonic_s() + _FRESH_FOR_S
        return self._format

    async def of_new_session(self) -> int:
        """Return the format for a session that is opened now, and store it as one of the deployment's formats."""
        format = await self.now()
        if monotonic_s() >= self._stored_until_s:  # repeated, as Redis may have lost it
            await retry_while_unavailable("store the format", lambda: self._set(format))
            self._stored_until_s = self._until_s
        return format

    async def check(self) -> None:
        """Raise ConfigurationError when the deployment holds sessions that this release cannot read."""
        stored = await retry_while_unavailable("read the format", self._stored)
        if stored > FORMAT:
            raise ConfigurationError(
                f"This deployment contains sessions of format {stored} ({self._keys.format()}), but "
                f"this release reads only formats up to {FORMAT}.",
                hint="Run the release that wrote them, or a later one. To downgrade nevertheless, "
                "wait until every session has ended, stop all workers, and delete the key "
                f"{self._keys.format()}.",
            )

    async def _ask(self) -> int:
        heartbeats = [self._batcher.submit("HGETALL", self._keys.workers(name)) for name in COMPONENTS]
        try:
            *listed, now_ms = await asyncio.gather(*heartbeats, redis_time_ms(self._batcher))
        except ResponseError as error:
            if is_unavailable(error):
                raise
            return self._refused(error)
        read = [format_of(line, now_ms) for lines in listed for line in lines.values()]
        return min((FORMAT, *(format for format in read if format is not None)))

    def _refused(self, error: ResponseError) -> int:
        """Return the first format, as workers of any release may be running if heartbeats cannot be read."""
        if not self._is_refused:
            structlog.get_logger().warning(
                "heartbeats_unreadable",
                error=str(error),
                hint="New sessions keep the first format. Renew the access rules with `antiphon redis acl`.",
            )
        self._is_refused = True
        return _FIRST_FORMAT

    async def _set(self, format: int) -> None:
        try:
            if format > max(_FIRST_FORMAT, await self._stored()):
                await self._batcher.submit("SET", self._keys.format(), format)
        except ResponseError as error:
            if is_unavailable(error):
                raise
            self._refused(error)

    async def _stored(self) -> int:
        try:
            raw: bytes | None = await self._batcher.submit("GET", self._keys.format())
        except ResponseError as error:
            if is_unavailable(error):
                raise
            self._refused(error)
            return _FIRST_FORMAT
        return int(raw) if raw is not None and raw.isdigit() and len(raw) <= _DIGITS_MAX else _FIRST_FORMAT


def format_of(heartbeat: bytes, now_ms: int) -> int | None:
    """Return the newest format that a worker reads, from its heartbeat; None for an outdated or invalid one. Pure."""
    at_ms, _, content = heartbeat.partition(b" ")
    fields = fields_of(content)
    if "pid" not in fields or not at_ms.isdigit() or len(at_ms) > _TIME_DIGITS_MAX:
        return None
    if abs(now_ms - int(at_ms)) > FORGET_MS:
        return None
    format = fields.get("format", _FIRST_FORMAT)
    return format if type(format) is int and format >= _FIRST_FORMAT else _FIRST_FORMAT
