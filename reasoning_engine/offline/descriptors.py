"""Settings that a result describes, `{"name": "limit", "type": "number", "required": true}`, as a JSON Schema. Pure."""

from collections.abc import Iterable
from typing import Any

from reasoning_engine.offline.shapes import TYPES

_RULES = ("type", "minimum", "maximum", "pattern", "format", "default", "description", "enum")


def is_described(one: object) -> bool:
    """Return whether a value describes a setting: by its name, its type, and its need or default."""
    if not isinstance(one, dict) or not isinstance(one.get("name"), str) or one.get("type") not in TYPES:
        return False
    return isinstance(one.get("required"), bool) or "default" in one


def schema_of(described: Iterable[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the schema of an object with the described settings; None without any."""
    settings = {one["name"]: one for one in described}
    if not settings:
        return None
    return {
        "type": "object",
        "properties": {name: _property(one) for name, one in settings.items()},
        "required": [name for name, one in settings.items() if one.get("required") is True],
        "additionalProperties": False,
    }


def _property(one: dict[str, Any]) -> dict[str, Any]:
    rules = {name: one[name] for name in _RULES if one.get(name) is not None}
    return {**rules, "enum": one["choices"]} if one.get("choices") else rules
