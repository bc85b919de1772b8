"""Placeholders in the arguments of a batch: the calls they name, and their values. Pure."""

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b

from antiphon_shared.tools.calls import RequestedCall, ToolError, ToolResult
from antiphon_shared.tools.placeholders import (
    Malformed,
    Path,
    Placeholder,
    Reference,
    find,
    parse_placeholder,
    spelled,
)
from antiphon_shared.values import Json, ToolArguments
from pydantic_core import from_json, to_json

from tool_dispatcher.authoring.failures import readable
from tool_dispatcher.batch.answers import Example, bad_placeholders

VALUES_BYTES_MAX = 10_000_000
"""The size of all values that replace the placeholders of one call, as JSON."""
_PROBLEMS_MAX = 20
_KEYS_LISTED = 20
_NAME_CHARACTERS_MAX = 200


def resolve(
    call: RequestedCall,
    results: Sequence[ToolResult | None],
    complete_results: Mapping[int, Json] | None = None,
    example: Example = None,
) -> ToolArguments | ToolError:
    """Return the arguments of a call with its placeholders replaced by their values, which keep their JSON types.

    Escapes become the text that they represent. If a value does not exist, the ToolError names the argument and
    what the call returned.

    Args:
        results: the results of the batch, by index.
        complete_results: by index, the complete data of results that are shown in part.
        example: valid arguments, for the error.

    Raises:
        ValueError: a call whose result is needed has not succeeded; the plan prevents this.
    """
    values: dict[Reference, bytes] = {}
    problems: dict[str, str] = {}
    size = 0
    for path, placeholder in find(call.arguments):
        assert isinstance(placeholder, Reference), "the plan has refused what cannot be read"
        problem = _look_up(placeholder, results, complete_results or {}, values)
        size += len(values.get(placeholder, b""))
        if size > VALUES_BYTES_MAX:
            problem = f"the values of the placeholders have more than {VALUES_BYTES_MAX} bytes"
        if problem:
            problems[_argument(path)] = problem
        if size > VALUES_BYTES_MAX or len(problems) == _PROBLEMS_MAX:
            break
    if problems:
        return bad_placeholders(call, problems, example)
    return {name: _filled(value, values) for name, value in call.arguments.items()}


def digest_of(arguments: Mapping[str, object]) -> str:
    """Return the digest of arguments as JSON; a replay compares it with the arguments after its own substitution."""
    return blake2b(json.dumps(arguments, sort_keys=True).encode(), digest_size=16).hexdigest()


def unreadable(
    index: int, placeholders: Iterable[tuple[Path, Placeholder]], calls: Sequence[RequestedCall]
) -> dict[str, str]:
    """Return, by argument, the errors of placeholders that are known before any call runs."""
    problems = {}
    for path, placeholder in placeholders:
        problem = _problem(index, placeholder, calls)
        if problem:
            problems[_argument(path)] = problem
        if len(problems) == _PROBLEMS_MAX:
            break
    return problems


def referenced_indexes(placeholders: Iterable[tuple[Path, Placeholder]]) -> tuple[int, ...]:
    """Return the indexes of the calls whose results are needed, each once."""
    return tuple(
        dict.fromkeys(
            placeholder.call for _, placeholder in placeholders if isinstance(placeholder, Reference)
        )
    )


def _problem(index: int, placeholder: Placeholder, calls: Sequence[RequestedCall]) -> str:
    if isinstance(placeholder, Malformed):
        return f"it begins like a placeholder, but {placeholder.problem}"
    if placeholder.call == index:
        return f"{_as_text(placeholder)} names this call itself"
    if placeholder.call >= len(calls):
        last = f"calls[{len(calls) - 1}]"
        return f"{_as_text(placeholder)} names a call that does not exist: this reply has calls[0] to {last}"
    return ""


def _look_up(
    placeholder: Reference,
    results: Sequence[ToolResult | None],
    complete_results: Mapping[int, Json],
    values: dict[Reference, bytes],
) -> str:
    """Add the value to `values`, as JSON so that no two calls share an object; return the error, or an empty text."""
    if placeholder in values:
        return ""
    result = results[placeholder.call]
    if result is None or result.status != "ok":
        raise ValueError(f"{placeholder} is resolved before calls[{placeholder.call}] has succeeded")
    if result.handle and placeholder.call not in complete_results:
        return (
            f"{_as_text(placeholder)} is not available: the result of the call is only shown in part; "
            f"read the rest by its handle {result.handle!r}, then give the value itself"
        )
    value = complete_results.get(placeholder.call, result.data)
    for depth, part in enumerate(placeholder.path):
        if not _has_part(value, part):
            path = f"calls[{placeholder.call}]{spelled(placeholder.path[:depth])}"
            location = readable(path, _NAME_CHARACTERS_MAX)
            return f"{_as_text(placeholder)} does not exist: {location} is {outlined(value)}"
        value = value[part]
    values[placeholder] = to_json(value)
    return ""


def _has_part(value: Json, part: str | int) -> bool:
    if isinstance(part, int):
        return isinstance(value, list) and part < len(value)
    return isinstance(value, dict) and part in value


def outlined(value: Json) -> str:
    """Return a description of a value without its contents: its keys, or its length."""
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return f"text of {len(value)} characters"
        case []:
            return "an empty list"
        case list():
            return f"a list of {len(value)}, from [0] to [{len(value) - 1}]"
        case dict() if value:
            listed = ", ".join(repr(readable(key, 64)) for key in list(value)[:_KEYS_LISTED])
            more = f" and {len(value) - _KEYS_LISTED} more" if len(value) > _KEYS_LISTED else ""
            return f"an object with {listed}{more}"
        case _:
            return "an empty object"


def _filled(value: Json, values: Mapping[Reference, bytes]) -> Json:
    """Return a value with its placeholders replaced. Arguments are never nested as deep as the recursion limit."""
    if isinstance(value, str):
        placeholder = parse_placeholder(value)
        filled: Json = (
            from_json(values[placeholder]) if isinstance(placeholder, Reference) else str(placeholder)
        )
        return filled
    if isinstance(value, dict):
        return {key: _filled(item, values) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, values) for item in value]
    return value


def _argument(path: Path) -> str:
    return readable(spelled(path).removeprefix("."), _NAME_CHARACTERS_MAX)


def _as_text(placeholder: Reference) -> str:
    return readable(placeholder, _NAME_CHARACTERS_MAX)
