"""The candidate values of one plain property, the best first. Pure.

The question's explicit values come first, then those of the object that the property belongs to, then other
values in the question; for a required property also other results, and the schema's default.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from reasoning_engine.offline import question_values
from reasoning_engine.offline.forms import as_type, in_text
from reasoning_engine.offline.question_values import QuestionValue
from reasoning_engine.offline.records import Record, is_plain
from reasoning_engine.offline.shapes import NUMBERS, fits
from reasoning_engine.offline.values import Values, counted, values_named

RECORDS_MAX = 200
"""The limit of objects searched for one property."""
_PARTS_MAX = 5_000


@dataclass
class Scalars:
    """The plain values of one pass over a schema; `taken` maps used words of the question to their properties."""

    root: dict[str, Any]
    values: Values
    taken_before: dict[int, str] = field(default_factory=dict)
    is_last: bool = False
    """Whether a number left over by the passes before may be taken."""
    taken: dict[int, str] = field(default_factory=dict)
    parts: Iterator[int] = field(default_factory=lambda: iter(range(_PARTS_MAX)))
    """The remaining parts of the schema: a limit, as a schema that refers to itself has no end."""

    def fitting(
        self,
        name: str,
        schema: dict[str, Any],
        kind: str,
        around: tuple[Record, ...],
        needed: bool,
        is_apart: bool,
    ) -> Iterator[Any]:
        """Yield the values that fit; with `is_apart` only those of the objects `around`."""

        def accepts(value: Any) -> bool:
            return any(fits(schema, form, self.root) for form in as_type(kind, value, schema))

        for value in self._found(name, schema, kind, around, needed, is_apart, accepts):
            for form in as_type(kind, value, schema) if value is not None else ():
                if fits(schema, form, self.root):
                    yield form

    def _found(
        self,
        name: str,
        schema: dict[str, Any],
        kind: str,
        around: tuple[Record, ...],
        needed: bool,
        is_apart: bool,
        accepts: question_values.Fits,
    ) -> Iterator[Any]:
        question = self.values.question
        named = list(question_values.named(question, name, accepts)) if name else []
        named.sort(key=lambda one: self.taken.get(one.at, name) != name)  # unused words come first
        yield from self._take(name, (one for one in named if one.is_close))
        yield from _named_in(around, name, kind)
        yield from self._take(name, named)
        if isinstance(options := schema.get("enum"), list):
            yield question_values.option(question.text, tuple(options))
        if not needed:
            return
        records = self.values.records[:RECORDS_MAX]
        if not is_apart:
            yield from _named_in(records, name, kind)
        for record in around if is_apart else (*around, *records):
            yield from in_text(record.fields.values(), schema)
        if "pattern" in schema or "format" in schema:
            yield from self._take(name, question_values.by_form(question, accepts))
        if self.is_last and kind in NUMBERS:
            taken = frozenset(at for at, by in (self.taken_before | self.taken).items() if by != name)
            yield from self._take(name, question_values.numbers_left(question, taken, accepts))
        yield schema.get("default")

    def _take(self, name: str, found: Iterable[QuestionValue]) -> Iterator[Any]:
        for one in found:
            self.taken.setdefault(one.at, name)
            yield one.value


def _named_in(records: tuple[Record, ...], name: str, kind: str) -> Iterator[Any]:
    if not name:
        return
    for record in records:
        yield from (
            value for value in values_named(record, name, is_count=kind in NUMBERS) if is_plain(value)
        )
    for record in records if kind in NUMBERS else ():
        yield from counted(record, name)
