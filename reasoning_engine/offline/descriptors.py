"""Settings that a result describes, `{"name": "limit", "type": "number", "required": true}`, as a JSON Schema. Pure."""

from collections.abc import Iterable
from typing import Any

_NAMES = ("name", "key", "id", "property", "setting", "option", "parameter", "field")
_RULES = {
    "minimum": ("minimum", "min"),
    "maximum": ("maximum", "max"),
    "pattern": ("pattern", "regex"),
    "format": ("format",),
    "default": ("default",),
    "description": ("description", "summary", "help", "text"),
}
_OPTIONS = ("choices", "options", "enum", "values", "allowed", "allowed_values")
_TYPES = {kind: kind for kind in ("string", "integer", "number", "boolean", "array", "object")} | {
    "str": "string",
    "text": "string",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "list": "array",
}


def schema_of(described: Any) -> dict[str, Any] | None:
    """Return the schema of an object whose properties a value describes, or None."""
    if isinstance(described, dict):
        if isinstance(described.get("properties"), dict):
            return described
        listed = [{**one, "name": name} for name, one in described.items() if isinstance(one, dict)]
        return _schema(listed) if listed and len(listed) == len(described) else None
    return _schema(described) if isinstance(described, list) else None


def _schema(listed: Iterable[Any]) -> dict[str, Any] | None:
    properties: dict[str, Any] = {}
    required: list[str] = []
    for one in listed:
        if not is_described(one):
            return None
        name = _first(one, _NAMES)
        properties[name] = _property(one)
        if one.get("required") is True:
            required.append(name)
    if not properties:
        return None
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def is_described(one: Any) -> bool:
    """Return whether a value describes a setting: by two or more of its type, its limits and its need."""
    if not isinstance(one, dict) or not isinstance(_first(one, _NAMES), str):
        return False
    signs = (
        str(one.get("type", "")).lower() in _TYPES,
        isinstance(one.get("required"), bool),
        "default" in one,
        isinstance(_first(one, _OPTIONS), list),
        any(name in one for rule in ("minimum", "maximum", "pattern") for name in _RULES[rule]),
    )
    return sum(signs) > 1


def _property(one: dict[str, Any]) -> dict[str, Any]:
    found = {rule: value for rule, names in _RULES.items() if (value := _first(one, names)) is not None}
    kind = _TYPES.get(str(one.get("type", "")).lower())
    if kind:
        found["type"] = kind
    options = _first(one, _OPTIONS)
    if isinstance(options, list) and options and all(isinstance(o, str | int | float) for o in options):
        found["enum"] = options
    return found


def _first(one: dict[str, Any], names: Iterable[str]) -> Any:
    return next((one[name] for name in names if one.get(name) is not None), None)
