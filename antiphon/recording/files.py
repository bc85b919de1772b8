"""The files of recordings: JSON Lines, plain or compressed, read and written one line at a time."""

import gzip
import os
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_IMODE
from typing import IO, cast

from antiphon_shared.process.errors import ConfigurationError, MissingFile, UnreadableEvent

from antiphon.recording.chain import Chained
from antiphon.recording.lines import Header, Line, encode_line
from antiphon.recording.order import Order
from antiphon.recording.upcast import Upcast

LINE_BYTES_MAX = 1 << 27
"""A limit above what ANTIPHON_BUS_MAX_EVENT_BYTES allows."""
_BATCH_BYTES = 1 << 18
"""The size of a batch of lines; with batches `replay verify` takes a fifth less time than with single lines."""
PART_BEGINS, PART_ENDS = ".antiphon-", ".part"
"""The names of temporary files."""
_GZIP = b"\x1f\x8b"
_GZIP_LEVEL = 3
"""A level that takes a quarter of the time of the usual 6, and writes a tenth more bytes."""


def read_lines(path: Path, upcast: Upcast | None = None) -> Iterator[Line]:
    """Yield the lines of a recording of any format, compressed or not, in order; `upcast` reads them.

    Raises UnreadableEvent, which names the file and the line, after it has yielded all lines before.
    """
    for batch in read_batches(path, upcast):
        yield from batch


def read_batches(path: Path, upcast: Upcast | None = None) -> Iterator[list[Line]]:
    """Yield the lines of a recording as `read_lines` does, in batches."""
    batch: list[Line] = []
    size_bytes = 0
    try:
        for line, line_bytes in _sized_lines(path, upcast or Upcast()):
            batch.append(line)
            size_bytes += line_bytes
            if size_bytes >= _BATCH_BYTES:
                yield batch
                batch, size_bytes = [], 0
    except UnreadableEvent:
        yield batch
        raise
    yield batch


def _sized_lines(path: Path, upcast: Upcast) -> Iterator[tuple[Line, int]]:
    """Yield each line with the number of its bytes. Raises UnreadableEvent."""
    order, number = Order(), 0
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
        raise UnreadableEvent(f"{_position(path, number)}: {error.message}", hint=error.hint) from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        message = f"the compressed file is damaged: {error}."
        raise UnreadableEvent(
            f"{_position(path, number + 1)}: {message}", hint="Check that the file is complete."
        ) from None
    except OSError as error:
        raise _no_access(path, error) from None


def raw_lines(path: Path) -> list[bytes]:
    """Return the raw lines of a file without line ends, damaged lines too, as far as the file can be unpacked.

    Raises UnreadableEvent.
    """
    lines: list[bytes] = []
    try:
        with unpacked(path) as file, suppress(EOFError, zlib.error, gzip.BadGzipFile):
            while raw := file.readline(LINE_BYTES_MAX + 1):
                if len(raw) > LINE_BYTES_MAX:
                    position = _position(path, len(lines) + 1)
                    raise UnreadableEvent(f"{position}: longer than {LINE_BYTES_MAX} bytes.")
                lines.append(raw.rstrip(b"\r\n"))
    except OSError as error:
        raise _no_access(path, error) from None
    return lines


def _no_access(path: Path, error: OSError) -> UnreadableEvent:
    kind = MissingFile if isinstance(error, FileNotFoundError) else UnreadableEvent
    return kind(f"{_position(path, 0)}: {error.strerror or error}.")


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Add the name of a file to each UnreadableEvent and ConfigurationError of the block."""
    try:
        yield
    except (UnreadableEvent, ConfigurationError) as error:
        if as_text(path) in error.message:
            raise
        raise type(error)(f"{as_text(path)}: {error.message}", hint=error.hint) from None


def header_of(path: Path) -> Header:
    """Return the header of a recording. Raises UnreadableEvent."""
    lines = read_lines(path)
    header = next(lines, None)
    assert isinstance(header, Header), "a file with another first line is unreadable"
    return header


def write_lines(path: Path, lines: Iterable[Line]) -> None:
    """Write a recording, compressed if its name ends in `.gz`; rename it into place when complete. Raises OSError."""
    chained = Chained()
    with writing(path) as file:
        for line in lines:
            file.write(chained.bind(encode_line(line)) + b"\n")


@contextmanager
def writing(path: Path) -> Iterator[IO[bytes]]:
    """Yield a file that is renamed into place if the block succeeds, and deleted if it fails. Raises OSError.

    It is compressed if the name ends in `.gz`; the same content gives the same bytes. Only its owner may read it,
    unless it replaces a file that others may read.
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
    """Yield the content of a file, unpacked if its first bytes are those of gzip, whatever its name."""
    with path.open("rb") as file:
        if file.peek(2)[:2] == _GZIP:
            with gzip.GzipFile(fileobj=file) as inside:
                yield cast("IO[bytes]", inside)
        else:
            yield file


def as_text(path: Path) -> str:
    """Return a file's name as text; bytes of the name that are not valid text are escaped."""
    return str(path).encode("utf-8", "backslashreplace").decode()


def _position(path: Path, number: int) -> str:
    return f"{as_text(path)}, line {number}" if number else as_text(path)
