"""A tool's JSON Schema as parameters, with the few properties that the rules need. Pure."""

from dataclasses import dataclass
from typing import Any

from antiphon_shared.text.words import stems_of_name
from antiphon_shared.tools.contract import CHANGES, ONE_AFTER_ANOTHER, UNKNOWN_OUTCOME
from antiphon_shared.values import JsonSchema

from reasoning_engine.offline.language import stem_set, stems
from reasoning_engine.offline.shapes import ANY, alternatives, properties_of, required_of, types_of

_GENERIC = stem_set(
    "name names title number num no id ids code key ref value string text query the filter full only list get set"
    " fetch find search lookup look create update delete send show all by for of and or to"
)
_QUERY = stem_set(
    "query queries q text topic keyword term phrase word words search question prompt subject what string pattern"
    " contains"
)
_LIMIT = stem_set("limit max maximum top count n first")
_IDENTIFYING = stem_set("id ids code key ref uuid number no isbn sku slug")
_DATE = stem_set("date day when since until")
_PLAIN_TYPES = ("string", "integer", "number")
_OF_WRITES = (CHANGES, ONE_AFTER_ANOTHER, UNKNOWN_OUTCOME)


@dataclass(frozen=True)
class Parameter:
    """A property of an object schema, its references and alternatives resolved."""

    name: str
    schema: JsonSchema
    required: bool
    root: JsonSchema

    @property
    def parts(self) -> tuple[str, ...]:
        """Return the stems of its name."""
        return stems_of_name(self.name)

    @property
    def nouns(self) -> frozenset[str]:
        """Return the stems of its name without generic words."""
        return frozenset(self.parts) - _GENERIC

    @property
    def types(self) -> tuple[str, ...]:
        """Return its JSON types; the plain ones when the schema names none."""
        return tuple(kind for kind in types_of(self.schema) if kind not in ("null", ANY)) or _PLAIN_TYPES

    @property
    def options(self) -> tuple[Any, ...]:
        """Return its only allowed values; empty when any are allowed."""
        if "const" in self.schema:
            return (self.schema["const"],)
        listed = self.schema.get("enum")
        return tuple(option for option in listed if option is not None) if isinstance(listed, list) else ()

    @property
    def is_query(self) -> bool:
        """Return whether it takes search words."""
        takes_text = "string" in self.types or "array" in self.types
        return takes_text and not self.options and bool(_QUERY.intersection(self.parts)) and not self.is_key

    @property
    def is_key(self) -> bool:
        """Return whether it takes an identifier from other results."""
        return bool(_IDENTIFYING.intersection(self.parts))

    @property
    def is_limit(self) -> bool:
        """Return whether it limits the number of results."""
        return not self.required and "integer" in self.types and bool(_LIMIT.intersection(self.parts))

    @property
    def is_date(self) -> bool:
        return self.schema.get("format") in ("date", "date-time") or bool(_DATE.intersection(self.parts))


@dataclass(frozen=True)
class Tool:
    """A tool as the request offers it."""

    name: str
    description: str
    schema: JsonSchema

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Return its parameters, in the schema's order."""
        return parameters_of(self.schema, self.schema)

    @property
    def writes(self) -> bool:
        """Return whether it writes, or may: a model receives no contract, but a line of the description."""
        return any(line in self.description for line in _OF_WRITES)

    @property
    def verb(self) -> str:
        """Return the stem of its name's first word: `book` of `book_flight`."""
        return next(iter(stems_of_name(self.name)), "")

    @property
    def name_stems(self) -> frozenset[str]:
        return frozenset(stems_of_name(self.name))

    @property
    def all_stems(self) -> frozenset[str]:
        """Return the stems in its name, description and parameters."""
        names = (part for parameter in self.parameters for part in parameter.parts)
        return self.name_stems | stems(self.description[:4_000]) | frozenset(names)

    @property
    def search_parameter(self) -> Parameter | None:
        """Return the parameter for search words; a required one before an optional one."""
        queries = [parameter for parameter in self.parameters if parameter.is_query]
        return min(queries, key=lambda parameter: not parameter.required, default=None)


def nouns_of(tools: tuple[Tool, ...]) -> frozenset[str]:
    """Return the stems of the things in a catalogue, from the names of tools and parameters."""
    names = {part for tool in tools for part in stems_of_name(tool.name)[1:]}
    taken = (one for tool in tools for one in tool.parameters if not one.is_query)
    return _things(names.union(*(one.nouns for one in taken)))


def key_nouns(keys: set[str]) -> frozenset[str]:
    """Return the stems of the things in a result's keys, such as `hall` in `hall_title`."""
    return _things({part for key in keys for part in stems_of_name(key[:100])})


def _things(parts: set[str]) -> frozenset[str]:
    return frozenset(part for part in parts if len(part) > 2) - _GENERIC - _QUERY


def parameters_of(schema: JsonSchema, root: JsonSchema) -> tuple[Parameter, ...]:
    """Return the properties of an object schema, without any that have no schema."""
    required = required_of(schema)
    return tuple(
        Parameter(name, resolved(value, root), name in required, root)
        for name, value in properties_of(schema).items()
        if isinstance(value, dict)
    )


def resolved(schema: object, root: JsonSchema) -> dict[str, Any]:
    """Return the first alternative of a schema that is not null, otherwise a schema that allows everything."""
    return next((one for one in alternatives(schema, root) if types_of(one) != ("null",)), {})
