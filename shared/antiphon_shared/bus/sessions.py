"""The stored data of one session, for handlers and observers."""

from collections.abc import Awaitable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any
from uuid import UUID

import structlog

from antiphon_shared.bus import scripts
from antiphon_shared.bus.batcher import Batcher
from antiphon_shared.bus.handling import RECORDS, RESPONSE
from antiphon_shared.bus.keys import Keys
from antiphon_shared.bus.reads import PendingRead
from antiphon_shared.bus.signing import Signer, verified_event
from antiphon_shared.bus.wire import Argument
from antiphon_shared.events import AnyEvent, decode
from antiphon_shared.events.session import RESPONSE_KIND, Response
from antiphon_shared.process.errors import UnreadableEvent

_DELTAS_LENGTH = 2_000
_DELTAS_LIFE_MS = 600_000
_SEARCHED_PAGE, _SEARCHED_PAGES_MAX = 100, 1_000
"""Bounds on a search from the end of a log. In a run with many calls, a request may be thousands of entries back."""


class RedisSession:
    """A session store on Redis; see `handling.SessionStore`. Reads begun together share one round trip."""

    def __init__(
        self, batcher: Batcher, keys: Keys, session_id: str, retention_s: float, signer: Signer | None = None
    ) -> None:
        self.session_id = session_id
        self._signer = signer
        self._batcher = batcher
        self._keys = keys
        self._retention_ms = round(retention_s * 1000)

    def document(self, name: str) -> Awaitable[tuple[int, bytes | None]]:
        key = self._keys.of_session(self.session_id, name)
        return PendingRead(self._batcher.submit("HMGET", key, "version", "content"), _document)

    def items(self, name: str, start: int = 0) -> Awaitable[list[bytes]]:
        return self._batcher.submit("LRANGE", self._keys.of_session(self.session_id, name), start, -1)

    def event(self, log_entry: str) -> Awaitable[AnyEvent]:
        log = self._keys.log(self.session_id)
        reply = self._batcher.submit("XRANGE", log, log_entry, log_entry)
        return PendingRead(reply, partial(self._event, log, log_entry))

    def _event(self, log: str, log_entry: str, entries: list[Any]) -> AnyEvent:
        if not entries:
            raise UnreadableEvent(f"the log of session {self.session_id} has no entry {log_entry}")
        return decode(verified_event(self._signer, log, entries[0][1]))

    async def logged(self, id: UUID) -> tuple[str, AnyEvent] | None:
        log, end, id_text = self._keys.log(self.session_id), "+", str(id).encode()
        for _ in range(_SEARCHED_PAGES_MAX):
            entries = await self._batcher.submit("XREVRANGE", log, end, "-", "COUNT", _SEARCHED_PAGE)
            for entry, fields in entries:
                if id_text not in fields.get(b"event", b""):
                    continue
                with suppress(UnreadableEvent):
                    event = decode(verified_event(self._signer, log, fields))
                    if event.id == id:
                        return entry.decode(), event
            if not entries:
                return None
            end = f"({entries[-1][0].decode()}"
        return None

    async def settled(self, journal: str) -> dict[str, bytes]:
        entries: dict[bytes, bytes] = await self._batcher.submit(
            "HGETALL", self._keys.of_session(self.session_id, journal)
        )
        return {name.decode(): content for name, content in entries.items()}

    async def count(self, journal: str) -> int:
        return int(await self._batcher.submit("HLEN", self._keys.of_session(self.session_id, journal)))

    async def note(self, journal: str, entry: str, content: bytes) -> bool:
        key = self._keys.of_session(self.session_id, journal)
        arguments: list[Argument] = [self._retention_ms, "HSETNX", entry, content]
        return bool(await self._batcher.run(scripts.EXPIRING, [key], arguments))

    async def store(self, name: str, content: bytes, more_s: float = 0.0) -> None:
        key = self._keys.of_session(self.session_id, name)
        await self._batcher.submit("SET", key, content, "PX", self._retention_ms + round(more_s * 1000))

    async def load(self, name: str) -> bytes | None:
        content: bytes | None = await self._batcher.submit(
            "GET", self._keys.of_session(self.session_id, name)
        )
        return content

    def stream_text(self, text: str) -> Awaitable[None]:
        key = self._keys.deltas(self.session_id)
        life_ms = min(_DELTAS_LIFE_MS, self._retention_ms)
        adding: list[Argument] = ["XADD", "MAXLEN", "~", _DELTAS_LENGTH, "*", "text", text]
        return self._batcher.run_at_once(scripts.EXPIRING, [key], [life_ms, *adding])

    async def log(self) -> list[tuple[str, AnyEvent]]:
        """Return the session's events in order, with their log entries, without foreign entries."""
        log = self._keys.log(self.session_id)
        entries = await self._batcher.submit("XRANGE", log, "-", "+")
        read = ((entry.decode(), read_logged(self._signer, log, entry, fields)) for entry, fields in entries)
        return [(entry, event) for entry, event in read if event is not None]

    async def log_page(self, after: str = "-", count: int = 100) -> list[tuple[str, bytes]]:
        """Return up to `count` events as written, with their log entries, from after the entry `after` (`-`: all)."""
        log = self._keys.log(self.session_id)
        start = after if after == "-" else f"({after}"
        entries = await self._batcher.submit("XRANGE", log, start, "+", "COUNT", count)
        return [(entry.decode(), verified_event(self._signer, log, fields)) for entry, fields in entries]

    async def records_page(self, start: int = 0, count: int = 100) -> list[bytes]:
        """Return up to `count` step records as written, from the `start`-th on."""
        key = self._keys.of_session(self.session_id, RECORDS)
        records: list[bytes] = await self._batcher.submit("LRANGE", key, start, start + count - 1)
        return records

    async def response(self) -> Response | None:
        """Return the session's answer, or None."""
        _, content = await self.document(RESPONSE)
        return None if content is None else RESPONSE_KIND.read(content)


def _document(reply: list[Any]) -> tuple[int, bytes | None]:
    version, content = reply
    return int(version or 0), content


def read_logged(
    signer: Signer | None, log: str, entry: str | bytes, fields: Mapping[bytes, bytes]
) -> AnyEvent | None:
    """Return the event of a log entry, for observers; for a foreign or forged entry, log it and return None."""
    try:
        return decode(verified_event(signer, log, fields))
    except UnreadableEvent as error:
        structlog.get_logger().warning("event_unreadable", log=log, entry=entry, reason=error.message)
        return None
