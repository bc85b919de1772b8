"""The correction of a value by complaints: missing properties, numbers over a limit, misspelt names. Pure."""

import re
from collections.abc import Iterable, Iterator
from copy import deepcopy
from typing import Any

from antiphon_shared.text.numbers import plain_number

from reasoning_engine.offline.filling import NOTHING, fill_property
from reasoning_engine.offline.forms import as_type
from reasoning_engine.offline.language import likeness
from reasoning_engine.offline.question_values import is_asked_for, option
from reasoning_engine.offline.shapes import alternatives, fits, properties_of, required_of
from reasoning_engine.offline.values import Values
from reasoning_engine.offline.verdicts import Complaint

_STEP = re.compile(r"[^./\[\]\s]+")
_NUMBER = re.compile(r"(?<![\w.])-?\d{1,15}(?:\.\d{1,10})?(?![\w])")
_QUOTED = re.compile(r"[\"'“‘`]([^\"'“”‘’`\n]{1,200})[\"'”’`]")
_LISTED = re.compile(
    r"\b(?:one|none|any|either) of:?\s+([^.;\n]{1,1000})|\b(?:allowed|known|valid|use):\s*([^.;\n]{1,1000})",
    re.I,
)
_SEPARATED = re.compile(r"\s*,\s*(?:or\s+|and\s+)?|\s+or\s+")
_TOO_MUCH = re.compile(
    r"\b(?:unexpected|unknown|additional|not allowed|has no|no such)\b.{0,40}"
    r"\b(?:property|properties|setting|field|option|key|argument)s?\b|\bwere unexpected\b",
    re.IGNORECASE,
)
_NOT_OF = re.compile(
    r"\b(?:not|be|expected) (?:an? )?(whole number|integer|number|text|string)\b", re.IGNORECASE
)
_AT_LEAST = re.compile(r"\bat least\b|\bmin|\b(?:must|should)\b.*\b(?:more|greater|larger|above)\b", re.I)
_AT_MOST = re.compile(r"\bat most\b|\bmax|\b(?:must|should)\b.*\b(?:less|fewer|smaller|below)\b", re.I)
_KINDS = {"whole number": "integer", "text": "string"}
_LIKENESS_MIN = 0.6


def mended(draft: Any, complaints: Iterable[Complaint], schema: dict[str, Any], values: Values) -> Any:
    """Return the value corrected by every complaint that says how; other parts stay as they are."""
    whole = deepcopy(draft)
    for complaint in complaints:
        path = _path(complaint.at, whole)
        parent = _at(whole, path[:-1]) if path else None
        if isinstance(parent, dict):
            part, above = (_schema_at(schema, one, schema) for one in (path, path[:-1]))
            _mend_property(parent, str(path[-1]), complaint.message, part, above, values)
    return whole


def _mend_property(
    parent: dict[str, Any],
    key: str,
    message: str,
    part: dict[str, Any],
    above: dict[str, Any],
    values: Values,
) -> None:
    if key not in parent:
        is_known = key in properties_of(above) or above.get("additionalProperties") is not False
        found = fill_property(key, part, values) if is_known else NOTHING
        if found is not NOTHING:
            parent[key] = found
    elif _TOO_MUCH.search(message) and key not in required_of(above):
        del parent[key]
    else:
        parent[key] = next(_better(parent[key], message, part, values), parent[key])


def _better(value: Any, message: str, part: dict[str, Any], values: Values) -> Iterator[Any]:
    """Yield the replacements that a message gives for a value."""
    if isinstance(value, bool) or is_asked_for(values.question, value):
        return
    if wanted := _NOT_OF.search(message):
        named = wanted.group(1).lower()
        kind = _KINDS.get(named, named)
        yield from (
            form for form in as_type(kind, value, {}) if form != value or type(form) is not type(value)
        )
    elif isinstance(value, int | float):
        bounds = {one for found in _NUMBER.findall(message) if (one := plain_number(found)) is not None}
        numbers = sorted(bounds - {value})
        if len(numbers) == 1 and not _is_kept(value, numbers[0], message):
            found: Any = numbers[0]
        elif len(numbers) == 2:
            found = min(max(value, numbers[0]), numbers[1])
        else:
            return
        if fits(part, found):
            yield found
    elif isinstance(value, str):
        others = [one for one in _options(message) if one != value and fits(part, one)]
        asked = option(values.question.text, tuple(others))
        nearest = max(others, key=lambda one: likeness(one, value), default="")
        if asked is not None:
            yield asked
        elif nearest and (len(others) == 1 or likeness(nearest, value) >= _LIKENESS_MIN):
            yield nearest


def _is_kept(value: int | float, bound: int | float, message: str) -> bool:
    """Return whether a value keeps the bound in a message, so that something else is wrong with it."""
    return (bool(_AT_LEAST.search(message)) and value > bound) or (
        bool(_AT_MOST.search(message)) and value < bound
    )


def _options(message: str) -> list[str]:
    """Return the values that a message offers: those after `one of`, or else those in quotes."""
    listed = _LISTED.search(message)
    if listed:
        parts = _SEPARATED.split(next(filter(None, listed.groups())))
        return [part.strip(" '\"`[](){}") for part in parts if part.strip(" '\"`[](){}")]
    return _QUOTED.findall(message) if re.search(r"\b(?:mean|instead|try|use)\b", message, re.I) else []


def _path(at: str, whole: Any) -> list[str | int]:
    """Return the steps of the path, without a first step that names the whole."""
    steps: list[str | int] = [int(step) if step.isdecimal() else step for step in _STEP.findall(at)[:20]]
    for path in (steps, steps[1:]):
        if path and isinstance(_at(whole, path[:-1]), dict | list):
            return path
    return []


def _at(whole: Any, path: Iterable[str | int]) -> Any:
    for step in path:
        if isinstance(whole, dict):
            whole = whole.get(str(step))
        elif isinstance(whole, list) and isinstance(step, int) and step < len(whole):
            whole = whole[step]
        else:
            return None
    return whole


def _schema_at(schema: dict[str, Any], path: Iterable[str | int], root: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of the path; if it is missing, a schema that allows everything."""
    found: Any = schema
    for step in path:
        one = next(alternatives(found, root), {})
        found = one.get("items", {}) if isinstance(step, int) else properties_of(one).get(step, {})
    return next(alternatives(found, root), {})
