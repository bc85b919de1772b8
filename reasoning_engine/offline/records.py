"""Records of results: every object and list item, with the objects around it. Pure."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from antiphon_shared.text.words import stems_of_name

from reasoning_engine.offline.briefing_text import FactNote
from reasoning_engine.offline.language import stem_set, stems

_NO_FACT = FactNote()
_DEPTH_MAX = 8
_CONTEXT_MAX = 40
_RECORDS_MAX = 2_000
_TITLE_STEMS = stem_set("title name head headline subject topic label")
_NUMBER_STEMS = stem_set("number no num nr index position order id")
_COUNT_STEMS = _NUMBER_STEMS - {"id"}


@dataclass(frozen=True)
class Record:
    """An object, list item or text of a result, and the objects around it, the innermost first."""

    fields: dict[str, Any]
    fact: FactNote = _NO_FACT
    """A fact without an id is the output of the step before."""
    keys: tuple[str, ...] = ()
    parents: tuple["Record", ...] = ()
    position: int = 0
    """Its position in its list, from 1; 0 outside lists."""
    is_bare: bool = False
    """Whether it is a plain value without a name, and not an object."""
    is_of_many: bool = False
    """Whether its call returned several records with the same keys, which may be numbered without a noun."""

    @property
    def kinds(self) -> frozenset[str]:
        """Return the stems of its kind: the name of the list around it, otherwise its tool's name."""
        return frozenset(stems_of_name(self.keys[-1][:200] if self.keys else self.fact.tool))

    @property
    def context(self) -> tuple[tuple[str, Any], ...]:
        """Return the plain values of all objects around it."""
        return tuple(value for parent in self.parents for value in parent.plain())[:_CONTEXT_MAX]

    @property
    def is_plain(self) -> bool:
        """Return whether it has a value of its own, and not only lists and objects."""
        return any(True for _ in self.plain())

    @property
    def title(self) -> str:
        """Return the record's name, as far as its keys show one."""
        return self.titled("") or next((v for v in self.fields.values() if isinstance(v, str) and v), "")

    def titled(self, noun: str) -> str:
        """Return the record's title, the one of a `noun` where it has several."""
        best, title = 0, ""
        for key, value in self.fields.items():
            parts = stems_of_name(key)
            if not isinstance(value, str) or not value.strip() or len(value) > 300:
                continue
            rank = 2 * (bool(noun) and noun in parts) + any(part in _TITLE_STEMS for part in parts)
            if rank > best:
                best, title = rank, value
        return title

    def plain(self) -> Iterator[tuple[str, Any]]:
        """Yield its own plain values, by key."""
        return ((key, value) for key, value in self.fields.items() if is_plain(value))

    def values(self) -> Iterator[tuple[str, Any]]:
        """Yield its own plain values and those around it, by key."""
        yield from self.plain()
        yield from self.context

    def text(self) -> str:
        """Return all its readable text."""
        return " ".join(str(value) for _, value in self.values() if value is not None)

    def speaks_of(self, term: str) -> bool:
        """Return whether a stem occurs in its values or keys."""
        return self.overlap(frozenset((term,))) > 0 or any(term in stems_of_name(key) for key in self.fields)

    def overlap(self, terms: frozenset[str]) -> int:
        """Return the number of terms (stems) that occur in its values."""
        return len(terms & stems(self.text()[:20_000]))

    def is_number(self, noun: str, value: int | float) -> bool:
        """Return whether it is the `noun` with this number: by a field, or by its position in a list of such."""
        kin = {stem for key in (*self.keys, self.fact.tool) for stem in stems_of_name(key)}
        numbers = []
        for key, content in self.fields.items():
            parts = frozenset(stems_of_name(key))
            is_kin = noun in parts or noun in kin or (self.is_of_many and parts <= _COUNT_STEMS)
            if parts and parts <= {noun, *_NUMBER_STEMS} and is_kin and not isinstance(content, bool):
                numbers.append(str(content).strip())
        listed = self.keys and noun in stems_of_name(self.keys[-1])
        return str(value) in numbers or (bool(listed) and not numbers and self.position == value)


def records_of(facts: Iterable[FactNote]) -> tuple[Record, ...]:
    """Return the records of all facts, in the order of the results."""
    records: list[Record] = []
    for fact in facts:
        around = (Record({"heading": fact.title}, fact),) if fact.title else ()
        records += islice(_walk(fact.content, Record({}, fact, (), around), 0), _RECORDS_MAX - len(records))
    shapes = Counter(map(_shape, records))
    return tuple(replace(one, is_of_many=True) if shapes[_shape(one)] > 1 else one for one in records)


def outermost(records: tuple[Record, ...]) -> list[Record]:
    """Return, for each fact, its outermost records with values of their own."""
    depths: dict[str, int] = {}
    for record in records:
        if record.is_plain:
            depth = len(record.parents)
            depths[record.fact.id] = min(depth, depths.get(record.fact.id, depth))
    return [one for one in records if one.is_plain and len(one.parents) == depths[one.fact.id]]


def is_plain(value: object) -> bool:
    """Return whether a value is neither a list nor an object."""
    return not isinstance(value, dict | list)


def _walk(value: object, at: Record, depth: int) -> Iterator[Record]:
    """Yield the records in a value; `at` is an empty record in its position."""
    if depth > _DEPTH_MAX or value is None or value in ("", [], {}):
        return
    if isinstance(value, list):
        for position, item in enumerate(value, start=1):
            yield from _walk(item, replace(at, position=position), depth + 1)
    elif isinstance(value, dict):
        record = replace(at, fields=value)
        yield record
        for key, inner in value.items():
            if not is_plain(inner):
                inside = Record({}, at.fact, (*at.keys, key), (record, *at.parents))
                yield from _walk(inner, inside, depth + 1)
    else:
        yield replace(at, fields={"title" if _is_title(value) else "text": value}, is_bare=True)


def _shape(record: Record) -> tuple[str, int, tuple[str, ...]]:
    return record.fact.call, len(record.parents), tuple(record.fields)


def _is_title(value: object) -> bool:
    return len(str(value)) <= 120 and "\n" not in str(value).strip()
