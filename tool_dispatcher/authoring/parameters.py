"""The parameters of a tool: from type hints, checked by pydantic, or from a JSON Schema, by jsonschema. Pure.

Both refuse unknown fields and coercion: "42" is not 42. Both validators are compiled once.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, Protocol

from antiphon_shared.values import JsonSchema, ToolArguments
from jsonschema import Draft202012Validator, SchemaError
from jsonschema.validators import validator_for
from pydantic import BaseModel, ValidationError
from pydantic_core import from_json, to_json
from referencing import Registry as References
from referencing import Resource
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from tool_dispatcher.authoring.argument_errors import (
    ERRORS_MAX,
    ArgumentErrors,
    pydantic_errors,
    schema_errors,
)
from tool_dispatcher.authoring.failures import InvalidTool, readable
from tool_dispatcher.authoring.secret import without_defaults


class BadArguments(Exception):
    """Arguments that the tool does not accept."""

    def __init__(self, errors: ArgumentErrors) -> None:
        super().__init__(errors)
        self.errors = dict(islice(errors.items(), ERRORS_MAX))


class Parameters(Protocol):
    """The parameters of a tool."""

    @property
    def schema(self) -> JsonSchema:
        """Return the JSON Schema of the arguments."""

    def read(self, arguments: ToolArguments) -> ToolArguments:
        """Return the arguments as the tool's function takes them. Raises BadArguments."""


@dataclass(frozen=True)
class SchemaParameters:
    """Parameters defined by a JSON Schema; the arguments reach the function unchanged."""

    schema: JsonSchema
    validator: Any

    @classmethod
    def of(cls, tool: str, schema: object) -> "SchemaParameters":
        """Return the parameters of a schema.

        Raises InvalidTool unless it is the JSON Schema of an object, without references outside the schema.
        """
        hint = 'Pass a JSON Schema such as {"type": "object", "properties": {"q": {"type": "string"}}}.'
        try:
            copy = from_json(to_json(schema, inf_nan_mode="strings"))
        except (ValueError, RecursionError) as error:
            raise InvalidTool(tool, f"its parameters are not JSON: {error}", hint=hint) from None
        if not isinstance(copy, dict) or copy.setdefault("type", "object") != "object":
            raise InvalidTool(tool, "its parameters are not the JSON Schema of an object", hint=hint)
        if not _COMBINING.intersection(copy):
            copy.setdefault("additionalProperties", False)
        kind = validator_for(copy, default=Draft202012Validator)
        try:
            _check(to_json(copy))
        except (SchemaError, Unresolvable, RecursionError) as error:
            problem = readable(getattr(error, "message", error), 300)
            raise InvalidTool(
                tool, f"its parameters are not a valid JSON Schema: {problem}", hint=hint
            ) from None
        copy = without_defaults(copy)
        return cls(copy, kind(copy, registry=References()))

    def read(self, arguments: ToolArguments) -> ToolArguments:
        errors = schema_errors(self.validator.iter_errors(arguments), self.schema, arguments)
        if errors:
            raise BadArguments(errors)
        return arguments


@lru_cache(maxsize=256)
def _check(schema: bytes) -> None:
    """Raise SchemaError, Unresolvable or RecursionError for an invalid schema. A valid one is checked once."""
    copy = from_json(schema)
    validator_for(copy, default=Draft202012Validator).check_schema(copy)
    _check_references(copy)


@dataclass(frozen=True)
class TypedParameters:
    """Parameters of a function with type hints, as one pydantic model."""

    schema: JsonSchema
    model: type[BaseModel]
    fields: Mapping[str, str]
    """The model's field names, by the function's parameter names; empty if the model is the argument."""
    optional: frozenset[str]
    """Parameters that have a default, which the function applies."""
    model_parameter: str | None
    """The name of the only parameter, if it takes the model."""
    stricter: SchemaParameters | None
    """A second check, where the schema is stricter than pydantic."""

    def read(self, arguments: ToolArguments) -> ToolArguments:
        try:
            read = self.model.model_validate_json(to_json(arguments), strict=True, extra="forbid")
        except ValidationError as error:
            raise BadArguments(pydantic_errors(error, self.schema, arguments)) from None
        except (ValueError, RecursionError):
            raise BadArguments({(): "not JSON, or nested too deeply"}) from None
        if self.stricter is not None:
            self.stricter.read(arguments)
        if self.model_parameter is not None:
            return {self.model_parameter: read}
        fields_set = read.model_fields_set
        return {
            name: getattr(read, field)
            for name, field in self.fields.items()
            if field in fields_set or name not in self.optional
        }


def is_stricter_than_pydantic(schema: object) -> bool:
    """Return whether pydantic accepts more than the schema: True for 1 in an `enum`, or a duplicate in a set."""
    return any(
        node.get("uniqueItems") is True or isinstance(option, int | float)
        for node in _nodes(schema)
        for option in (node.get("const"), *_listed(node.get("enum")))
    )


_COMBINING = frozenset(
    ("allOf", "anyOf", "oneOf", "if", "$ref", "$dynamicRef", "patternProperties", "unevaluatedProperties")
)


def _listed(value: object) -> Iterable[object]:
    return value if isinstance(value, list) else ()


def _nodes(schema: object) -> Iterator[JsonSchema]:
    """Yield every object within a schema."""
    if isinstance(schema, dict):
        yield schema
    children = schema.values() if isinstance(schema, dict) else _listed(schema)
    for child in children:
        yield from _nodes(child)


def _check_references(schema: JsonSchema) -> None:
    """Raise Unresolvable for a reference without a target within the schema: no schema is ever fetched."""
    resource = Resource.from_contents(schema, default_specification=DRAFT202012)
    resolver = References().with_resource("", resource).resolver()
    for node in _nodes(schema):
        if isinstance(target := node.get("$ref"), str):
            resolver.lookup(target)
