"""The lines of a session's recording, read from Redis page by page."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from functools import cache, lru_cache
from importlib.metadata import version
from typing import Any
from uuid import UUID

from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.sessions import RedisSession
from antiphon_shared.events import AnyEvent, RunOpened, SessionOpened, decode
from antiphon_shared.events.record_differences import LostBase, RecordReader
from antiphon_shared.events.step_records import AnyRecord, ExchangeRecord, LeftOut, encode_record
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.process.ids import child_id
from pydantic_core import from_json

from antiphon.errors import UnknownSession
from antiphon.recording.hashes import content_hash, prompt_hashes, schemas_hash
from antiphon.recording.lines import (
    CatalogueLine,
    ContentLine,
    End,
    EventLine,
    Header,
    Line,
    RecordLine,
    SpecificationLine,
)

_PAGE_FIRST, _PAGE_MAX = 16, 64
"""The number of entries in the first page and in the largest page."""
_PAGE_BYTES = 1 << 20
"""The limit of a page's size, estimated from the pages before."""
_CONTENTS_CACHED_MAX = 16
"""The number of cached contents; few suffice, as many sessions share their prompts and tools."""
_EVENTS_BEFORE_OPENING_MAX = 100
"""The number of events that are read in search of the event that opens the session."""

Logged = tuple[Line, bytes | None]
"""A line, and for an event, record or content also its stored bytes; a record stored as a difference is restored."""
_Event = tuple[str, AnyEvent, bytes]
"""An event with its log entry and its stored bytes."""


async def session_lines(session_id: str, bus: Bus) -> AsyncGenerator[Line]:
    """Yield the recording of a session up to its newest event, with only a few pages in memory.

    Raises UnknownSession if the session is not stored, UnreadableEvent and BadSignature.
    """
    async with aclosing(logged_lines(session_id, bus)) as lines:
        async for line, _ in lines:
            yield line


async def logged_lines(session_id: str, bus: Bus) -> AsyncGenerator[Logged]:
    """Yield the lines as `session_lines` does, each with its stored bytes if it has any."""
    session = bus.session(session_id)
    log, records = _Log(session), _Records(session, bus)
    first, opened = await _beginning(log)
    if not first:
        raise UnknownSession.of(session_id)
    header = Header(
        antiphon=_version(),
        session_id=session_id,
        submitted=first[0][1].time,
        schemas=schemas_hash(),
        prompts=prompt_hashes(),
        catalogues=(opened.catalogue,) if opened and opened.catalogue else (),
        models=opened.models if isinstance(opened, SessionOpened) else (),
    )
    yield header, None
    if opened and opened.catalogue and (catalogue := await _catalogue(opened.catalogue, bus)):
        yield catalogue, None
    if isinstance(opened, RunOpened) and (specification := await _specification(opened.specification, bus)):
        yield specification, None
    page, n, is_short = first, 0, log.is_read
    del first  # a page at a time
    while True:
        for entry, event, raw in page:
            n += 1
            yield EventLine(n=n, entry=entry, event=event), raw
            if records.may_be_due_after(event.id):
                async for line in records.due_lines():
                    yield line
        records.look_again()
        if log.is_read:
            break
        page = await log.page()
    async for line in records.due_lines():
        yield line
    if not is_short and not await session.log_page("-", 1):
        raise UnknownSession(f"session {session_id} expired during the export.")
    yield End(events=n, records=records.count), None


@cache
def _version() -> str:
    return version("antiphon")


async def _beginning(log: "_Log") -> tuple[list[_Event], SessionOpened | RunOpened | None]:
    """Return the log's first events, and the data of the event among them that opens the session or run."""
    first: list[_Event] = []
    while len(first) < _EVENTS_BEFORE_OPENING_MAX and log.bytes_read < _PAGE_BYTES and not log.is_read:
        page = await log.page()
        first += page
        opened = next(
            (event.data for _, event, _ in page if isinstance(event.data, SessionOpened | RunOpened)), None
        )
        if opened is not None:
            return first, opened
    return first, None


class _PageSize:
    """The number of entries to request: one if entries are large, many if they are small."""

    def __init__(self) -> None:
        self.count = _PAGE_FIRST

    def learn(self, page: Sequence[bytes]) -> None:
        largest = max(map(len, page), default=1)
        self.count = max(1, min(_PAGE_MAX, 2 * self.count, _PAGE_BYTES // max(1, largest)))


class _Log:
    """The session's events, in order."""

    def __init__(self, session: RedisSession) -> None:
        self._session, self._size, self._last = session, _PageSize(), "-"
        self.is_read = False
        """Whether the last page reached the end."""
        self.bytes_read = 0

    async def page(self) -> list[_Event]:
        """Return the next page."""
        count = self._size.count
        page = await self._session.log_page(self._last, count)
        self.is_read = len(page) < count
        if page:
            self._size.learn([raw for _, raw in page])
            self._last = page[-1][0]
            self.bytes_read += sum(len(raw) for _, raw in page)
        return [(entry, decode(raw), raw) for entry, raw in page]


class _Records:
    """The session's records in order, each after its step's last event."""

    def __init__(self, session: RedisSession, bus: Bus) -> None:
        self._session, self._bus, self._size = session, bus, _PageSize()
        self._page: deque[tuple[AnyRecord, int, bytes]] = deque()
        """The records of the page, each with the id of its step's last event and its restored bytes."""
        self._reader = RecordReader()
        self._read = 0
        self._may_be_more = True
        self._seen: set[int] = set()
        """Ids of events as numbers, which are faster to look up."""
        self._contents: set[str] = set()
        self.count = 0

    def look_again(self) -> None:
        """Expect new records, after more of the log has been read."""
        self._may_be_more = True

    def may_be_due_after(self, event_id: UUID) -> bool:
        """Return whether records may be due after this event."""
        self._seen.add(event_id.int)
        return self._is_due(*self._page[0][:2]) if self._page else self._may_be_more

    async def due_lines(self) -> AsyncIterator[Logged]:
        """Yield the lines of the records whose event and outputs have been yielded."""
        while (first := await self._next()) is not None and self._is_due(*first[:2]):
            self._page.popleft()
            self.count += 1
            record, _, raw = first
            if isinstance(record, ExchangeRecord):
                for content in await self._contents_of(record):
                    yield content
            yield RecordLine.of(record), raw

    def _is_due(self, record: AnyRecord, last: int) -> bool:
        """Return whether a record is due; a step's outputs are appended together, so the last one suffices."""
        return last in self._seen and record.of.int in self._seen

    async def _next(self) -> tuple[AnyRecord, int, bytes] | None:
        if not self._page and self._may_be_more:
            count = self._size.count
            page = await self._session.records_page(self._read, count)
            self._size.learn(page)
            self._read += len(page)
            self._may_be_more = len(page) == count
            self._page.extend((record, _last_event(record), raw) for record, raw in map(self._restore, page))
        return self._page[0] if self._page else None

    def _restore(self, stored: bytes) -> tuple[AnyRecord, bytes]:
        """Return a record and its bytes, or a LeftOut if Redis has lost the base of its difference."""
        try:
            return self._reader.read(stored)
        except LostBase as lost:
            record = LeftOut(
                of=lost.record.of,
                outputs=lost.record.outputs,
                component="reasoning_engine",
                bytes=len(stored),
            )
            return record, encode_record(record, record.outputs)

    async def _contents_of(self, record: ExchangeRecord) -> list[Logged]:
        """Return the lines of an exchange's shared contents, unless they have been yielded."""
        new = [one for one in dict.fromkeys(record.contents) if one not in self._contents]
        self._contents.update(new)
        if not new:
            return []
        contents = await asyncio.gather(*map(self._bus.content, new))
        return [
            (ContentLine(hash=one, content=_readable(one, content)), content)
            for one, content in zip(new, contents, strict=True)
            if content is not None
        ]


def _last_event(record: AnyRecord) -> int:
    """Return the id of the last event of a step, as a number."""
    return (child_id(record.of, record.outputs - 1) if record.outputs else record.of).int


@lru_cache(_CONTENTS_CACHED_MAX)
def _readable(hash: str, content: bytes) -> Any:
    try:
        return from_json(content)
    except ValueError as error:
        raise UnreadableEvent(f"the shared content {hash} is not JSON: {error}.") from None


async def _catalogue(hash: str, bus: Bus) -> CatalogueLine | None:
    """Return the line of a catalogue, if it is still stored; an empty catalogue may mean that it is not."""
    catalogue = await bus.catalogue(hash)
    is_there = bool(catalogue.tools) or content_hash(catalogue.model_dump_json().encode()) == hash
    return CatalogueLine(hash=hash, catalogue=catalogue) if is_there else None


async def _specification(hash: str, bus: Bus) -> SpecificationLine | None:
    """Return the line of a specification, if there is one and it is still stored."""
    content = await bus.specification(hash) if hash else None
    if content is None:
        return None
    specification = _readable(hash, content)
    if not isinstance(specification, dict):
        raise UnreadableEvent(f"the specification {hash} is not a JSON object.")
    return SpecificationLine(hash=hash, specification=specification)
