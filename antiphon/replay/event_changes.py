"""The differences between a recording and its rewritten form, by event. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any
from uuid import UUID

from antiphon_shared.events.step_records import AnyRecord, ExchangeRecord
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.values import JsonObject
from pydantic_core import to_json

from antiphon.recording.lines import ContentLine, End, EventLine, Header, Line, RecordLine
from antiphon.replay.differences import ABSENT, Difference, differences
from antiphon.replay.requests import complete_request


@dataclass(frozen=True, slots=True)
class Change:
    """A difference, and all the events at which it occurs."""

    events: tuple[int, ...]
    """The numbers of the events; empty for the header and the end."""
    what: str
    """The type of the event; `record of the decision` for a record; `header`."""
    path: str
    expected: Any
    """The recorded value."""
    got: Any
    """The rewritten value."""


def changes(then: Iterable[Line], now: Iterable[Line]) -> list[Change]:
    """Return all differences between a recording and its rewritten form, in the order of the recording."""
    found: dict[tuple[str, str, bytes, bytes], tuple[Difference, dict[int, None]]] = {}
    for n, what, one in _differences(then, now):
        key = (what, one.path, to_json(one.expected), to_json(one.got))
        _, numbers = found.setdefault(key, (one, {}))
        if n:
            numbers[n] = None
    return [Change(tuple(numbers), what, *one) for (what, *_), (one, numbers) in found.items()]


@dataclass
class _Side:
    """The lines of one of the two recordings that have been read."""

    contents: dict[str, Any] = field(default_factory=dict)
    numbers: dict[UUID, int] = field(default_factory=dict)
    waiting: dict[object, Line] = field(default_factory=dict)
    """Lines whose counterpart has not been read yet."""

    def take(self, line: Line | None) -> object:
        """Add a line; return its key, or None for a line that is not compared."""
        match line:
            case ContentLine():
                self.contents[line.hash] = line.content
            case EventLine():
                self.numbers[line.event.id] = line.n
                self.waiting[line.event.id] = line
                return line.event.id
            case RecordLine(record=record):
                self.waiting[record.of, record.kind] = line
                return record.of, record.kind
            case Header() | End():
                self.waiting[line.line] = line
                return line.line
        return None


def _differences(then: Iterable[Line], now: Iterable[Line]) -> Iterator[tuple[int, str, Difference]]:
    """Yield the number of the event, the kind of line, and each difference."""
    old, new = _Side(), _Side()
    for lines in zip_longest(then, now):
        for key in {side.take(line): None for side, line in zip((old, new), lines, strict=True)}:
            if key in old.waiting and key in new.waiting:
                yield from _compared(old, new, old.waiting.pop(key), new.waiting.pop(key))
    for side in (old, new):
        for line in side.waiting.values():
            n, event_name = _position(side, line)
            there = {True: "a line", False: ABSENT}
            yield n, event_name, Difference("", there[side is old], there[side is new])


def _compared(old: _Side, new: _Side, then: Line, now: Line) -> Iterator[tuple[int, str, Difference]]:
    if then == now:
        return
    n, event_name = _position(old, then)
    for one in differences(_as_json(then, old.contents), _as_json(now, new.contents)):
        yield n, event_name, one


def _position(side: _Side, line: Line) -> tuple[int, str]:
    match line:
        case EventLine():
            return line.n, line.event.type
        case RecordLine(record=record):
            return side.numbers.get(record.of, 0), f"record of the {record.kind}"
        case _:
            return 0, line.line


def _as_json(line: Line, contents: JsonObject) -> Any:
    match line:
        case EventLine():
            return line.event.data.model_dump(mode="json")
        case RecordLine(record=record):
            return _record(record, contents)
        case _:
            return line.model_dump(mode="json")


def _record(record: AnyRecord, contents: JsonObject) -> dict[str, Any]:
    """Return a record with whole requests in place of the hashes of their parts."""
    fields = record.model_dump(mode="json", exclude={"contents"})
    if isinstance(record, ExchangeRecord):
        for call, recorded in zip(record.calls, fields["calls"], strict=True):
            try:
                recorded["request"] = complete_request(call, contents)
            except UnreadableEvent:
                continue  # then the hashes are compared
    return fields
