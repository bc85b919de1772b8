"""Plain values in the form of a JSON type, without loss: `"14"` as 14. Pure."""

from collections.abc import Iterator
from typing import Any

import orjson
from antiphon_shared.text.numbers import plain_number
from pydantic_core import from_json

from reasoning_engine.offline.shapes import ANY, NUMBERS


def is_portable(value: object) -> bool:
    """Return whether every reader accepts the value as JSON; some refuse integers beyond 64 bits, for example."""
    try:
        return bool(orjson.loads(orjson.dumps(value)) == value)
    except (TypeError, ValueError, RecursionError):
        return False


def json_or_text(text: str) -> Any:
    """Return the value of a text that is JSON, else the text."""
    try:
        return from_json(text)
    except ValueError:
        return text


def as_type(kind: str, value: Any) -> Iterator[Any]:
    """Yield a plain value in the form of a JSON type, where it has one."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if (
        kind == ANY
        or (kind == "string" and isinstance(value, str))
        or (kind == "boolean" and isinstance(value, bool))
    ):
        yield value
    elif kind == "string" and is_number:
        yield str(value)
    elif kind in NUMBERS:
        number = plain_number(value.strip()) if isinstance(value, str) else value if is_number else None
        if number is not None and (kind == "number" or number == int(number)):
            yield number if kind == "number" else int(number)
