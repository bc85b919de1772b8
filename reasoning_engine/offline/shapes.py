"""The parts of JSON Schemas for filling: alternatives, types, and the check of a value. Pure."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from antiphon_shared.output.bounds import UnfitSchema
from antiphon_shared.output.referred import referred
from antiphon_shared.output.schema import output_schema
from antiphon_shared.tools.contract import CONTRACT_KEYWORD
from antiphon_shared.values import JsonSchema

_DEPTH_MAX = 8
_ALTERNATIVES_MAX = 64
_DEFINITIONS = ("$defs", "definitions")
TYPES = ("object", "array", "string", "integer", "number", "boolean", "null")
NUMBERS = ("integer", "number")
ANY = "any"


def alternatives(schema: object, root: JsonSchema) -> Iterator[dict[str, Any]]:
    """Yield the schemas that a value may fit, with references followed; parts of `allOf` are taken one by one."""
    return islice(_alternatives(schema, root, 0), _ALTERNATIVES_MAX)


def _alternatives(schema: object, root: JsonSchema, depth: int) -> Iterator[dict[str, Any]]:
    if not isinstance(schema, dict) or depth > _DEPTH_MAX:
        return
    target = schema.get("$ref")
    if isinstance(target, str):
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        yield from _alternatives({**referred(target, root), **rest}, root, depth + 1)
        return
    for keyword in ("anyOf", "oneOf", "allOf"):
        branches = schema.get(keyword)
        if isinstance(branches, list):
            rest = {key: value for key, value in schema.items() if key != keyword}
            for branch in branches:
                if isinstance(branch, dict):
                    yield from _alternatives({**rest, **branch}, root, depth + 1)
            return
    yield schema


def types_of(schema: JsonSchema) -> tuple[str, ...]:
    """Return the JSON types that a schema allows; ANY where it names none."""
    allowed = schema.get("type")
    types = tuple(one for one in (allowed if isinstance(allowed, list) else [allowed]) if one in TYPES)
    if types:
        return types
    if isinstance(schema.get("properties"), dict):
        return ("object",)
    return ("array",) if "items" in schema else (ANY,)


def fits(schema: JsonSchema, value: object, root: dict[str, Any] | None = None) -> bool:
    """Return whether a value fits a schema; False for a schema that cannot be read."""
    self_contained = {**{name: root[name] for name in _DEFINITIONS if root and name in root}, **schema}
    self_contained.pop(CONTRACT_KEYWORD, None)
    try:
        return not output_schema(self_contained).faults(value)
    except (UnfitSchema, ValueError, TypeError, OverflowError, RecursionError):
        return False


def properties_of(schema: JsonSchema) -> dict[str, Any]:
    """Return the schemas of an object's properties, by name."""
    properties = schema.get("properties")
    return properties if isinstance(properties, dict) else {}


def required_of(schema: JsonSchema) -> tuple[str, ...]:
    """Return the names of an object's required properties."""
    required = schema.get("required")
    return tuple(name for name in required if isinstance(name, str)) if isinstance(required, list) else ()


def is_open(schema: JsonSchema) -> bool:
    """Return whether a schema names no properties of an object, and allows any."""
    return not properties_of(schema) and schema.get("additionalProperties", True) is not False
