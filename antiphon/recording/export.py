"""From what Redis keeps of sessions to files: one recording each."""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO, Protocol

from antiphon.errors import AlreadyThere
from antiphon.leftovers import clear_parts
from antiphon.observe import pairs
from antiphon.recording.files import header_of, writing
from antiphon.recording.lines import End, EventLine, Header, Line, encode_line
from antiphon.recording.redaction.redacted_lines import make_consistent
from antiphon.recording.session_lines import session_lines
from antiphon.recording.side_by_side import each, side_by_side
from shared.bus.redis_bus import Bus
from shared.errors import UnreadableEvent
from shared.events import ResponseReady

_CHUNK_BYTES = 1 << 19
_IDS_PAGE = 1_000


class Redacting(Protocol):
    """Takes out of lines what must not be told; see `redact.py`."""

    def anew(self) -> "Redacting":
        """The same for one more recording."""

    def header(self, header: Header) -> Header:
        """The header of a recording that holds nothing to be replaced: it tells by which rules."""

    def passes(self, lines: Sequence[Line], raw: bytes) -> bool:
        """Whether nothing has to be replaced in those lines, which `raw` is; `True` is certain."""

    def learn(self, line: Line) -> None:
        """Look for values that are secret wherever they stand. Sees every line before the first is written."""

    def line(self, line: Line) -> Line:
        """What may be told of it."""


@dataclass(frozen=True, slots=True)
class Exported:
    """One recording that was written."""

    session_id: str
    path: Path
    events: int
    records: int
    redactions: int
    bytes: int
    """Before it was compressed."""
    is_answered: bool
    """Whether the session's answer is in it; else it goes on, and the recording ends where it stood."""


async def export(
    bus: Bus,
    session_ids: Iterable[str],
    folder: Path,
    redaction: Redacting | None = None,
    is_compressed: bool = False,
) -> list[Path]:
    """Write the recording of each session into a folder, which is made if it is not there; the files' paths.

    Raises UnknownSession, AlreadyThere, UnreadableEvent, BadSignature, RedisUnavailable, OSError.
    """
    await asyncio.to_thread(clear_parts, folder)

    async def write(session_id: str) -> Exported:
        return await export_session(bus, session_id, folder, redaction, is_compressed)

    async with aclosing(side_by_side(each(list(session_ids)), write)) as written:
        return [one.result().path async for _, one in written]


async def export_session(
    bus: Bus,
    session_id: str,
    folder: Path,
    redaction: Redacting | None = None,
    is_compressed: bool = False,
) -> Exported:
    """Write the recording of one session, as far as it has come; the rest is as in `export`.

    The file takes its place when it is whole. An earlier recording of the session gives way to it, nothing else does.
    """
    path = folder / file_name(session_id, is_compressed)
    if _is_taken(path):
        await asyncio.to_thread(_refuse_to_replace_another, path, session_id)
    if redaction is None:
        return await _written(bus, session_id, path)
    # Most sessions are small and hold nothing to be replaced: read once, and looked through as the bytes that they are.
    # Not even a file on its way holds what has not passed: it stays where this process is killed.
    with suppress(_Suspect):
        return await _written(bus, session_id, path, passes=redaction.anew())
    redaction = redaction.anew()
    async for line in session_lines(session_id, bus.session(session_id), bus):
        redaction.learn(line)
    exported = await _written(bus, session_id, path, redaction)
    if exported.redactions:
        await asyncio.to_thread(make_consistent, path)
    return exported


class _Suspect(Exception):
    """There may be something to be replaced, or more than is looked through at once."""


async def _written(
    bus: Bus,
    session_id: str,
    path: Path,
    redaction: Redacting | None = None,
    passes: Redacting | None = None,
) -> Exported:
    """Write the lines as `redaction` has them, or as they are; raises _Suspect where they do not pass."""
    end, bytes_in_all, is_answered = End(events=0, records=0), 0, False
    chunk, lines = bytearray(), list[Line]()

    async def write(file: IO[bytes]) -> None:
        nonlocal bytes_in_all, chunk
        if passes is not None and not passes.passes(lines, bytes(chunk)):
            raise _Suspect
        bytes_in_all += len(chunk)
        if len(chunk) < _CHUNK_BYTES:  # done sooner than a thread is woken
            file.write(chunk)
        else:
            await asyncio.to_thread(file.write, chunk)
        chunk = bytearray()
        lines.clear()

    with writing(path) as file:
        async for line in session_lines(session_id, bus.session(session_id), bus):
            shown = line if redaction is None else redaction.line(line)
            if passes is not None:
                lines.append(line)
                if isinstance(line, Header):
                    shown = passes.header(line)
            chunk += encode_line(shown)
            chunk += b"\n"
            if len(chunk) >= _CHUNK_BYTES:
                if passes is not None:
                    raise _Suspect
                await write(file)
            if isinstance(line, EventLine) and isinstance(line.event.data, ResponseReady):
                is_answered = True
            elif isinstance(shown, End):
                end = shown
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
    """Ids of the sessions that are kept, of all partitions, each partition's oldest first; those opened since then."""
    earliest_ms = 0.0 if since is None else since.timestamp() * 1000
    for partition in range(bus.keys.partitions):
        at_ms, told = earliest_ms, set[bytes]()
        while True:
            # From the last moment on, again with those of that very moment: sessions leave the set meanwhile.
            page = pairs(
                await bus.batcher.submit(
                    *("ZRANGE", bus.keys.sessions(partition), repr(at_ms), "+inf", "BYSCORE"),
                    *("LIMIT", 0, _IDS_PAGE + len(told), "WITHSCORES"),
                )
            )
            new = [(name, float(score)) for name, score in page if name not in told]
            if not new:
                break
            for name, _ in new:
                yield name.decode()
            told = {name for name, score in (*new, *((name, at_ms) for name in told)) if score == new[-1][1]}
            at_ms = new[-1][1]


def file_name(session_id: str, is_compressed: bool = False) -> str:
    """`SESSION.jsonl`, with `=` for a colon, which no id has and some file systems refuse."""
    return f"{session_id.replace(':', '=')}.jsonl{'.gz' * is_compressed}"


def _is_taken(path: Path) -> bool:
    """Makes the folder, and says whether the file is there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.exists()


def _refuse_to_replace_another(path: Path, session_id: str) -> None:
    try:
        is_other = not path.is_file() or header_of(path).session_id != session_id
    except UnreadableEvent:
        is_other = True
    if is_other:
        raise AlreadyThere(
            f"{path} is there already, and is no recording of session {session_id}.",
            hint="Move it away, or choose another folder.",
        )
