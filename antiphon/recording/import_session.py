"""The import of a recording into Redis for inspection; the session does not resume.

Events and records are staged under other keys, and renamed in one step when the whole recording has been read. An
import that dies before leaves only keys that expire, and can be repeated.
"""

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import aclosing
from typing import Any

from antiphon_shared.bus.handling import RECORDS, RESPONSE, STATE
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.scripts import script_of
from antiphon_shared.bus.signing import SIGNATURE
from antiphon_shared.bus.wire import Argument
from antiphon_shared.events import ResponseReady, encode
from antiphon_shared.events.session import RESPONSE_KIND
from antiphon_shared.events.step_records import DecisionRecord, ForkRecord, LeftOut, encode_record
from antiphon_shared.formats import FORMAT
from antiphon_shared.process.clock import milliseconds
from antiphon_shared.process.errors import RedisUnavailable, UnreadableEvent
from antiphon_shared.process.ids import new_id
from antiphon_shared.process.stream_ids import milliseconds_of
from antiphon_shared.tools.calls import CATALOGUE
from pydantic_core import to_json

from antiphon.errors import AlreadyThere
from antiphon.recording.lines import (
    CatalogueLine,
    ContentLine,
    EventLine,
    Header,
    Line,
    RecordLine,
    SpecificationLine,
    encode_line,
)
from antiphon.recording.order import Order
from antiphon.recording.session_document import Document
from antiphon.recording.session_lines import session_lines
from coordinator.document import SESSION

_IMPORT = script_of(__name__, "import_session")
_IN_FLIGHT_BYTES = 1 << 19
_STAGED_MS = 600_000
"""The lifetime of staged keys after the last batch, in milliseconds."""


async def import_session(bus: Bus, lines: Iterable[Line]) -> str:
    """Store a recording in Redis, atomically; return the id of its session.

    The session is kept for the retention time from now on. An existing session with the same events and records stays
    unchanged. Raises AlreadyThere if it has others, UnreadableEvent and RedisUnavailable.
    """
    checked = _checked_in_order(lines)
    header = next(checked)
    assert isinstance(header, Header), "the order has been seen to"
    if await bus.session(header.session_id).log_page("-", 1):
        await _check_is_same(bus, header.session_id, checked)
        return header.session_id
    staged = _Staged(bus, header.session_id)
    try:
        for line in checked:
            await staged.add(line)
        await staged.rename_into_place()
    except BaseException:
        staged.drop()
        raise
    return header.session_id


class _Staged:
    """A session that is being imported."""

    def __init__(self, bus: Bus, session_id: str) -> None:
        self._bus, self._session_id = bus, session_id
        name = f"import:{new_id()}"
        self._events = bus.keys.of_session(session_id, f"{name}:events")
        self._records = bus.keys.of_session(session_id, f"{name}:{RECORDS}")
        self._log = bus.keys.log(session_id)
        self._retention_ms = milliseconds(bus.settings.retention_s)
        self._shared_ms = milliseconds(bus.shared_retention_s)
        self._replies: list[asyncio.Future[Any]] = []
        self._records_due: list[bytes] = []
        self._bytes = 0
        self._opened_ms: int | None = None
        self._response: bytes = b""
        self._document = Document()
        self._version = 0
        self._is_state_known = True

    async def add(self, line: Line) -> None:
        """Send the line's content; wait for replies if much is in flight."""
        match line:
            case EventLine():
                self._add_event(line)
            case RecordLine(record=record):
                self._records_due.append(encode_record(record, record.outputs))
                self._bytes += len(self._records_due[-1])
                if isinstance(record, DecisionRecord | ForkRecord):
                    self._document.take(record)
                    self._version += bool(record.changed)
                elif isinstance(record, LeftOut) and record.component == "coordinator":
                    self._is_state_known = False
            case CatalogueLine():
                self._store_content(
                    self._bus.keys.catalogue_content(line.hash), CATALOGUE.write(line.catalogue, FORMAT)
                )
            case SpecificationLine():
                self._store_content(self._bus.keys.specification(line.hash), to_json(line.specification))
            case ContentLine():
                self._store_content(self._bus.keys.content(line.hash), to_json(line.content))
            case _:
                pass
        if self._bytes >= _IN_FLIGHT_BYTES:
            await self._wait_for_replies()

    async def rename_into_place(self) -> None:
        """Rename the staged keys into place, after all lines have been added."""
        if self._opened_ms is None:
            raise UnreadableEvent("it contains no events.")
        await self._wait_for_replies()
        keys, session_id = self._bus.keys, self._session_id
        partition = keys.partition(session_id)
        result = await self._bus.batcher.run(
            _IMPORT,
            [
                *(self._events, self._records, self._log),
                *(keys.of_session(session_id, name) for name in (RECORDS, STATE, RESPONSE)),
                *(keys.sessions(partition), keys.queries_waiting(partition)),
            ],
            [session_id, self._opened_ms, self._retention_ms, self._version, self._state(), self._response],
        )
        if result == b"there":
            raise _already_imported(session_id)
        if result != b"done":
            raise RedisUnavailable(
                f"the imported data of session {session_id} was lost.", hint="Import it again."
            )

    def drop(self) -> None:
        """Delete the staged keys without waiting for the reply; keys that remain expire."""
        self._bus.batcher.submit("DEL", self._events, self._records)

    def _add_event(self, line: EventLine) -> None:
        if line.event.subject != self._session_id:
            raise UnreadableEvent(f"event {line.n} belongs to another session: {line.event.subject}.")
        raw, signer = encode(line.event), self._bus.signer
        signature = () if signer is None else (SIGNATURE, signer.sign(self._log, raw))
        self._send("XADD", self._events, line.entry, *signature, "event", raw)
        if self._opened_ms is None:
            self._opened_ms = milliseconds_of(line.entry)
        if isinstance(line.event.data, ResponseReady):
            self._response = RESPONSE_KIND.write(line.event.data, line.event.format)

    def _store_content(self, key: str, content: bytes) -> None:
        """Store a content unless its hash exists, as the recording's copy may be redacted."""
        self._send("SET", key, content, "NX", "PX", self._shared_ms)
        self._send("PEXPIRE", key, self._shared_ms, "GT")

    def _send(self, *command: Argument) -> None:
        self._replies.append(self._bus.batcher.submit(*command))
        self._bytes += sum(len(part) for part in command if isinstance(part, bytes))

    async def _wait_for_replies(self) -> None:
        if self._records_due:
            self._send("RPUSH", self._records, *self._records_due)
            self._records_due.clear()
        for key in (self._events, self._records):
            self._send("PEXPIRE", key, _STAGED_MS)
        replies, self._replies, self._bytes = self._replies, [], 0
        for reply in replies:
            await reply

    def _state(self) -> bytes:
        """Return the coordinator's document; empty if the recording lacks a part of it."""
        if not self._version or not self._is_state_known:
            return b""
        try:
            session = self._document.session()
        except UnreadableEvent:
            return b""
        return SESSION.write(session, session.format)


async def _check_is_same(bus: Bus, session_id: str, lines: Iterator[Line]) -> None:
    """Raise AlreadyThere unless the existing session has the recording's events and records."""
    recorded = (line for line in lines if isinstance(line, EventLine | RecordLine))
    async with aclosing(session_lines(session_id, bus)) as stored:
        async for line in stored:
            if isinstance(line, EventLine | RecordLine):
                other = next(recorded, None)
                if other is None or encode_line(other) != encode_line(line):
                    raise _already_imported(session_id)
    if next(recorded, None) is not None:
        raise _already_imported(session_id)


def _checked_in_order(lines: Iterable[Line]) -> Iterator[Line]:
    order = Order()
    for line in lines:
        order.check(line)
        yield line
    order.finish()


def _already_imported(session_id: str) -> AlreadyThere:
    return AlreadyThere(
        f"session {session_id} already exists and differs from the recording.",
        hint="Import into another Redis, or under another ANTIPHON_NAMESPACE.",
    )
