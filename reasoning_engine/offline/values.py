"""The values of a briefing, searchable by name: from the results of tools, and from the step's input. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from antiphon_shared.text.numbers import CARDINALS
from antiphon_shared.text.words import stem, stems_of_name, words_as_written

from reasoning_engine.offline.briefing_text import FactNote, Notes
from reasoning_engine.offline.descriptors import is_described
from reasoning_engine.offline.language import singular, stem_set
from reasoning_engine.offline.question import Question
from reasoning_engine.offline.records import Record, records_of

_TEXT_CHARACTERS_MAX = 20_000
_COUNTED = re.compile(r"\b(\d{1,9}|[A-Za-z]{3,9})(?=\s+([^\W\d_]{2,40}))")
_COUNTS = stem_set("count number total quantity how many num no of")


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
    described: tuple[tuple[dict[str, Any], dict[str, Any]], ...] = ()
    """Settings that results describe, each with the arguments of the call that returned it."""


def values_of(question: Question, notes: Notes) -> Values:
    """Return the values of a briefing, without the verdicts of validating tools."""
    input = notes.step.input if notes.step else None
    input_records = records_of([FactNote(content=input)])
    facts = [fact for fact in notes.facts if not is_verdict(fact.content) and not is_described(fact.content)]
    every_record = (*input_records, *relevant(question, records_of(facts)))
    records = tuple(record for record in every_record if not record.is_bare)
    has_results = bool(records) or any(call.outcome == "ok" for call in notes.tried)
    described = tuple(
        (call.arguments or {}, fact.content)
        for fact in notes.facts
        if is_described(fact.content)
        for call in notes.tried
        if call.has_returned_any(fact.ids)
    )
    instructions = notes.step.instructions if notes.step else ""
    return Values(question, records, input, instructions, has_results, described)


def relevant(question: Question, records: tuple[Record, ...]) -> tuple[Record, ...]:
    """Return records: those named in the question first, then by the words they share with it, then the newest."""

    def rank(record: Record) -> tuple[float, int, int]:
        alike = question.names_alike(record.title)
        return -alike, -record.overlap(question.terms), -record.fact.round

    return tuple(sorted(records, key=rank))


def is_verdict(content: object) -> bool:
    """Return whether a result is the verdict of a validation."""
    return isinstance(content, dict) and isinstance(content.get("valid"), bool)


def values_under(record: Record, name: str, is_count: bool = False) -> Iterator[Any]:
    """Yield a record's values under a name, the closest first.

    With `is_count`, only counts match: the 4 of `lesson 4` does not count lessons.
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
    name_stems, key_stems = (_stems(one) for one in (name, key))
    if not name_stems or not key_stems:
        return 0
    if name_stems == key_stems:
        return 2
    return int(bool(name_stems & key_stems) and name_stems ^ key_stems <= kinds)


def counts_of(record: Record, name: str) -> Iterator[int]:
    """Yield counts of the named things: the number before the noun in a text."""
    nouns = _stems(name) - _COUNTS
    texts = (value[:_TEXT_CHARACTERS_MAX] for value in record.fields.values() if isinstance(value, str))
    for number, noun in (match for text in texts for match in _COUNTED.findall(text)):
        if stem(noun) in nouns and (number.isdecimal() or number.lower() in CARDINALS):
            yield int(number) if number.isdecimal() else CARDINALS[number.lower()]


def _stems(name: str) -> frozenset[str]:
    return frozenset(stems_of_name(name[:200]))
