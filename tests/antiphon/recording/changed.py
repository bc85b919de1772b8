"""Recordings changed on purpose: as other code would have written them, or as redaction leaves them."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from antiphon_shared.events import EventData

from antiphon.recording.chain import Chained, link_of
from antiphon.recording.files import write_lines
from antiphon.recording.lines import EventLine, Line, decode_line, encode_line

DataT = TypeVar("DataT", bound=EventData)


def with_words(lines: Iterable[Line], then: str, now: str) -> list[Line]:
    """Replace words everywhere."""
    return [decode_line(encode_line(line).replace(then.encode(), now.encode())) for line in lines]


def with_event(lines: list[Line], kind: type[DataT], change: Callable[[DataT], EventData]) -> list[Line]:
    """Change the first event of a kind."""
    place = next(n for n, line in enumerate(lines) if _is(line, kind))
    line = lines[place]
    assert isinstance(line, EventLine)
    assert isinstance(line.event.data, kind)
    event = line.event.model_copy(update={"data": change(line.event.data)})
    return [*lines[:place], replace(line, event=event), *lines[place + 1 :]]


def written(lines: Iterable[Line], path: Path) -> Path:
    """Write the lines as a file."""
    write_lines(path, lines)
    return path


def unbound(content: bytes) -> list[bytes]:
    """Return the lines of a file, each without its end and its link in the chain."""
    raws = content.splitlines()
    return [raw if (link := link_of(raw)) is None else link.line for raw in raws]


def bound(raws: Iterable[bytes]) -> bytes:
    """Return lines with any content as a file with a valid chain."""
    chained = Chained()
    return b"".join(chained.bind(raw) + b"\n" for raw in raws)


def _is(line: Line, kind: type[EventData]) -> bool:
    return isinstance(line, EventLine) and isinstance(line.event.data, kind)
