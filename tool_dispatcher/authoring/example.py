"""Examples of valid arguments: checks of an author's examples, and examples made from a JSON Schema. Pure."""

from math import ceil, floor
from typing import Any

from antiphon_shared.output.referred import referred
from antiphon_shared.values import ToolArguments
from pydantic_core import from_json, to_json

from tool_dispatcher.authoring.failures import InvalidTool, readable
from tool_dispatcher.authoring.parameters import BadArguments, Parameters

_DEPTH_MAX = 6
_TEXTS = {
    "date": "2026-01-31",
    "date-time": "2026-01-31T12:00:00Z",
    "time": "12:00:00Z",
    "duration": "P1D",
    "email": "name@example.com",
    "uri": "https://example.com/",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
}


def checked_examples(tool: str, parameters: Parameters, examples: object) -> tuple[ToolArguments, ...]:
    """Return the author's examples as JSON. Raises InvalidTool for one that the tool would not accept."""
    if not isinstance(examples, list | tuple):
        raise InvalidTool(tool, f"its examples are {readable(repr(examples), 200)}", hint="Pass a list.")
    checked: list[ToolArguments] = []
    for example in examples:
        try:
            checked.append(_read(parameters, example))
        except Exception as error:  # noqa: BLE001  # a model's validators are the tool's own code
            text = readable(repr(example), 200)
            raise InvalidTool(
                tool, f"its example {text} is not valid: {_reason(error)}", hint="Correct the example."
            ) from None
    return tuple(checked)


def is_valid(parameters: Parameters, arguments: ToolArguments) -> bool:
    """Return whether a tool would accept these arguments."""
    try:
        parameters.read(arguments)
    except Exception:  # noqa: BLE001  # a model's validators are the tool's own code
        return False
    return True


def example_of(schema: ToolArguments) -> ToolArguments:
    """Return arguments with every required property. Patterns are ignored, so check the result with `is_valid`."""
    example = _value(schema, schema, 0)
    return example if isinstance(example, dict) else {}


def _read(parameters: Parameters, example: object) -> ToolArguments:
    if not isinstance(example, dict):
        raise BadArguments({(): "it is not a dict of arguments"})
    arguments: ToolArguments = from_json(to_json(example))
    parameters.read(arguments)
    return arguments


def _reason(error: Exception) -> str:
    if not isinstance(error, BadArguments):
        return readable(f"{type(error).__name__}: {error}", 300)
    texts = (f"{'.'.join(map(str, path))}: {text}".removeprefix(": ") for path, text in error.errors.items())
    return readable("; ".join(texts), 500)


def _value(schema: object, root: ToolArguments, depth: int) -> Any:
    if not isinstance(schema, dict) or depth > _DEPTH_MAX:
        return None
    if isinstance(target := schema.get("$ref"), str):
        return _value(referred(target, root), root, depth + 1)
    for key in ("examples", "enum"):
        if isinstance(listed := schema.get(key), list) and listed:
            return listed[0]
    for key in ("const", "default"):
        if schema.get(key) is not None:
            return schema[key]
    for key in ("anyOf", "oneOf", "allOf"):
        if isinstance(listed := schema.get(key), list) and "properties" not in schema:
            branches = [branch for branch in listed if isinstance(branch, dict)]
            return _value(next((b for b in branches if b.get("type") != "null"), None), root, depth + 1)
    return _value_of_type(schema, root, depth)


def _value_of_type(schema: ToolArguments, root: ToolArguments, depth: int) -> Any:
    kinds = schema.get("type", "string")
    kind = next((k for k in kinds if k != "null"), "null") if isinstance(kinds, list) else kinds
    match kind:
        case "object":
            properties = schema.get("properties", {})
            return {
                name: _value(properties.get(name, {}), root, depth + 1) for name in schema.get("required", ())
            }
        case "array":
            count = max(1, schema.get("minItems", 1)) if schema.get("maxItems") != 0 else 0
            parts = schema.get("prefixItems") or [schema.get("items", {})] * min(count, 10)
            return [_value(part, root, depth + 1) for part in parts]
        case "integer" | "number":
            return _number(schema, is_whole=kind == "integer")
        case "boolean":
            return True
        case "string":
            return _text(schema)
        case _:
            return None


def _number(schema: ToolArguments, *, is_whole: bool) -> int | float:
    step: int | float = schema.get("multipleOf", 1)
    low: int | float | None = schema.get("minimum", schema.get("exclusiveMinimum"))
    high: int | float | None = schema.get("maximum", schema.get("exclusiveMaximum"))
    if low is not None and high is not None and not is_whole:
        return (low + high) / 2
    if low is not None:
        return ceil(low / step) * step if "minimum" in schema else (floor(low / step) + 1) * step
    if high is not None and high <= 1:
        return floor(high / step) * step if "maximum" in schema else (ceil(high / step) - 1) * step
    return step


def _text(schema: ToolArguments) -> str:
    text = _TEXTS.get(schema.get("format", ""), "text")
    shortest, longest = schema.get("minLength", 0), schema.get("maxLength", len(text) + 1_000)
    return text.ljust(min(shortest, 1_000), "x")[:longest] if schema.get("format") not in _TEXTS else text
