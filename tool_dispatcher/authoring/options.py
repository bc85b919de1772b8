"""The reader of an author's options: without coercion, and with one sentence for each error. Pure."""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from enum import Enum
from functools import cache
from typing import Any

from antiphon_shared.tools.contract import RENAMED, Contract
from antiphon_shared.values import JsonSchema, ToolArguments, Value
from pydantic import ValidationError

from tool_dispatcher.authoring.argument_errors import path_text
from tool_dispatcher.authoring.failures import InvalidTool, readable
from tool_dispatcher.authoring.source import source_of

_LISTS = ("depends_on", "alternatives", "scopes", "rounds", "next")
"""Options that are lists; a single item may be written without brackets."""
_TOOL_LISTS = ("depends_on", "alternatives")
_SHORT_FORMS = dict.fromkeys(_TOOL_LISTS, "the name of a tool, or ") | {
    "retry": "the number of attempts, or "
}
_OTHER_KEYWORDS = ("effect", "name", "description", "example", "examples", "reconcile")


def in_json_form(tool: str, options: Mapping[str, object], allowed: Sequence[str]) -> dict[str, Any]:
    """Return the options in their JSON form, with short forms expanded. Raises InvalidTool for a wrong option."""
    check_names(tool, options, allowed)
    written: ToolArguments = {}
    for name, value in options.items():
        try:
            written[name] = _as_json(_expanded(name, value))
        except (TypeError, UnicodeEncodeError, RecursionError):
            raise _wrong(tool, (name,), value) from None
    return written


def check_names(tool: str, options: Iterable[str], allowed: Sequence[str]) -> None:
    """Raise InvalidTool for the first unknown option."""
    for name in options:
        if name not in (*allowed, *_OTHER_KEYWORDS):
            raise _unknown(tool, name, allowed)


def refusal(tool: str, error: ValidationError) -> InvalidTool:
    """Return the first error of pydantic as an InvalidTool with the remedy."""
    details = error.errors(include_url=False)[0]
    path = details["loc"]
    parent, field = path_text(path[:-1]), path[-1]
    match details["type"]:
        case "missing":
            return InvalidTool(
                tool, f"its {parent} has no {field!r}", hint=f"Give {_allowed_values(path[:-1])}."
            )
        case "extra_forbidden":
            return InvalidTool(
                tool, f"its {parent} has a field {field!r}", hint=f"Give {_allowed_values(path[:-1])}."
            )
        case _:
            return _wrong(tool, path, details["input"])


def _wrong(tool: str, path: tuple[str | int, ...], value: object) -> InvalidTool:
    value_text = readable(repr(value), 100)
    return InvalidTool(tool, f"its {path_text(path)} is {value_text}", hint=f"Give {_allowed_values(path)}.")


def _unknown(tool: str, name: str, allowed: Sequence[str]) -> InvalidTool:
    nearest = get_close_matches(name, (*allowed, *_OTHER_KEYWORDS), n=1, cutoff=0.5)
    suggestion = f"Did you mean {nearest[0]}? " if nearest else ""
    allowed_names = ", ".join((*_OTHER_KEYWORDS, *allowed))
    return InvalidTool(
        tool, f"option {name!r} does not exist", hint=f"{suggestion}The options are: {allowed_names}."
    )


def _expanded(name: str, value: object) -> Any:
    if name == "retry" and isinstance(value, int) and not isinstance(value, bool):
        return {"attempts": value}
    if name not in _LISTS:
        return value
    if value is None or isinstance(value, set | frozenset):  # a set's order differs from process to process
        raise TypeError(name)
    items = value if isinstance(value, list | tuple) else [value]
    if name in _TOOL_LISTS:
        return [{"tool": one} if isinstance(one, str) else one for one in items]
    return items


def _as_json(value: object) -> Any:
    """Return the value as JSON.

    Raises TypeError for a value that would need conversion, UnicodeEncodeError and RecursionError.
    """
    match value:
        case Enum():
            raise TypeError
        case str():
            value.encode()
            return value
        case None | bool() | int() | float():
            return value
        case Value():
            return value.model_dump(mode="json")
        case Mapping():
            if not all(isinstance(key, str) for key in value):
                raise TypeError
            return {key: _as_json(item) for key, item in value.items()}
        case list() | tuple():
            return [_as_json(item) for item in value]
    raise TypeError


def _allowed_values(path: tuple[str | int, ...]) -> str:
    """Return a description of the values allowed at a path of a contract."""
    root = _contract_schema()
    schema, name = root, ""
    for part in path:
        name = part if isinstance(part, str) else name
        schema = _resolved(schema["items"] if isinstance(part, int) else _child(schema, part), root)
    return _description(schema, name, root)


@cache
def _contract_schema() -> JsonSchema:
    return Contract.model_json_schema()


def _child(schema: JsonSchema, name: str) -> JsonSchema:
    properties: dict[str, JsonSchema] = schema.get("properties", {})
    other = schema.get("additionalProperties")
    return properties.get(name) or (other if isinstance(other, dict) else {})


def _resolved(schema: JsonSchema, root: JsonSchema) -> JsonSchema:
    """Return the schema behind a reference, without the branch for None."""
    branches = [branch for branch in schema.get("anyOf", ()) if branch.get("type") != "null"]
    schema = branches[0] if branches else schema
    if "$ref" in schema:
        target: JsonSchema = root["$defs"][schema["$ref"].removeprefix("#/$defs/")]
        return target
    return schema


def _description(schema: JsonSchema, name: str, root: JsonSchema) -> str:
    if "enum" in schema:
        return "one of " + ", ".join(f'"{option}"' for option in schema["enum"])
    match schema.get("type"):
        case "boolean":
            return "True or False"
        case "integer" | "number" as kind:
            return _number(schema, name, is_whole=kind == "integer")
        case "array":
            return f"a list, each {_description(_resolved(schema['items'], root), name, root)}"
        case "object" if "properties" in schema:
            fields = ", ".join(f"{field}=..." for field in schema["properties"])
            return f"{_SHORT_FORMS.get(name, '')}{schema['title']}({fields})"
        case "object":
            return "a dict of names"
        case _:
            return f"text that matches {schema['pattern']}" if "pattern" in schema else "text"


def _number(schema: JsonSchema, name: str, *, is_whole: bool) -> str:
    unit = "seconds" if name.endswith("_s") else "milliseconds" if name.endswith("_ms") else "a number"
    noun = "a whole number" if is_whole and unit == "a number" else unit
    high = _amount(schema["maximum"], unit)
    if "exclusiveMinimum" in schema:
        return f"{noun} above {schema['exclusiveMinimum']:g}, {high} at most"
    return f"{noun} from {_amount(schema['minimum'], unit)} to {high}"


def _amount(value: float, unit: str) -> str:
    """Return a number as text; a long time includes its hours: `86400 (24 h)`."""
    return f"{value:.0f} ({value / 3600:g} h)" if unit == "seconds" and value >= 86_400 else f"{value:.0f}"


def with_new_names(tool: str, options: Mapping[str, object]) -> dict[str, Any]:
    """Return the options under their new names. Raises InvalidTool if an option has both names."""
    for name, new_name in RENAMED.items():
        if name in options and new_name in options:
            raise InvalidTool(
                tool,
                f"it has both {name} and {new_name}, the new name of the same option",
                hint=f"Write only {new_name}.",
            )
    return {RENAMED.get(name, name): value for name, value in options.items()}


def warn_of_renamed(tool: str, options: Mapping[str, object], function: Callable[..., Any]) -> None:
    """Warn of each option under its earlier name; the warning names the line that defines the tool's function."""
    for name in RENAMED.keys() & options.keys():
        new_name = RENAMED[name]
        message = (
            f"Tool {tool!r}: {name} was renamed to {new_name}. Write {new_name}={options[name]!r}; the next "
            f"release refuses {name}."
        )
        file, _, line = source_of(function).rpartition(":")
        warnings.warn_explicit(message, DeprecationWarning, file or "<unknown>", int(line or 0))
