"""Values in the form of a schema: `"14"` as 14, the day of a time, an e-mail address in a sentence. Pure."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

import orjson
from antiphon_shared.text.numbers import plain_number

from reasoning_engine.offline.shapes import ANY, NUMBERS

_TEXT_CHARACTERS_MAX = 20_000
_FORMATS = {
    "email": re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}"),
    "uri": re.compile(r"https?://[^\s\"'<>)\]]{1,500}"),
    "date": re.compile(r"\b\d{4}-\d{2}-\d{2}"),
    "date-time": re.compile(r"\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})"),
    "time": re.compile(r"\b\d{2}:\d{2}:\d{2}(?:Z|[+-]\d{2}:\d{2})"),
    "uuid": re.compile(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"),
    "ipv4": re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b"),
}


def is_portable(value: Any) -> bool:
    """Return whether a value can be written as JSON that every reader accepts: no integers beyond 64 bits, for one."""
    try:
        return bool(orjson.dumps(value))
    except (TypeError, ValueError, RecursionError):
        return False


def as_type(kind: str, value: Any, schema: dict[str, Any]) -> Iterator[Any]:
    """Yield a plain value in its forms of a JSON type, the closest first."""
    if kind == ANY:
        yield value
    elif kind == "string":
        if isinstance(value, str):
            yield value
            yield from in_text([value], schema)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield str(value)
    elif kind == "boolean":
        if isinstance(value, bool):
            yield value
    elif kind in NUMBERS:
        number = plain_number(value.strip()) if isinstance(value, str) else value
        if not isinstance(number, int | float) or isinstance(number, bool):
            return
        if kind == "number" or isinstance(number, int):
            yield number
        elif number.is_integer():
            yield int(number)


def in_text(values: Iterable[Any], schema: dict[str, Any]) -> Iterator[str]:
    """Yield the parts of texts in the schema's format, such as a date or an e-mail address."""
    named = schema.get("format")
    form = _FORMATS.get(named) if isinstance(named, str) else None
    for value in values if form else ():
        if form and isinstance(value, str):
            yield from form.findall(value[:_TEXT_CHARACTERS_MAX])
