"""Positions in a result, such as `$.results[2].text[120:180]`. Pure.

$                 the whole result
.name  ["a b"]    the member of an object
[2]               an item of a list
[120:180]         characters of a text, or items of a list
[*][2]            the third item of each list, in an object of lists
(json)            the value of a text that is JSON
"""

import re

from antiphon_shared.values import Json, JsonObject
from pydantic_core import from_json

_STEP = re.compile(
    r'(?P<json>\(json\))|\[\*\]\[(?P<row>\d{1,12})\]|\.(?P<name>[^\W\d]\w*)|\[(?P<start>\d{1,12})(?P<end>:\d{1,12})?\]|\[(?P<key>"(?:[^"\\]|\\.)*")\]',
    re.DOTALL,
)


def value_at(data: Json, position: str) -> Json:
    """Return the value at a position of JSON data. Raises LookupError if it does not exist."""
    offset = 1 if position.startswith("$") else 0
    while offset < len(position):
        step = _STEP.match(position, offset)
        if step is None:
            raise LookupError(f"{position[offset : offset + 80]!r} is not a step of a position")
        data, offset = _step_into(data, step), step.end()
    return data


def _step_into(data: Json, step: "re.Match[str]") -> Json:
    if step["json"] is not None:
        return _parsed(data)
    if step["row"] is not None:
        return _row(data, int(step["row"]))
    if step["start"] is None:
        if not isinstance(data, dict):
            raise LookupError(f"{step[0][:80]} needs an object")
        return data[_name(step)]
    if not isinstance(data, list if step["end"] is None else list | str):
        raise LookupError(f"{step[0]} needs a list or a text")
    start = int(step["start"])
    return data[start] if step["end"] is None else data[start : int(step["end"][1:])]


def _parsed(data: Json) -> Json:
    if not isinstance(data, str):
        raise LookupError("(json) needs a text")
    try:
        parsed: Json = from_json(data)
    except (ValueError, RecursionError) as error:
        raise LookupError(f"(json) needs a text that is JSON: {error}") from None
    return parsed


def _row(data: Json, index: int) -> JsonObject:
    if not isinstance(data, dict):
        raise LookupError("a row needs an object")
    columns = {name: column for name, column in data.items() if isinstance(column, list)}
    if len(columns) < len(data):
        raise LookupError("a row needs an object of lists")
    return {name: column[index] for name, column in columns.items()}


def _name(step: "re.Match[str]") -> str:
    if step["key"] is None:
        return step["name"]
    try:
        return str(from_json(step["key"]))
    except ValueError as error:
        raise LookupError(f"{step['key'][:80]} is not a name: {error}") from None
