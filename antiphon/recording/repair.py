"""What can still be trusted of a recording whose chain is broken. Pure.

A line is as it was written when its hash says so, or when the next line's `previous` does, and only its own `check`
was hit. The trusted part is all before the first damage, back to the end of a step: a recording that stops there is one
of a session that had come no further. Lines behind the damage may be as they were written; what led there is not.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from antiphon_shared.process.errors import UnreadableEvent

from antiphon.recording.chain import FIRST, check_of, link_of
from antiphon.recording.lines import End, EventLine, Header, Line, RecordLine, decode_line

_ALIKE_MIN = 12
"""Of the 16 digits of two hashes: by chance they never agree in so many places."""
_PLACE, _PLACE_BYTES_MAX = b',"previous":', 80
CHANGED, LOST, CUT_OFF = (
    "is not as it was written",
    "does not follow the line before it",
    "is missing: cut off",
)
UNREADABLE = "cannot be read"
HASH_ALONE = "is as it was written; only its place in the chain is not"


@dataclass(frozen=True, slots=True)
class Damage:
    """What has happened to one line."""

    line: int
    """Counts from 1."""
    what: str
    event: int | None = None
    """The number of the event in it, as far as that can be read."""


@dataclass(frozen=True, slots=True)
class Examined:
    """A recording, line by line."""

    damages: tuple[Damage, ...]
    trusted: tuple[Line, ...]
    """A recording of its own, with its end; empty where not even the header is as it was written."""
    behind: tuple[int, ...]
    """Numbers of the events that are as they were written, and stand behind the trusted part."""
    missing: tuple[int, ...]
    """Numbers of the events that were changed or lost."""

    @property
    def events(self) -> int:
        """How many events are trusted: these are the first ones."""
        return sum(isinstance(line, EventLine) for line in self.trusted)


@dataclass(frozen=True, slots=True)
class _Read:
    """One line of the file, and what was found about it."""

    raw: bytes
    line: Line | None
    damage: str = ""

    @property
    def event(self) -> int | None:
        return self.line.n if isinstance(self.line, EventLine) else None


def examine(raws: Sequence[bytes]) -> Examined:
    """Examine the lines of a file, without what ends them, of a format that has a chain."""
    read = [_read(raw, damage) for raw, damage in zip(raws, _damages(raws), strict=True)]
    damages = [Damage(n, one.damage, one.event) for n, one in enumerate(read, 1) if one.damage]
    if not any(isinstance(one.line, End) for one in read):
        damages.append(Damage(len(read) + 1, CUT_OFF))
    broken = [n for n, one in enumerate(read) if one.damage not in ("", HASH_ALONE)]
    first = broken[0] if broken else len(read)
    trusted = _whole([one.line for one in read[:first] if one.line is not None])  # none is, before the first
    told = sum(isinstance(line, EventLine) for line in trusted)
    behind = tuple(
        one.event for one in read if one.event is not None and one.event > told and one.damage != CHANGED
    )
    last = max((one.line.events if isinstance(one.line, End) else one.event or 0 for one in read), default=0)
    missing = tuple(n for n in range(told + 1, min(last, len(read)) + 1) if n not in behind)
    return Examined(tuple(damages), trusted, behind, missing)


def kept(raws: Iterable[bytes]) -> Iterator[Line]:
    """Return all lines as they stand there, changed ones too. Raises UnreadableEvent, which names the line."""
    for number, raw in enumerate(raws, 1):
        try:
            yield decode_line(_without_place(raw))
        except UnreadableEvent as error:
            raise UnreadableEvent(f"line {number}: {error.message}", hint=error.hint) from None


def _damages(raws: Sequence[bytes]) -> Iterator[str]:
    """Of each line; the next one's `previous` tells which of a line and its hash was hit."""
    follows: set[bytes] | None = {FIRST}
    for n, raw in enumerate(raws):
        link = link_of(raw)
        own = check_of(memoryview(_without_place(raw))[:-1])
        next_link = link_of(raws[n + 1]) if n + 1 < len(raws) else None
        if link is None or not link.is_intact:
            yield HASH_ALONE if next_link is not None and next_link.previous == own else CHANGED
        elif follows is None or link.previous in follows:
            yield ""
        else:
            yield HASH_ALONE if any(_are_alike(link.previous, one) for one in follows) else LOST
        follows = None if link is None else {own, link.check}


def _read(raw: bytes, damage: str) -> _Read:
    try:
        return _Read(raw, decode_line(_without_place(raw)), damage)
    except UnreadableEvent:
        return _Read(raw, None, CHANGED if damage else UNREADABLE)


def _whole(lines: Sequence[Line]) -> tuple[Line, ...]:
    """The lines up to the end of the last step that is there, and an end that fits."""
    if not lines or not isinstance(lines[0], Header):
        return ()
    last = lines[-1]
    if isinstance(last, End):
        return tuple(lines)
    records = [n for n, line in enumerate(lines) if isinstance(line, RecordLine)]
    lines = lines[: records[-1] + 1] if records else lines
    events = sum(isinstance(line, EventLine) for line in lines)
    return (*lines, End(events=events, records=len(records)))


def _without_place(raw: bytes) -> bytes:
    """The line without its place in the chain, even where that can hardly be read any more."""
    link = link_of(raw)
    if link is not None:
        return link.line
    at = raw.rfind(_PLACE, max(0, len(raw) - _PLACE_BYTES_MAX))
    return raw if at < 0 else raw[:at] + b"}"


def _are_alike(one: bytes, other: bytes) -> bool:
    return sum(a == b for a, b in zip(one, other, strict=True)) >= _ALIKE_MIN
