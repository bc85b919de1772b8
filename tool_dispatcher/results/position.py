"""Positions in a result, such as `$.results[2].text[120:180]`. Pure.

$                 all of it
.name  ["a b"]    the member of an object
[2]               an item of a list
[120:180]         characters of a text, or items of a list
[*][2]            of an object of lists the third item of each
(json)            what a text that is JSON holds
"""

import re

from antiphon_shared.values import Json, JsonObject
from pydantic_core import from_json

_STEP = re.compile(
    r'(?P<json>\(json\))|\[\*\]\[(?P<row>\d{1,12})\]|\.(?P<name>[^\W\d]\w*)|\[(?P<start>\d{1,12})(?P<end>:\d{1,12})?\]|\[(?P<key>"(?:[^"\\]|\\.)*")\]',
    re.DOTALL,
)


def value_at(data: Json, position: str) -> Json:
    """Return the value at a position of `data`, which is JSON. Raises LookupError if it is missing."""
    at = 1 if position.startswith("$") else 0
    while at < len(position):
        step = _STEP.match(position, at)
        if step is None:
            raise LookupError(f"{position[at : at + 80]!r} is no step of a position")
        data, at = _step_into(data, step), step.end()
    return data


def _step_into(data: Json, step: "re.Match[str]") -> Json:
    if step["json"] is not None:
        return _parsed(data)
    if step["row"] is not None:
        return _row(data, int(step["row"]))
    if step["start"] is None:
        if not isinstance(data, dict):
            raise LookupError(f"{step[0][:80]} is looked for in what is no object")
        return data[_name(step)]
    if not isinstance(data, list if step["end"] is None else list | str):
        raise LookupError(f"{step[0]} is looked for in what has no items")
    start = int(step["start"])
    return data[start] if step["end"] is None else data[start : int(step["end"][1:])]


def _parsed(data: Json) -> Json:
    if not isinstance(data, str):
        raise LookupError("no JSON text is there")
    try:
        parsed: Json = from_json(data)
    except (ValueError, RecursionError) as error:
        raise LookupError(f"no JSON text is there: {error}") from None
    return parsed


def _row(data: Json, at: int) -> JsonObject:
    if not isinstance(data, dict):
        raise LookupError("a row is looked for in what is no object")
    columns = {name: column for name, column in data.items() if isinstance(column, list)}
    if len(columns) < len(data):
        raise LookupError("a row is looked for in what has no columns")
    return {name: column[at] for name, column in columns.items()}


def _name(step: "re.Match[str]") -> str:
    if step["key"] is None:
        return step["name"]
    try:
        return str(from_json(step["key"]))
    except ValueError as error:
        raise LookupError(f"{step['key'][:80]} is no name: {error}") from None
