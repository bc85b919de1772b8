"""The filling of a JSON Schema with the values of a briefing. Pure.

A value is found by its name: in the object of a result with most of the requested properties, in the question,
or in other results. A property without a value is left out, or null where the schema allows it; no value is
invented. So a shape may stay unfilled: then the draft holds the known part.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from antiphon_shared.text.words import stems_of_name
from antiphon_shared.values import JsonSchema

from reasoning_engine.offline.descriptors import is_described, schema_of
from reasoning_engine.offline.forms import is_portable
from reasoning_engine.offline.records import Record, is_plain
from reasoning_engine.offline.scalars import other_values, plain_values
from reasoning_engine.offline.shapes import (
    ANY,
    NUMBERS,
    alternatives,
    fits,
    is_open,
    properties_of,
    required_of,
    types_of,
)
from reasoning_engine.offline.values import Values, counts_of, values_under

_DEPTH_MAX = 8
_ITEMS_MAX = 50
_KEYS_MAX = 100
_PARTS_MAX = 5_000
_RECORDS_MAX = 200
"""The limit of objects searched for one property."""
NOTHING: Any = object()
"""The placeholder for a missing value; null is a value."""


def fill_shape(schema: JsonSchema, values: Values) -> Any:
    """Return the shape of a schema, filled as far as the values suffice; NOTHING without any value."""
    draft = _Filler(schema, values).value("", schema, (), True, 0)
    return draft if draft is not NOTHING and is_portable(draft) else NOTHING


def fill_property(name: str, schema: JsonSchema, values: Values) -> Any:
    """Return the value of one required property; NOTHING where no value fits."""
    return _Filler(schema, values).value(name, schema, (), True, 0)


@dataclass
class _Filler:
    """A pass over a schema."""

    root: JsonSchema
    values: Values
    is_apart: bool = False
    """Whether all values must come from one object, as the rows of a list describe different things."""
    parts: Iterator[int] = field(default_factory=lambda: iter(range(_PARTS_MAX)))
    """The number of parts of the schema that may still be filled, as a recursive schema has no end."""

    @property
    def records(self) -> tuple[Record, ...]:
        return self.values.records[:_RECORDS_MAX]

    def value(self, name: str, schema: object, around: tuple[Record, ...], needed: bool, depth: int) -> Any:
        """Return the value of a property; `around` are the objects that it belongs to, the closest first."""
        is_nullable = False
        if depth > _DEPTH_MAX or next(self.parts, None) is None:
            return NOTHING
        for one in alternatives(schema, self.root):
            if "const" in one:
                return one["const"] if needed else NOTHING
            for kind in types_of(one):
                is_nullable = is_nullable or kind == "null"
                typed = one if kind == ANY else {**one, "type": kind}
                candidate = self._typed(name, typed, kind, around, needed, depth)
                if candidate is not NOTHING:
                    return candidate
        return None if is_nullable and needed else NOTHING

    def _typed(
        self,
        name: str,
        schema: JsonSchema,
        kind: str,
        around: tuple[Record, ...],
        needed: bool,
        depth: int,
    ) -> Any:
        if kind == "null":
            return NOTHING
        if kind == "array":
            return self._array(name, schema, around, needed, depth)
        if kind != "object":
            value = next(plain_values(name, schema, kind, self.root, self.values, around), NOTHING)
            if value is NOTHING and needed:
                others = () if self.is_apart else self.records
                value = next(other_values(name, schema, kind, self.root, others), NOTHING)
            return value
        if is_open(schema):
            values = [*self._open_objects(name, around, depth), *([{}] if needed else [])]
            return next(
                (one for one in values if one is not NOTHING and fits(schema, one, self.root)), NOTHING
            )
        return self._object(name, schema, around, needed, depth)

    def _object(
        self, name: str, schema: JsonSchema, around: tuple[Record, ...], needed: bool, depth: int
    ) -> Any:
        if not around and (best := self._best(schema)) is not None:
            around = (best, *best.parents)
        required = required_of(schema)
        properties: dict[str, Any] = {}
        for key, part in list(properties_of(schema).items())[:_KEYS_MAX]:
            value = self.value(key, part, around, key in required, depth + 1)
            if value is not NOTHING and (key in required or fits(part, value, self.root)):
                properties[key] = value
        return properties or NOTHING

    def _best(self, schema: JsonSchema) -> Record | None:
        """Return the object with most of the properties that a schema demands, the most relevant of several."""
        properties = properties_of(schema)
        keys = [key for key in required_of(schema) if key in properties] or list(properties)
        best, most = None, 0
        for record in self.records:
            count = sum(self._contains(record, key, properties[key]) for key in keys[:_KEYS_MAX])
            if count > most:
                best, most = record, count
        return best

    def _contains(self, record: Record, name: str, schema: object) -> bool:
        kinds = {kind for one in alternatives(schema, self.root) for kind in types_of(one)}
        is_number = kinds <= {*NUMBERS, "null"}
        values = values_under(record, name, is_count=is_number)
        return any(True for _ in values) or (is_number and any(True for _ in counts_of(record, name)))

    def _open_objects(self, name: str, around: tuple[Record, ...], depth: int) -> Iterator[Any]:
        """Yield objects for an open schema: filled as results describe them, or taken from a result."""
        own = around[0].fields.values() if around else ()
        about = [one for call, one in self.values.described if _shares(call.values(), own)]
        found = [value for record in (around or self.records) for value in values_under(record, name)]
        listed = (value for value in found if isinstance(value, list) and all(map(is_described, value)))
        described = schema_of(about or next(listed, [])) if depth < _DEPTH_MAX else None
        if described is not None:
            inner = replace(self, root=described, is_apart=True)
            yield inner.value("", described, (Record({}),), True, depth + 1)
        yield from (value for value in found if isinstance(value, dict))

    def _array(
        self, name: str, schema: JsonSchema, around: tuple[Record, ...], needed: bool, depth: int
    ) -> Any:
        items, most = schema.get("items"), schema.get("maxItems")
        items = items if isinstance(items, dict) else {}
        most = min(most, _ITEMS_MAX) if isinstance(most, int) else _ITEMS_MAX
        for records in self._lists(name, items, around, depth):
            listed: list[Any] = []
            for one in records[:_RECORDS_MAX]:
                if one not in listed and fits(items, one, self.root):
                    listed.append(one)
            if listed and fits(schema, listed[:most], self.root):
                return listed[:most]
        is_none = needed and self.values.has_results and fits(schema, [], self.root)
        return [] if is_none else NOTHING

    def _lists(self, name: str, items: object, around: tuple[Record, ...], depth: int) -> Iterator[list[Any]]:
        """Yield candidate lists for an array, the best first."""
        item = next((one for one in alternatives(items, self.root) if "object" in types_of(one)), None)
        has_objects = item is not None and bool(properties_of(item))
        if has_objects and item is not None:
            yield from self._objects(name, item, around, depth)
            return
        for records in (around, () if self.is_apart else self.records):
            for record in records if name else ():
                yield from (value for value in values_under(record, name) if isinstance(value, list))
        if name and not self.is_apart:
            yield [
                value
                for record in self._relevant(self.records)
                for value in values_under(record, name)
                if is_plain(value)
            ]

    def _objects(
        self, name: str, item: dict[str, Any], around: tuple[Record, ...], depth: int
    ) -> Iterator[list[Any]]:
        """Yield lists of objects: one for each value of a list that names them, else one for each object."""
        apart = replace(self, is_apart=True)
        for key in required_of(item):
            for record in (*around, *self.records):
                for listed in values_under(record, key):
                    if isinstance(listed, list) and listed and all(map(is_plain, listed)):
                        abouts = [(Record({key: one}), *self._about(key, one)) for one in listed[:_ITEMS_MAX]]
                        yield _existing(apart.value("", item, about, True, depth + 1) for about in abouts)
        kinds = frozenset(stems_of_name(name))
        own = [record for record in self.records if kinds & record.kinds]
        for records in (own, self.records):
            yield _existing(
                apart.value("", item, (record, *record.parents), True, depth + 1)
                for record in self._relevant(tuple(records))
            )

    def _about(self, key: str, value: object) -> list[Record]:
        """Return the objects with a value under a key, the largest first."""
        owners = [record for record in self.records if any(one == value for one in values_under(record, key))]
        return sorted(owners, key=lambda record: -len(record.fields))

    def _relevant(self, records: tuple[Record, ...]) -> list[Record]:
        """Return the objects that share most words with the question; all of them where it asks for all."""
        question = self.values.question
        if question.slots.wants_all:
            return list(records)
        shared = [record.overlap(question.terms) for record in records]
        most = max(shared, default=0)
        return [record for record, count in zip(records, shared, strict=True) if 2 * count >= most]


def _shares(first: Iterable[Any], second: Iterable[Any]) -> bool:
    """Return whether two groups have a plain value in common."""
    others = [value for value in second if is_plain(value)]
    return any(is_plain(value) and value in others for value in first)


def _existing(rows: Iterator[Any]) -> list[Any]:
    return [row for row in rows if row is not NOTHING]
