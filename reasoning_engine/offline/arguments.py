"""A tool's arguments, filled from the question and from results. Pure.

Every value has a reason: an optional parameter is filled when the question clearly names it, a required one
also from results and by elimination. A required parameter without a fitting value is reported as missing.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice, permutations
from typing import Any, Literal

from antiphon_shared.text.words import stem

from reasoning_engine.offline.forms import as_type
from reasoning_engine.offline.language import content_words, singular, stem_set, stems
from reasoning_engine.offline.question import Slots
from reasoning_engine.offline.question_values import option
from reasoning_engine.offline.records import Record, is_plain
from reasoning_engine.offline.schema import Parameter, Tool, resolved
from reasoning_engine.offline.shapes import fits, types_of
from reasoning_engine.offline.spans import Entity
from reasoning_engine.offline.values import values_under

_ORDERS_MAX = 6
_ORIGIN = stem_set("from origin source departure start")
_TARGET = stem_set("to destination target arrival end")
_LOCATION = stem_set("city town place location country region where near area")
_BY_PREPOSITION = {"from": _ORIGIN, "to": _TARGET | _LOCATION} | dict.fromkeys(
    ("in", "near", "at", "for"), _LOCATION
)
_AMOUNTS = stem_set("amount count quantity qty pieces units times")

Source = Literal["named", "topic", "result", "rest"]
"""The source of a value: named by the question, its topic, a result, or the only value left over."""


@dataclass
class Filling:
    """The arguments for one call, and the source of each."""

    arguments: dict[str, Any] = field(default_factory=dict)
    missing: list[Parameter] = field(default_factory=list)
    sources: dict[str, Source] = field(default_factory=dict)
    entities: set[Entity] = field(default_factory=set)
    """The names that parameters have taken."""

    @property
    def is_complete(self) -> bool:
        return not self.missing

    def filled_from(self, source: Source) -> list[str]:
        """Return the names of the parameters with a value from this source."""
        return [name for name, its in self.sources.items() if its == source]


def fill_arguments(tool: Tool, slots: Slots, records: tuple[Record, ...] = ()) -> Filling:
    """Return the arguments for `tool`; `records` are those of the results, the most relevant first."""
    filling = Filling()
    for parameter in sorted(tool.parameters, key=lambda one: (one.is_query, not one.required)):
        for source, values in _sources(tool, parameter, slots, records, filling):
            value = next(_fitting(parameter, values), None)
            if value is not None:
                filling.arguments[parameter.name] = value
                filling.sources[parameter.name] = source
                break
        else:
            if parameter.required and "default" not in parameter.schema:
                filling.missing.append(parameter)
    names = [parameter.name for parameter in tool.parameters if parameter.name in filling.arguments]
    filling.arguments = {name: filling.arguments[name] for name in names}
    return filling


def broader(filling: Filling, tool_stems: frozenset[str]) -> list[dict[str, Any]]:
    """Return the arguments with fewer search words, the closest first. `tool_stems`: of the tool's words."""
    searched = [
        name
        for name, value in filling.arguments.items()
        if isinstance(value, str) and filling.sources[name] in ("topic", "rest")
    ]
    if len(searched) > 1:
        values = [singular(filling.arguments[name]) for name in searched]
        orders = islice(permutations(values), _ORDERS_MAX)
        candidates = [{**filling.arguments, **dict(zip(searched, order, strict=True))} for order in orders]
    else:
        words = [singular(word) for name in searched for word in content_words(filling.arguments[name])]
        telling = [word for word in words if stem(word) not in tool_stems] or words
        values = [" ".join(words), " ".join(telling), *reversed(telling)]
        candidates = [{**filling.arguments, name: one} for name in searched for one in dict.fromkeys(values)]
    return [arguments for arguments in candidates if arguments != filling.arguments]


def _sources(
    tool: Tool, parameter: Parameter, slots: Slots, records: tuple[Record, ...], filling: Filling
) -> Iterator[tuple[Source, Iterable[Any]]]:
    """Yield the sources of a parameter's value with their candidates, the best first."""
    yield "named", _values_in_question(parameter, slots, filling)
    if not parameter.is_query:
        if parameter.required:
            yield "result", _values_in_results(tool, parameter, records)
            yield "rest", _left_over(tool, parameter, slots, filling)
    elif parameter.required or not any(one.required for one in tool.parameters):
        # a question for all of the things that the tool returns searches for the empty text
        is_for_all = slots.wants_all and parameter.required and stems(slots.query) <= tool.all_stems
        if is_for_all and "string" in parameter.types:
            yield "topic", [""]
        yield "topic", _searched(slots, filling)


def _values_in_question(parameter: Parameter, slots: Slots, filling: Filling) -> Iterator[Any]:
    """Yield the values that the question names for a parameter, the best first."""
    if parameter.options:
        yield option(slots.text, parameter.options)
    elif parameter.types == ("boolean",):
        yield from [False] if parameter.required else ()
    elif parameter.is_date:
        yield from slots.dates
    elif parameter.is_limit and slots.limit is not None:
        yield slots.limit
    elif not parameter.is_query:
        yield from (one.value for one in slots.numbers if one.bound and one.bound in parameter.parts)
        yield from (one.value for one in slots.numbers if one.noun and one.noun in parameter.parts)
        for entity in slots.entities:
            if entity not in filling.entities and _names(entity, parameter):
                filling.entities.add(entity)
                yield entity.value


def _names(entity: Entity, parameter: Parameter) -> bool:
    """Return whether the question gives a name for the parameter: by its noun, or by the preposition before it."""
    if "string" not in parameter.types and "array" not in parameter.types:
        return False
    if entity.noun and entity.noun in parameter.nouns:
        return not (parameter.is_key and " " in entity.value)
    fitting = _BY_PREPOSITION.get(entity.preposition, frozenset())
    return not parameter.is_key and not fitting.isdisjoint(parameter.parts)


def _searched(slots: Slots, filling: Filling) -> Iterator[str]:
    """Yield the search words: the topic, or the name that no other parameter has taken."""
    if slots.query not in {"", *(entity.value for entity in filling.entities)}:
        yield slots.query
    yield from [entity.value for entity in slots.entities if entity not in filling.entities][:1]
    yield from [slots.query] if slots.query else ()


def _values_in_results(tool: Tool, parameter: Parameter, records: tuple[Record, ...]) -> Iterator[Any]:
    """Yield the results' values under the parameter's name, or under `id` in a record of its kind."""
    kinds = () if parameter.nouns else sorted(tool.name_stems - {tool.verb})
    name = "_".join((*kinds, parameter.name))
    for record in records:
        for one in (record, *record.parents):
            values = values_under(one, name)
            yield from (
                value for value in values if is_plain(value) and value != "" and not isinstance(value, bool)
            )


def _left_over(tool: Tool, parameter: Parameter, slots: Slots, filling: Filling) -> Iterator[Any]:
    """Yield values by elimination: the only required name or number takes the question's remaining one.

    Several required texts take the search words, one each, in order.
    """
    if parameter.is_date or parameter.options:
        return
    is_text = "string" in parameter.types
    alike = [p for p in tool.parameters if p.required and not p.is_query and p.types == parameter.types]
    kinds = tool.name_stems | parameter.nouns
    if len(alike) > 1:
        words = slots.query.split()
        if is_text and len(words) == len(alike) and not any(one.is_key for one in alike):
            yield words[alike.index(parameter)]
    elif is_text and not parameter.is_key:
        free = [entity for entity in slots.entities if entity not in filling.entities]
        for entity in sorted(free, key=lambda entity: (entity.noun not in kinds, not entity.quoted)):
            filling.entities.add(entity)
            yield entity.value
        yield from [slots.query] if slots.query else ()
    elif parameter.nouns and parameter.nouns <= _AMOUNTS:
        yield from (number.value for number in slots.numbers if not number.is_name)
    elif parameter.is_key or not parameter.nouns:
        yield from (number.value for number in slots.numbers if not number.noun or number.noun in kinds)


def _fitting(parameter: Parameter, values: Iterable[Any]) -> Iterator[Any]:
    """Yield the values that the parameter's schema allows, in its type; one value makes a list of one."""
    for value in values:
        for kind in parameter.types:
            item = resolved(parameter.schema.get("items"), parameter.root) if kind == "array" else {}
            kinds = types_of(item) if kind == "array" else (kind,)
            for form in (form for one in kinds for form in as_type(one, value)):
                candidate = [form] if kind == "array" else form
                if fits(parameter.schema, candidate, parameter.root):
                    yield candidate
