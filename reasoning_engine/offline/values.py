"""The values of a briefing, searchable by name: from the results of tools, and from the step's input. Pure."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from antiphon_shared.text.numbers import CARDINALS, plain_number
from antiphon_shared.text.words import stem, stems_of_name, words_as_written

from reasoning_engine.offline.briefing_text import FactNote, Notes
from reasoning_engine.offline.descriptors import is_described
from reasoning_engine.offline.language import singular, stem_set
from reasoning_engine.offline.question import Question
from reasoning_engine.offline.records import Record, records_of

_TEXT_CHARACTERS_MAX = 20_000
_SAME = tuple(
    stem_set(group)
    for group in (
        "title name label heading headline",
        "count number quantity qty amount total size",
        "price cost fee",
        "id code key sku slug identifier",
        "text description summary body content",
        "email mail",
        "phone telephone",
        "date day",
    )
)
_COUNTS = stem_set("count number total quantity how many num no of")
_VERDICT = ("valid", "errors")


@dataclass(frozen=True, slots=True)
class Values:
    """All sources for filling a shape, the most relevant first."""

    question: Question
    records: tuple[Record, ...] = ()
    input: Any = None
    """The output of the step before."""
    instructions: str = ""
    has_results: bool = False
    """Whether some call has succeeded, so that missing values were searched for."""
    described: tuple[tuple[dict[str, Any], dict[str, Any]], ...] = field(default=())
    """Settings that results describe, each with the arguments of the call that returned it."""


def values_of(question: Question, notes: Notes) -> Values:
    """Return the values of a briefing, without the verdicts of validating tools."""
    input = notes.step.input if notes.step else None
    given = _objects(records_of([FactNote(content=input)]))
    facts = [fact for fact in notes.facts if not is_verdict(fact.content)]

    def rank(record: Record) -> tuple[float, int, int]:
        alike = question.names_alike(record.titled(""))
        return -alike, -record.overlap(question.terms), -record.fact.round

    records = (*given, *sorted(_objects(records_of(facts)), key=rank))
    has_results = bool(records) or any(call.outcome == "ok" for call in notes.tried)
    described = tuple(
        (call.arguments or {}, fact.content)
        for fact in facts
        if is_described(fact.content)
        for call in notes.tried
        if call.told(fact.ids)
    )
    instructions = notes.step.instructions if notes.step else ""
    return Values(question, records, input, instructions, has_results, described)


def _objects(records: Iterable[Record]) -> Iterator[Record]:
    """Yield the things among records; the 14 of count_berths is the count of berths."""
    for record in records:
        if not record.is_bare:
            if not is_described(record.fields):
                yield record
        elif record.fact.tool and not (record.keys or record.place):
            (value,) = record.fields.values()
            name = record.fact.tool if plain_number(str(value)) is not None else "text"
            yield replace(record, fields={name: value})


def is_verdict(content: Any) -> bool:
    """Return whether a result is the verdict of a validation."""
    return isinstance(content, dict) and isinstance(content.get(_VERDICT[0]), bool)


def values_named(record: Record, name: str, is_count: bool = False) -> Iterator[Any]:
    """Yield a record's values under a name, the closest first.

    With `is_count` a number is wanted: the 4 of `lesson 4` is no number of lessons.
    """
    ranked = [
        (closeness(name, key, record.kinds), value)
        for key, value in record.fields.items()
        if not (is_count and _is_plural(name) and not _is_plural(key) and _stems(name) == _stems(key))
    ]
    ranked = [(score, value) for score, value in ranked if score and value is not None]
    yield from (value for _, value in sorted(ranked, key=lambda one: -one[0]))


def _is_plural(name: str) -> bool:
    last = words_as_written(name.replace("_", " "))[-1:]
    return bool(last) and singular(last[0]) != last[0]


def closeness(name: str, key: str, kinds: frozenset[str]) -> int:
    """Return how well a key matches a name, 0 for no match: `id` matches `part_id` in a list of parts."""
    wanted, given = (_stems(one) for one in (name, key))
    if not wanted or not given:
        return 0
    if wanted == given:
        return 5
    if given < wanted and wanted - given <= kinds:
        return 4
    if wanted < given and given - wanted <= kinds:
        return 4
    left, right = (frozenset(map(_canonical, one)) for one in (wanted, given))
    if left == right:
        return 3
    return 2 if (right < left and wanted - given <= kinds | _all_same(given)) else 0


def counted(record: Record, name: str) -> Iterator[int]:
    """Yield counts of the named things: items of a list with that name, or a number before the noun in a text."""
    nouns = _stems(name) - _COUNTS
    if not nouns:
        return
    for key, value in record.fields.items():
        if isinstance(value, list) and _stems(key) == nouns:
            yield len(value)
    for value in record.fields.values():
        if isinstance(value, str):
            yield from _counted_in(value[:_TEXT_CHARACTERS_MAX], nouns)


def _counted_in(text: str, nouns: frozenset[str]) -> Iterator[int]:
    for number, noun in re.findall(r"\b(\d{1,9}|[A-Za-z]{3,9})(?=\s+([^\W\d_]{2,40}))", text):
        if stem(noun) in nouns:
            value = int(number) if number.isdecimal() else CARDINALS.get(number.lower())
            if value is not None:
                yield value


def _stems(name: str) -> frozenset[str]:
    return frozenset(stems_of_name(name[:200]))


def _canonical(part: str) -> str:
    return next((min(group) for group in _SAME if part in group), part)


def _all_same(parts: frozenset[str]) -> frozenset[str]:
    return frozenset().union(*(group for group in _SAME if group & parts))
