"""What a tool returned, as the JSON that travels: refused where it is none, bounded in size. Pure."""

import dataclasses
import math
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel
from pydantic_core import to_json, to_jsonable_python

from shared.tools import Effect, ToolError
from tool_dispatcher.failures import readable, tool_error

_DEPTH_MAX = 64
_INTEGER_BITS_MAX = 1_024
_TOOK_EFFECT = "The call was made and took effect; do not repeat it. Only its result cannot be shown."


class NotJson(Exception):
    """A result holds something that JSON cannot."""


def as_json(value: Any, depth: int = 0) -> Any:
    """A result as JSON values: models, dataclasses, dates, decimals and enums too; NaN becomes null.

    Raises NotJson, which names the type at fault.
    """
    kind = type(value)
    if value is None or kind in (bool, str):
        return value
    if kind is int:
        if value.bit_length() > _INTEGER_BITS_MAX:
            raise NotJson("the result holds an integer that no reader of JSON takes; return text")
        return value
    if kind is float:
        return value if math.isfinite(value) else None
    if depth > _DEPTH_MAX:
        raise NotJson(f"the result is nested deeper than {_DEPTH_MAX} levels, or in a circle")
    if isinstance(value, BaseModel):
        return as_json(value.model_dump(mode="python"), depth)
    if isinstance(value, Mapping):
        return {_key(key): as_json(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [as_json(item, depth + 1) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: as_json(getattr(value, field.name), depth + 1) for field in dataclasses.fields(value)
        }
    if isinstance(value, bytes | bytearray | memoryview):
        raise NotJson(f"the result holds {kind.__name__}; return text")
    if isinstance(value, Iterator):
        raise NotJson(f"the result holds {kind.__name__}; return a list")
    return _plain(value)


def fitted(data: Any, bytes_max: int, effect: Effect) -> Any | ToolError:
    """`data` if it is no larger than allowed; text is cut, with a note; of anything else an error is made."""
    try:
        size = len(to_json(data))
    except ValueError as error:
        return unusable(f"the result cannot be written as JSON: {readable(error, 200)}", effect)
    if size <= bytes_max:
        return data
    if isinstance(data, str):
        return _cut(data, bytes_max)
    message = f"The result has {size} bytes; {bytes_max} are allowed."
    if effect == "write":
        return tool_error("internal_error", message, _TOOK_EFFECT)
    return tool_error(
        "validation_error", message, "Ask for less: narrow the query, or fetch one part at a time."
    )


def unusable(problem: str, effect: Effect) -> ToolError:
    """The error for a call that ended well, but whose result cannot travel."""
    return tool_error(
        "internal_error", f"The tool ran, but {problem}.", _TOOK_EFFECT if effect == "write" else None
    )


def _cut(text: str, bytes_max: int) -> str:
    kept = text[: bytes_max // 2]
    while len(to_json(kept)) > bytes_max:
        kept = kept[: len(kept) // 2]
    return f"{kept}\n\n[Cut after {len(kept)} of {len(text)} characters; ask for less to see the rest.]"


def _key(key: Any) -> str:
    plain = as_json(key, _DEPTH_MAX)
    if isinstance(plain, bool | None) or not isinstance(plain, str | int | float):
        raise NotJson(f"the result holds a mapping with {type(key).__name__} as a key; use text")
    return str(plain)


def _plain(value: Any) -> Any:
    try:
        return to_jsonable_python(value, inf_nan_mode="null")
    except ValueError:
        name = type(value).__name__
        raise NotJson(
            f"the result holds {name}, which is not JSON; return text, numbers, lists or dicts"
        ) from None
