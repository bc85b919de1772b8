"""The export of sessions from Redis to files, one recording for each session."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import IO

import structlog
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import ResponseReady
from antiphon_shared.process.errors import UnreadableEvent

from antiphon.errors import AlreadyThere
from antiphon.leftovers import clear_parts
from antiphon.observe import member_scores
from antiphon.recording.chain import Chained
from antiphon.recording.files import header_of, writing
from antiphon.recording.lines import EncodedLine, End, EventLine, Header, Line, encode_line
from antiphon.recording.redaction.redact import Redaction
from antiphon.recording.session_lines import Logged, logged_lines, session_lines
from antiphon.recording.side_by_side import each

_log = structlog.get_logger()
_CHUNK_BYTES = 1 << 19
"""The size up to which a whole session is kept in memory."""
_IDS_PAGE = 1_000
MakeConsistent = Callable[[Path, AsyncGenerator[Line]], Awaitable[str]]
"""The last step of a redacted export, which needs today's code; see `replay/redacted_lines.py`. It receives the file
and the lines before redaction, and returns `Exported.diverges`.
"""


@dataclass(frozen=True, slots=True)
class Exported:
    """A written recording."""

    session_id: str
    path: Path
    events: int
    records: int
    redactions: int
    bytes: int
    """The size before compression."""
    is_answered: bool
    """Whether it contains the session's answer; otherwise the session continues after the end of the recording."""
    diverges: str = ""
    """The first divergence of today's code from the session, if values were redacted; empty without a divergence."""


async def export(
    bus: Bus,
    session_id: str,
    folder: Path,
    redaction: Redaction | None = None,
    is_compressed: bool = False,
    make_consistent: MakeConsistent | None = None,
) -> Path:
    """Write the recording of a session into a folder, which is created if it is missing; return the path.

    Raises UnknownSession, AlreadyThere, UnreadableEvent, BadSignature, RedisUnavailable and OSError.
    """
    await asyncio.to_thread(clear_parts, folder)
    one = await export_session(bus, session_id, folder, redaction, is_compressed, make_consistent)
    if one.diverges:
        _log.warning("redacted_recording_diverges", session_id=session_id, first=one.diverges)
    return one.path


async def export_session(
    bus: Bus,
    session_id: str,
    folder: Path,
    redaction: Redaction | None = None,
    is_compressed: bool = False,
    make_consistent: MakeConsistent | None = None,
) -> Exported:
    """Write the recording of one session up to its newest event; for the arguments and errors see `export`.

    The file is renamed into place when it is complete. It may only replace an earlier recording of the session.
    """
    path = folder / file_name(session_id, is_compressed)
    if _exists(path):
        await asyncio.to_thread(_refuse_to_replace_another, path, session_id)

    def lines() -> AsyncGenerator[Logged]:
        return logged_lines(session_id, bus)

    if redaction is None:
        return await _written(session_id, path, _encoded(lines()))
    # Most sessions are small and need no redaction: they are read once, and their encoded bytes are searched. Content
    # that was not searched is never written, as a temporary file would remain if this process were killed.
    redaction = redaction.anew()
    small = await _lines_if_small(lines(), redaction)
    if small is not None and redaction.passes(small):
        return await _written(session_id, path, each(small))
    redaction = redaction.anew()

    def again() -> AsyncGenerator[Line]:
        if small is None:
            return session_lines(session_id, bus)
        return each([line for line, _ in small])

    async for line in again():
        redaction.learn(line)
    exported = await _written(session_id, path, _redacted(again(), redaction))
    if not exported.redactions or make_consistent is None:
        return exported
    return replace(exported, diverges=await make_consistent(path, again()))


async def _lines_if_small(lines: AsyncGenerator[Logged], redaction: Redaction) -> list[EncodedLine] | None:
    """Return all lines, encoded with the header of the redaction; None if they exceed the limit for memory."""
    small: list[EncodedLine] = []
    size_bytes = 0
    async with aclosing(lines):
        async for line, logged in lines:
            raw = encode_line(redaction.header(line) if isinstance(line, Header) else line, logged)
            small.append((line, raw))
            size_bytes += len(raw)
            if size_bytes >= _CHUNK_BYTES:
                return None
    return small


async def _encoded(lines: AsyncIterable[Logged]) -> AsyncGenerator[EncodedLine]:
    """Yield each line and its encoded form."""
    async for line, logged in lines:
        yield line, encode_line(line, logged)


async def _redacted(lines: AsyncIterable[Line], redaction: Redaction) -> AsyncGenerator[EncodedLine]:
    """Yield each redacted line and its encoded form."""
    async for line in lines:
        redacted_line = redaction.line(line)
        yield redacted_line, encode_line(redacted_line)


async def _written(session_id: str, path: Path, lines: AsyncIterable[EncodedLine]) -> Exported:
    end, bytes_in_all, is_answered = End(events=0, records=0), 0, False
    chunk, chained = bytearray(), Chained()

    async def write(file: IO[bytes]) -> None:
        nonlocal bytes_in_all, chunk
        bytes_in_all += len(chunk)
        if len(chunk) < _CHUNK_BYTES:  # faster than a thread would start
            file.write(chunk)
        else:
            await asyncio.to_thread(file.write, chunk)
        chunk = bytearray()

    with writing(path) as file:
        async for line, raw in lines:
            chunk += chained.bind(raw)
            chunk += b"\n"
            if len(chunk) >= _CHUNK_BYTES:
                await write(file)
            if isinstance(line, EventLine) and isinstance(line.event.data, ResponseReady):
                is_answered = True
            elif isinstance(line, End):
                end = line
        await write(file)
    return Exported(
        session_id=session_id,
        path=path,
        events=end.events,
        records=end.records,
        redactions=end.redactions,
        bytes=bytes_in_all,
        is_answered=is_answered,
    )


async def sessions_since(bus: Bus, since: datetime | None = None) -> AsyncGenerator[str]:
    """Yield the ids of stored sessions opened since a time, partition by partition, the oldest first in each."""
    earliest_ms = 0.0 if since is None else since.timestamp() * 1000
    for partition in range(bus.keys.partitions):
        at_ms, reported = earliest_ms, set[bytes]()
        while True:
            # Each page starts again at the newest time of the last one, as sessions leave the set meanwhile.
            page = member_scores(
                await bus.batcher.submit(
                    *("ZRANGE", bus.keys.sessions(partition), repr(at_ms), "+inf", "BYSCORE"),
                    *("LIMIT", 0, _IDS_PAGE + len(reported), "WITHSCORES"),
                )
            )
            new = [(name, float(score)) for name, score in page if name not in reported]
            if not new:
                break
            for name, _ in new:
                yield name.decode()
            reported = {
                name for name, score in (*new, *((name, at_ms) for name in reported)) if score == new[-1][1]
            }
            at_ms = new[-1][1]


def file_name(session_id: str, is_compressed: bool = False) -> str:
    """Return `SESSION.jsonl`, with `=` in place of a colon, which some file systems refuse."""
    return f"{session_id.replace(':', '=')}.jsonl{'.gz' * is_compressed}"


def _exists(path: Path) -> bool:
    """Return whether the file exists; create its folder if that is missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.exists()


def _refuse_to_replace_another(path: Path, session_id: str) -> None:
    try:
        is_other = not path.is_file() or header_of(path).session_id != session_id
    except UnreadableEvent:
        is_other = True
    if is_other:
        raise AlreadyThere(
            f"{path} exists and is not a recording of session {session_id}.",
            hint="Move it, or choose another folder.",
        )
