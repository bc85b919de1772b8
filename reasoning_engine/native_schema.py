"""The schema of an answer in the form of the Messages API. Pure.

It is the form of the SDK's `transform_schema`, whose import takes longer than all other work of a short process.
"""

from collections.abc import Container, Mapping
from typing import Any

from antiphon_shared.output.schema import output_schema
from antiphon_shared.values import JsonSchema

_FORMATS = frozenset(
    {"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"}
)
_PLAIN_TYPES = ("boolean", "integer", "number", "null")


def native_schema(schema: JsonSchema) -> dict[str, Any] | None:
    """Return the schema in the API's form; None if the API cannot express it."""
    if output_schema(schema).extent.is_recursive or _has_open_object(schema):
        return None
    try:
        return _transformed(schema)
    except _Inexpressible:
        return None


class _Inexpressible(Exception):
    """A part of a schema that has no type, several types, or no keywords."""


def _has_open_object(schema: object) -> bool:
    """Return whether a schema has an object that allows unnamed properties.

    The API accepts only closed objects, so the model could give only an empty one there.
    """
    if isinstance(schema, list):
        return any(map(_has_open_object, schema))
    if not isinstance(schema, dict):
        return False
    if schema.get("type") == "object" and (
        not schema.get("properties")
        or "patternProperties" in schema
        or schema.get("additionalProperties", False) is not False
    ):
        return True
    return any(map(_has_open_object, schema.values()))


def _transformed(schema: object) -> dict[str, Any]:
    """Return a schema with the keywords of the API; the others become a part of the description."""
    if not isinstance(schema, dict):
        raise _Inexpressible
    rest = dict(schema)
    shaped: dict[str, Any] = {}
    if (definitions := rest.pop("$defs", None)) is not None:
        shaped["$defs"] = _each(definitions)
    if (reference := rest.pop("$ref", None)) is not None:
        return {**shaped, "$ref": reference}
    kind = _take_alternatives(rest, shaped)
    for word in ("description", "title"):
        if (text := rest.pop(word, None)) is not None:
            shaped[word] = text
    _take_parts(kind, rest, shaped)
    if rest:
        before = f"{shaped['description']}\n\n" if "description" in shaped else ""
        shaped["description"] = f"{before}{{{', '.join(f'{key}: {value}' for key, value in rest.items())}}}"
    return shaped


def _each(schemas: Mapping[str, object]) -> dict[str, Any]:
    return {name: _transformed(part) for name, part in schemas.items()}


def _take_alternatives(rest: dict[str, Any], shaped: dict[str, Any]) -> object:
    """Move the type, or the values or schemas of which one applies; return the type, None next to values."""
    kind = rest.pop("type", None)
    any_of, one_of, all_of = (rest.pop(word, None) for word in ("anyOf", "oneOf", "allOf"))
    enum = rest.get("enum")
    if isinstance(enum, list) and enum and all(map(_is_primitive, enum)):
        shaped["enum"] = list(rest.pop("enum"))
    if "const" in rest and _is_primitive(rest["const"]):
        shaped["const"] = rest.pop("const")
    has_values = bool(shaped.keys() & {"enum", "const"})
    if has_values:
        kind = None
    if isinstance(any_of, list):
        shaped["anyOf"] = list(map(_transformed, any_of))
    elif isinstance(one_of, list):
        shaped["anyOf"] = list(map(_transformed, one_of))
    elif isinstance(all_of, list):
        shaped["allOf"] = list(map(_transformed, all_of))
    elif not has_values:
        if kind is None:
            raise _Inexpressible
        shaped["type"] = kind
    return kind


def _take_parts(kind: object, rest: dict[str, Any], shaped: dict[str, Any]) -> None:
    """Move the keywords that the API knows for a type. Raises _Inexpressible for a list of types."""
    if kind == "object":
        shaped["properties"] = _each(rest.pop("properties", {}))
        rest.pop("additionalProperties", None)
        shaped["additionalProperties"] = False
        if (required := rest.pop("required", None)) is not None:
            shaped["required"] = list(required)
    elif kind == "string":
        _take(rest, shaped, "format", _FORMATS)
    elif kind == "array":
        if (items := rest.pop("items", None)) is not None:
            shaped["items"] = _transformed(items)
        _take(rest, shaped, "minItems", (0, 1))
    elif kind is not None and kind not in _PLAIN_TYPES:
        raise _Inexpressible


def _take(rest: dict[str, Any], shaped: dict[str, Any], word: str, known: Container[object]) -> None:
    """Move a keyword if the API knows its value; otherwise it comes last in the description."""
    if (value := rest.pop(word, None)) is not None:
        (shaped if value in known else rest)[word] = value


def _is_primitive(value: object) -> bool:
    return value is None or isinstance(value, str | int | float | bool)
