"""The candidate values of one plain property, the best first. Pure.

The values of the object that the property belongs to come first, then those that the question names; for a
required property also other results, and the schema's default.
"""

from collections.abc import Iterator
from typing import Any

from antiphon_shared.values import JsonSchema

from reasoning_engine.offline import question_values
from reasoning_engine.offline.forms import as_type
from reasoning_engine.offline.records import Record, is_plain
from reasoning_engine.offline.shapes import NUMBERS, fits
from reasoning_engine.offline.values import Values, counts_of, values_under


def plain_values(
    name: str,
    schema: JsonSchema,
    kind: str,
    root: JsonSchema,
    values: Values,
    around: tuple[Record, ...],
) -> Iterator[Any]:
    """Yield the fitting values of a property of the objects `around`."""

    def forms(value: object) -> list[Any]:
        return [form for form in as_type(kind, value) if value is not None and fits(schema, form, root)]

    def candidates() -> Iterator[Any]:
        yield from _values_in(around, name, kind)
        yield from question_values.values_near_name(
            values.question.text, name, lambda value: bool(forms(value))
        )
        if isinstance(options := schema.get("enum"), list):
            yield question_values.option(values.question.text, tuple(options))

    for value in candidates() if name else ():
        yield from forms(value)


def other_values(
    name: str, schema: JsonSchema, kind: str, root: JsonSchema, records: tuple[Record, ...]
) -> Iterator[Any]:
    """Yield the fitting values for a required property: of other results, and its default."""
    for value in (*_values_in(records, name, kind), schema.get("default")):
        yield from (form for form in as_type(kind, value) if value is not None and fits(schema, form, root))


def _values_in(records: tuple[Record, ...], name: str, kind: str) -> Iterator[Any]:
    is_number = kind in NUMBERS
    for record in records if name else ():
        yield from (value for value in values_under(record, name, is_count=is_number) if is_plain(value))
    for record in records if name and is_number else ():
        yield from counts_of(record, name)
