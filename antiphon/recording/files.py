"""Recordings as files: JSON Lines, as they are or compressed, one line at a time."""

import gzip
import os
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_IMODE
from typing import IO, cast

from antiphon_shared.process.errors import ConfigurationError, UnreadableEvent

from antiphon.recording.chain import Chained
from antiphon.recording.lines import FORMAT, Header, Line, encode_line
from antiphon.recording.order import Order
from antiphon.recording.upcast import UPCASTERS, LineUpcaster, Upcast

LINE_BYTES_MAX = 1 << 27
"""Beyond what ANTIPHON_BUS_MAX_EVENT_BYTES can be."""
_AHEAD_BYTES = 1 << 16
"""Lines are read in runs of so many bytes, which takes `replay verify` a tenth less time than line by line."""
PART_BEGINS, PART_ENDS = ".antiphon-", ".part"
"""Names of files on their way."""
_GZIP = b"\x1f\x8b"
_GZIP_LEVEL = 3
"""A quarter of the time of the usual 6, for a tenth more bytes."""


def read_lines(
    path: Path, upcasters: Mapping[int, LineUpcaster] = UPCASTERS, current: int = FORMAT
) -> Iterator[Line]:
    """The lines of a recording of any format, in its order, to its end; compressed or not.

    Raises UnreadableEvent, which names the file and the line, once it has given every line before.
    """
    ahead: list[Line] = []
    size_bytes = 0
    try:
        for line, line_bytes in _sized_lines(path, upcasters, current):
            ahead.append(line)
            size_bytes += line_bytes
            if size_bytes >= _AHEAD_BYTES:
                yield from ahead
                ahead, size_bytes = [], 0
    except UnreadableEvent:
        yield from ahead
        raise
    yield from ahead


def _sized_lines(
    path: Path, upcasters: Mapping[int, LineUpcaster], current: int
) -> Iterator[tuple[Line, int]]:
    """Yield each line with the number of its bytes. Raises UnreadableEvent."""
    order, upcast, number = Order(), Upcast(upcasters, current), 0
    try:
        with unpacked(path) as file:
            while raw := file.readline(LINE_BYTES_MAX + 1):
                number += 1
                if len(raw) > LINE_BYTES_MAX:
                    raise UnreadableEvent(f"longer than {LINE_BYTES_MAX} bytes.")
                line = upcast.line(raw.rstrip(b"\r\n"))
                order.check(line)
                yield line, len(raw)
            order.finish()
    except UnreadableEvent as error:
        raise UnreadableEvent(f"{_place(path, number)}: {error.message}", hint=error.hint) from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        said = f"what was compressed cannot be read on: {error}."
        raise UnreadableEvent(f"{_place(path, number + 1)}: {said}", hint="Was it cut off?") from None
    except OSError as error:
        raise UnreadableEvent(f"{_place(path, 0)}: {error.strerror or error}.") from None


def raw_lines(path: Path) -> list[bytes]:
    """The lines of a file as they stand there, damaged or not, without what ends them; as far as it can be unpacked.

    Raises UnreadableEvent and OSError.
    """
    lines: list[bytes] = []
    with unpacked(path) as file, suppress(EOFError, zlib.error, gzip.BadGzipFile):
        while raw := file.readline(LINE_BYTES_MAX + 1):
            if len(raw) > LINE_BYTES_MAX:
                raise UnreadableEvent(f"{_place(path, len(lines) + 1)}: longer than {LINE_BYTES_MAX} bytes.")
            lines.append(raw.rstrip(b"\r\n"))
    return lines


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """What cannot be read within the block, or does not fit, is said of this file.

    Raises UnreadableEvent, ConfigurationError.
    """
    try:
        yield
    except (UnreadableEvent, ConfigurationError) as error:
        if as_text(path) in error.message:
            raise
        raise type(error)(f"{as_text(path)}: {error.message}", hint=error.hint) from None


def header_of(path: Path) -> Header:
    """The header of a recording. Raises UnreadableEvent."""
    lines = read_lines(path)
    header = next(lines, None)
    assert isinstance(header, Header), "what has another first line is unreadable"
    return header


def write_lines(path: Path, lines: Iterable[Line]) -> None:
    """Write a recording, which takes its place when it is whole; compressed for a name in `.gz`. Raises OSError."""
    chained = Chained()
    with writing(path) as file:
        for line in lines:
            file.write(chained.bind(encode_line(line)) + b"\n")


@contextmanager
def writing(path: Path) -> Iterator[IO[bytes]]:
    """A file that takes its place when the block has ended well; else nothing is left of it. Raises OSError.

    Compressed if the name ends in `.gz`, the same content to the same bytes. Its owner alone may read it, unless it
    takes the place of one that others may.
    """
    descriptor, name = tempfile.mkstemp(prefix=PART_BEGINS, suffix=PART_ENDS, dir=path.parent)
    try:
        with suppress(FileNotFoundError):
            os.chmod(name, S_IMODE(path.stat().st_mode))
        with os.fdopen(descriptor, "wb") as file:
            if path.suffix == ".gz":
                with gzip.GzipFile("", "wb", _GZIP_LEVEL, file, mtime=0) as packed:
                    yield cast("IO[bytes]", packed)
            else:
                yield file
        os.replace(name, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


@contextmanager
def unpacked(path: Path) -> Iterator[IO[bytes]]:
    """The file, unpacked if that is what its first bytes say, whatever its name says."""
    with path.open("rb") as file:
        if file.peek(2)[:2] == _GZIP:
            with gzip.GzipFile(fileobj=file) as inside:
                yield cast("IO[bytes]", inside)
        else:
            yield file


def as_text(path: Path) -> str:
    """A file's name, which may hold bytes that are no text, as text."""
    return str(path).encode("utf-8", "backslashreplace").decode()


def _place(path: Path, number: int) -> str:
    return f"{as_text(path)}, line {number}" if number else as_text(path)
