"""Recordings as files: JSON Lines, as they are or compressed, one line at a time."""

import gzip
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from antiphon.recording.lines import Line, decode_line, encode_line
from shared.errors import UnreadableEvent


def read_lines(path: Path) -> Iterator[Line]:
    """The lines of a recording. Raises UnreadableEvent, which names the file and the line, and OSError."""
    with _opened(path, "rb") as file:
        for number, raw in enumerate(file, 1):
            try:
                yield decode_line(raw.rstrip(b"\r\n"))
            except UnreadableEvent as error:
                raise UnreadableEvent(f"{path}, line {number}: {error.message}", hint=error.hint) from None


def write_lines(path: Path, lines: Iterable[Line]) -> None:
    """Write a recording; compressed when the name ends in `.gz`. Raises OSError."""
    with _opened(path, "wb") as file:
        for line in lines:
            file.write(encode_line(line) + b"\n")


@contextmanager
def _opened(path: Path, mode: str) -> Iterator[IO[bytes]]:
    with gzip.open(path, mode) if path.suffix == ".gz" else path.open(mode) as file:
        yield cast("IO[bytes]", file)
