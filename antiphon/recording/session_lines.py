"""From what Redis holds of a session to the lines of its recording, page by page."""

from collections.abc import AsyncIterator
from importlib.metadata import version
from typing import Protocol
from uuid import UUID

import orjson

from antiphon.recording.hashes import prompt_hashes, schemas_hash
from antiphon.recording.lines import (
    CatalogueLine,
    ContentLine,
    End,
    EventLine,
    Header,
    Line,
    RecordLine,
)
from shared.errors import UnreadableEvent
from shared.events import SessionOpened, decode
from shared.ids import child_id
from shared.step_records import AnyRecord, ExchangeRecord, decode_record
from shared.tools import Catalogue

_PAGE = 100


class Source(Protocol):
    """Where a session is read from, a page at a time; see shared/bus/sessions.py."""

    async def log_page(self, after: str, count: int) -> list[tuple[str, bytes]]: ...

    async def records_page(self, start: int, count: int) -> list[bytes]: ...


class Shared(Protocol):
    """Where what many sessions share is read from; see shared/bus/redis_bus.py."""

    async def catalogue(self, content_hash: str) -> Catalogue: ...

    async def content(self, content_hash: str) -> bytes | None: ...


async def session_lines(session_id: str, source: Source, shared: Shared) -> AsyncIterator[Line]:
    """The recording of a session, as far as it has come. Raises UnreadableEvent when there is none."""
    first = [(entry, decode(raw)) for entry, raw in await source.log_page("-", _PAGE)]
    if not first:
        raise UnreadableEvent(f"session {session_id} has no events.")
    opened = next((event.data for _, event in first if isinstance(event.data, SessionOpened)), None)
    records = _Records(source)
    yield Header(
        antiphon=version("antiphon"),
        session_id=session_id,
        submitted=first[0][1].time,
        schemas=schemas_hash(),
        prompts=prompt_hashes(),
        catalogues=(opened.catalogue,) if opened and opened.catalogue else (),
        models=opened.models if opened else (),
    )
    if opened and opened.catalogue:
        yield CatalogueLine(hash=opened.catalogue, catalogue=await shared.catalogue(opened.catalogue))
    seen: set[UUID] = set()
    contents: set[str] = set()
    page, n = first, 0
    while page:
        for entry, event in page:
            n += 1
            seen.add(event.id)
            yield EventLine(n=n, entry=entry, event=event)
            async for record in records.due(seen):
                for content in await _contents(record, shared, contents):
                    yield content
                yield RecordLine(record=record)
        page = [(entry, decode(raw)) for entry, raw in await source.log_page(page[-1][0], _PAGE)]
    yield End(events=n, records=records.told)


class _Records:
    """The session's records in their order, each once its step's last event has been told."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._page: list[AnyRecord] = []
        self._read = 0
        self.told = 0

    async def due(self, seen: set[UUID]) -> AsyncIterator[AnyRecord]:
        """Those whose event, and all that came of it, is among `seen`."""
        while (record := await self._next()) is not None and _is_due(record, seen):
            self._page.pop(0)
            self.told += 1
            yield record

    async def _next(self) -> AnyRecord | None:
        if not self._page:
            raw = await self._source.records_page(self._read, _PAGE)
            self._read += len(raw)
            self._page = [decode_record(one) for one in raw]
        return self._page[0] if self._page else None


def _is_due(record: AnyRecord, seen: set[UUID]) -> bool:
    return record.of in seen and all(child_id(record.of, n) in seen for n in range(record.outputs))


async def _contents(record: AnyRecord, shared: Shared, told: set[str]) -> list[ContentLine]:
    """What an exchange shares with others, unless it has been told."""
    lines = []
    for content_hash in record.contents if isinstance(record, ExchangeRecord) else ():
        if content_hash not in told:
            told.add(content_hash)
            content = await shared.content(content_hash)
            if content is not None:
                lines.append(ContentLine(hash=content_hash, content=orjson.loads(content)))
    return lines
