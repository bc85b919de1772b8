"""A tool's arguments, filled from the question and from results. Pure.

Every value has a reason: an optional parameter is filled when the question clearly names it, a required one
also from results and by elimination. A required parameter without a fitting value is reported as missing.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice, permutations
from typing import Any

from antiphon_shared.text.words import stem, words_as_written

from reasoning_engine.offline.forms import as_type
from reasoning_engine.offline.language import content_words, singular, stem_set, stems
from reasoning_engine.offline.question import Slots
from reasoning_engine.offline.question_values import option
from reasoning_engine.offline.records import Record, is_plain
from reasoning_engine.offline.schema import Parameter, Tool, parameters_of, resolved
from reasoning_engine.offline.shapes import fits
from reasoning_engine.offline.spans import Entity
from reasoning_engine.offline.values import values_named

_DEPTH_MAX = 3
_ORDERS_MAX = 6
_ORIGIN = stem_set("from origin source departure start")
_TARGET = stem_set("to destination target arrival end")
_PLACE = stem_set("city town place location country region where near area")
_BY_PREPOSITION = {"from": _ORIGIN, "to": _TARGET | _PLACE} | dict.fromkeys(
    ("in", "near", "at", "for"), _PLACE
)
_AMOUNTS = stem_set("amount count quantity qty pieces units times")
_NEGATIONS = frozenset(("no", "not", "without", "never"))


@dataclass
class Filling:
    """The arguments for one call, and the source of each."""

    arguments: dict[str, Any] = field(default_factory=dict)
    missing: list[Parameter] = field(default_factory=list)
    named: set[str] = field(default_factory=set)
    """Parameters whose noun the question itself names: the strongest reason."""
    guessed: set[str] = field(default_factory=set)
    """Parameters filled by elimination alone."""
    searched: list[str] = field(default_factory=list)
    """Parameters with search words."""
    entities: set[Entity] = field(default_factory=set)

    @property
    def is_complete(self) -> bool:
        return not self.missing


def fill(tool: Tool, slots: Slots, records: tuple[Record, ...] = ()) -> Filling:
    """Return the arguments for `tool`; `records` are those of the results, the most relevant first."""
    filling = Filling()
    filling.arguments = _fill_object(tool, tool.parameters, slots, records, filling, 0)
    return filling


def broader(filling: Filling, known: frozenset[str]) -> list[dict[str, Any]]:
    """Return the arguments with fewer search words, the closest first. `known` are the stems of the tool's words."""
    searched = [name for name in filling.searched if isinstance(filling.arguments.get(name), str)]
    if len(searched) > 1:
        values = [singular(filling.arguments[name]) for name in searched]
        orders = islice(permutations(values), _ORDERS_MAX)
        found = [{**filling.arguments, **dict(zip(searched, order, strict=True))} for order in orders]
    elif searched:
        own = [singular(word) for word in content_words(filling.arguments[searched[0]])]
        telling = [word for word in own if stem(word) not in known] or own
        values = [" ".join(own), " ".join(telling), *(word for word in reversed(telling))]
        found = [{**filling.arguments, searched[0]: value} for value in dict.fromkeys(values)]
    else:
        found = []
    return [arguments for arguments in found if arguments != filling.arguments]


def _fill_object(
    tool: Tool,
    parameters: tuple[Parameter, ...],
    slots: Slots,
    records: tuple[Record, ...],
    filling: Filling,
    depth: int,
) -> dict[str, Any]:
    values: dict[str, Any] = {}
    ordered = sorted(parameters, key=lambda parameter: (parameter.is_query, not parameter.required))
    for parameter in ordered:
        if parameter.types == ("object",) and parameter.required and depth < _DEPTH_MAX:
            inner = parameters_of(parameter.schema, parameter.root)
            values[parameter.name] = _fill_object(tool, inner, slots, records, filling, depth + 1)
            continue
        value = _first_fitting(parameter, _said(parameter, slots, filling))
        if value is not None:
            filling.named.add(parameter.name)
        elif parameter.is_query and (parameter.required or not _has_required(parameters)):
            value = _first_fitting(parameter, _searched(slots, filling))
            if slots.wants_all and parameter.required and stems(slots.query) <= tool.all_stems:
                everything = fits(parameter.schema, "", parameter.root)  # the words name the tool alone
                value = "" if everything else value
            if value is not None:
                filling.searched.append(parameter.name)
        elif parameter.required:
            value = _first_fitting(parameter, _held(tool, parameter, records))
            if value is None:
                value = _first_fitting(parameter, _left_over(tool, parameter, parameters, slots, filling))
                if value is not None:
                    filling.guessed.add(parameter.name)
                    if isinstance(value, str):
                        filling.searched.append(parameter.name)
        if value is None:
            if parameter.required and "default" not in parameter.schema:
                filling.missing.append(parameter)
            continue
        values[parameter.name] = value
    return {parameter.name: values[parameter.name] for parameter in parameters if parameter.name in values}


def _said(parameter: Parameter, slots: Slots, filling: Filling) -> Iterator[Any]:
    """Yield the question's own values for a parameter, the best first."""
    if parameter.options:
        yield option(slots.text, parameter.options)
        if parameter.required and (len(parameter.options) == 1 or "default" in parameter.schema):
            yield parameter.schema.get("default", parameter.options[0])
    elif "boolean" in parameter.types:
        yield from _named_flag(parameter, slots.text)
    elif parameter.is_date:
        yield from slots.dates
    elif parameter.is_limit and slots.limit is not None:
        yield slots.limit
    elif not parameter.is_query:
        yield from _matching_numbers(parameter, slots)
        for entity in slots.entities:
            if entity not in filling.entities and _names(entity, parameter):
                filling.entities.add(entity)
                yield entity.value


def _names(entity: Entity, parameter: Parameter) -> bool:
    """Return whether the question gives a name for the parameter: by its noun, or by the preposition before it."""
    if parameter.is_key and not parameter.nouns & {entity.noun}:
        return False
    if entity.noun and entity.noun in parameter.nouns:
        return _takes_text(parameter) and not (parameter.is_key and " " in entity.value)
    fitting = _BY_PREPOSITION.get(entity.preposition, frozenset())
    return _takes_text(parameter) and not fitting.isdisjoint(parameter.parts)


def _matching_numbers(parameter: Parameter, slots: Slots) -> Iterator[int | float]:
    for number in slots.numbers:
        if number.bound and number.bound in parameter.parts:
            yield number.value
    for number in slots.numbers:
        if number.noun and number.noun in parameter.parts:
            yield number.value


def _named_flag(parameter: Parameter, text: str) -> Iterator[bool]:
    said = [stem(word) for word in words_as_written(text)]
    for index, word in enumerate(said):
        if word in parameter.nouns:
            yield not _NEGATIONS.intersection(said[max(0, index - 2) : index])
    if parameter.required:
        yield False


def _searched(slots: Slots, filling: Filling) -> Iterator[str]:
    """Yield the search words: the topic, or the name that no other parameter has taken."""
    taken = {entity.value for entity in filling.entities}
    if slots.query and slots.query not in taken:
        yield slots.query
    else:
        yield from [entity.value for entity in slots.entities if entity not in filling.entities][:1]
        if slots.query:
            yield slots.query


def _held(tool: Tool, parameter: Parameter, records: tuple[Record, ...]) -> Iterator[Any]:
    """Yield the results' values under the parameter's name, or under `id` in a record of its kind."""
    kinds = () if parameter.nouns else sorted(tool.name_stems - {tool.verb})
    name = "_".join((*kinds, parameter.name))
    for record in records:
        for one in (record, *record.parents):
            found = values_named(one, name)
            yield from (value for value in found if is_plain(value) and not isinstance(value, bool))


def _left_over(
    tool: Tool, parameter: Parameter, parameters: tuple[Parameter, ...], slots: Slots, filling: Filling
) -> Iterator[Any]:
    """Yield values by elimination: the only required name or number takes the question's remaining one.

    Several required texts take the search words, one each, in order.
    """
    if parameter.is_date or parameter.options:
        return
    alike = [p for p in parameters if p.required and not p.is_query and p.types == parameter.types]
    if len(alike) > 1:
        spread = slots.query.split()
        if "string" in parameter.types and not any(p.is_key for p in alike) and len(spread) == len(alike):
            yield spread[alike.index(parameter)]
        return
    kinds = tool.name_stems | parameter.nouns
    if "string" in parameter.types and not parameter.is_key:
        free = [entity for entity in slots.entities if entity not in filling.entities]
        for entity in sorted(free, key=lambda entity: (entity.noun not in kinds, not entity.quoted)):
            filling.entities.add(entity)
            yield entity.value
        if slots.query:
            yield slots.query
    elif parameter.nouns and parameter.nouns <= _AMOUNTS:
        yield from (number.value for number in slots.numbers if not number.is_name)
    elif parameter.is_key or not parameter.nouns:
        yield from (number.value for number in slots.numbers if not number.noun or number.noun in kinds)


def _first_fitting(parameter: Parameter, values: Iterable[Any]) -> Any:
    """Return the first value that the parameter's schema allows, in its type."""
    for value in values:
        fitted = _fitted(parameter, value)
        if fitted is not None:
            return fitted
    return None


def _fitted(parameter: Parameter, value: Any) -> Any:
    value = value.strip() if isinstance(value, str) else value
    for kind in parameter.types if value != "" else ():
        if kind == "array":
            items = resolved(parameter.schema.get("items"), parameter.root)
            item = Parameter(parameter.name, items, True, parameter.root)
            fitted = _fitted(item, value) if item.types != ("array",) else value
            if fitted is not None:
                return [fitted]
        for form in as_type(kind, value, parameter.schema):
            if fits(parameter.schema, form, parameter.root):
                return form
    return None


def _takes_text(parameter: Parameter) -> bool:
    return "string" in parameter.types or "array" in parameter.types


def _has_required(parameters: tuple[Parameter, ...]) -> bool:
    return any(parameter.required for parameter in parameters)
