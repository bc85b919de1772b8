"""The trusted part of a recording whose chain is broken. Pure.

A line is intact if its hash matches, or if the next line's `previous` matches and only its `check` is damaged. The
trusted part ends with the last complete step before the first damage: it is a recording of a part of the session. Lines
after the damage may be intact, but the events that led to them are lost.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from antiphon_shared.process.errors import UnreadableEvent

from antiphon.recording.chain import FIRST, check_of, link_of
from antiphon.recording.lines import End, EventLine, Header, Line, RecordLine, decode_line

_SAME_DIGITS_MIN = 12
"""The number of equal digits, of 16, by which a damaged hash is recognised; so many are never equal by chance."""
_LINK_BEGINNING, _LINK_BYTES_MAX = b',"previous":', 80
CHANGED = "was changed"
LOST = "does not follow the previous line"
CUT_OFF = "is missing: cut off"
UNREADABLE = "cannot be read"
ONLY_HASH = "is unchanged; only its position in the chain is wrong"


@dataclass(frozen=True, slots=True)
class Damage:
    """The damage of one line."""

    line: int
    """The line's number, from 1."""
    description: str
    event: int | None = None
    """The number of the line's event, if it can be read."""


@dataclass(frozen=True, slots=True)
class Examination:
    """The result of an examination."""

    damages: tuple[Damage, ...]
    trusted: tuple[Line, ...]
    """The trusted part as a complete recording; empty if the header is damaged."""
    behind: tuple[int, ...]
    """The numbers of intact events after the trusted part."""
    missing: tuple[int, ...]
    """The numbers of the events that were changed or lost."""
    is_foreign: bool
    """Whether no line is one of a recording."""

    @property
    def events(self) -> int:
        """Return the number of trusted events, which are the first ones."""
        return sum(isinstance(line, EventLine) for line in self.trusted)


@dataclass(frozen=True, slots=True)
class _Read:
    """A line of the file, and its damage."""

    line: Line | None
    damage: str = ""

    @property
    def event(self) -> int | None:
        return self.line.n if isinstance(self.line, EventLine) else None


def examine(raws: Sequence[bytes]) -> Examination:
    """Examine the lines of a file, without line ends, of a format that has a chain."""
    read = [_read(raw, damage) for raw, damage in zip(raws, _damages(raws), strict=True)]
    damages = [Damage(n, one.damage, one.event) for n, one in enumerate(read, 1) if one.damage]
    if not any(isinstance(one.line, End) for one in read):
        damages.append(Damage(len(read) + 1, CUT_OFF))
    broken = [n for n, one in enumerate(read) if one.damage not in ("", ONLY_HASH)]
    first = broken[0] if broken else len(read)
    # No line is None before the first damage.
    trusted = _complete_steps([one.line for one in read[:first] if one.line is not None])
    events = sum(isinstance(line, EventLine) for line in trusted)
    behind = tuple(
        one.event for one in read if one.event is not None and one.event > events and one.damage != CHANGED
    )
    last = max((one.line.events if isinstance(one.line, End) else one.event or 0 for one in read), default=0)
    missing = tuple(n for n in range(events + 1, min(last, len(read)) + 1) if n not in behind)
    is_foreign = all(one.line is None for one in read)
    return Examination(tuple(damages), trusted, behind, missing, is_foreign)


def all_lines(raws: Iterable[bytes]) -> Iterator[Line]:
    """Yield all lines, including changed ones. Raises UnreadableEvent, which names the line."""
    for number, raw in enumerate(raws, 1):
        try:
            yield decode_line(_without_link(raw))
        except UnreadableEvent as error:
            raise UnreadableEvent(f"line {number}: {error.message}", hint=error.hint) from None


def _damages(raws: Sequence[bytes]) -> Iterator[str]:
    """Yield the damage of each line; the next line's `previous` shows whether a line or its hash was damaged."""
    follows: set[bytes] | None = {FIRST}
    for n, raw in enumerate(raws):
        link = link_of(raw)
        own = check_of(memoryview(_without_link(raw))[:-1])
        next_link = link_of(raws[n + 1]) if n + 1 < len(raws) else None
        if link is None or not link.is_intact:
            yield ONLY_HASH if next_link is not None and next_link.previous == own else CHANGED
        elif follows is None or link.previous in follows:
            yield ""
        else:
            yield ONLY_HASH if any(_are_alike(link.previous, one) for one in follows) else LOST
        follows = None if link is None else {own, link.check}


def _read(raw: bytes, damage: str) -> _Read:
    try:
        return _Read(decode_line(_without_link(raw)), damage)
    except UnreadableEvent:
        return _Read(None, CHANGED if damage else UNREADABLE)


def _complete_steps(lines: Sequence[Line]) -> tuple[Line, ...]:
    """Return the lines up to the end of the last complete step, and a matching end line."""
    if not lines or not isinstance(lines[0], Header):
        return ()
    last = lines[-1]
    if isinstance(last, End):
        return tuple(lines)
    records = [n for n, line in enumerate(lines) if isinstance(line, RecordLine)]
    lines = lines[: records[-1] + 1] if records else lines
    events = sum(isinstance(line, EventLine) for line in lines)
    return (*lines, End(events=events, records=len(records)))


def _without_link(raw: bytes) -> bytes:
    """Return the line without its link in the chain, even if the link is damaged."""
    link = link_of(raw)
    if link is not None:
        return link.line
    offset = raw.rfind(_LINK_BEGINNING, max(0, len(raw) - _LINK_BYTES_MAX))
    return raw if offset < 0 else raw[:offset] + b"}"


def _are_alike(one: bytes, other: bytes) -> bool:
    return sum(a == b for a, b in zip(one, other, strict=True)) >= _SAME_DIGITS_MIN
