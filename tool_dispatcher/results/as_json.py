"""A tool's return value as JSON of a bounded size; values without a JSON form are refused. Pure."""

import dataclasses
import math
from collections.abc import Iterator, Mapping
from typing import Any

from antiphon_shared.redaction.redactor import REDACTED
from antiphon_shared.tools.calls import ToolError
from antiphon_shared.tools.contract import Effect
from antiphon_shared.values import Json, JsonObject
from pydantic import BaseModel, RootModel
from pydantic_core import to_jsonable_python

from tool_dispatcher.authoring.failures import readable, tool_error
from tool_dispatcher.authoring.secret import SECRET_TYPES, secret_fields
from tool_dispatcher.results.oversize import Fitted, fit_data

_SINGLE = (bool, str, int)
_DEPTH_MAX = 64
_INTEGER_BITS_MAX = 1_024
_TOOK_EFFECT = "The call was made and took effect; do not repeat it. Only its result cannot be shown."


class NotJson(Exception):
    """A result contains a value without a JSON form."""


def as_json(value: Any, depth: int = 0) -> Json:
    """Return a result as JSON values: models, dataclasses, dates, decimals and enums too; NaN becomes null.

    Secret values, and values of fields marked as secret, are redacted. Raises NotJson, which names the type.
    """
    kind: type = type(value)
    if kind is int and value.bit_length() > _INTEGER_BITS_MAX:
        raise NotJson("the result holds an integer that no reader of JSON takes; return text")
    if value is None or kind in _SINGLE:
        single: Json = value
        return single
    if kind is float:
        return value if math.isfinite(value) else None
    if depth > _DEPTH_MAX:
        raise NotJson(f"the result is nested deeper than {_DEPTH_MAX} levels, or contains itself")
    if kind is dict:
        return _json_object(value, depth)
    if kind is list:
        return [as_json(item, depth + 1) for item in value]
    if isinstance(value, BaseModel):
        return as_json(_without_secret_fields(value, value.model_dump(mode="python")), depth)
    if isinstance(value, Mapping):
        return _json_object(value, depth)
    if isinstance(value, list | tuple | set | frozenset):
        return [as_json(item, depth + 1) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        hidden = secret_fields(kind)
        return {
            field.name: REDACTED if field.name in hidden else as_json(getattr(value, field.name), depth + 1)
            for field in dataclasses.fields(value)
        }
    if isinstance(value, SECRET_TYPES):
        return REDACTED
    if isinstance(value, bytes | bytearray | memoryview):
        raise NotJson(f"the result holds {kind.__name__}; return text")
    if isinstance(value, Iterator):
        raise NotJson(f"the result holds {kind.__name__}; return a list")
    return _converted(value)


def fit_result(
    data: Json, effect: Effect, *, bytes_max: int, stored_bytes_max: int, handle: str
) -> Fitted | ToolError:
    """Return the part of a result that is shown; if the whole is larger, also the whole, to store under `handle`.

    Returns an error for a result that cannot be written as JSON, or that is too large to be stored.
    """
    try:
        fitted = fit_data(data, bytes_max, handle)
    except ValueError as error:
        return unusable(f"the result cannot be written as JSON: {readable(error, 200)}", effect)
    if fitted.whole is None or len(fitted.whole) <= stored_bytes_max:
        return fitted
    return _too_large(len(fitted.whole), stored_bytes_max, effect)


def unusable(problem: str, effect: Effect) -> ToolError:
    """Return the error of a call that succeeded, but whose result cannot be sent."""
    return tool_error(
        "internal_error", f"The tool ran, but {problem}.", _TOOK_EFFECT if effect == "write" else None
    )


def _too_large(size: int, bytes_max: int, effect: Effect) -> ToolError:
    message = f"The result has {size} bytes; {bytes_max} are allowed."
    if effect == "write":
        return tool_error("internal_error", message, _TOOK_EFFECT)
    return tool_error(
        "validation_error", message, "Ask for less: narrow the query, or fetch one part at a time."
    )


def _without_secret_fields(value: object, dumped: object) -> Any:
    """Return a model's dump without the values of fields that the model, or a model in it, marks as secret."""
    if isinstance(value, RootModel):
        return _without_secret_fields(value.root, dumped)
    if isinstance(dumped, dict) and isinstance(value, Mapping):
        return {key: _without_secret_fields(value.get(key), item) for key, item in dumped.items()}
    if isinstance(dumped, dict) and (isinstance(value, BaseModel) or dataclasses.is_dataclass(value)):
        kind: type = type(value)
        names, hidden = _names_by_alias(value), secret_fields(kind)
        return {
            key: REDACTED
            if names.get(key, key) in hidden
            else _without_secret_fields(getattr(value, names[key], None) if key in names else None, item)
            for key, item in dumped.items()
        }
    if isinstance(dumped, list | tuple) and isinstance(value, list | tuple) and len(dumped) == len(value):
        return [_without_secret_fields(*pair) for pair in zip(value, dumped, strict=True)]
    return dumped


def _names_by_alias(value: Any) -> dict[str, str]:
    """Return the fields of a model or dataclass, by the names and aliases that its dump may contain."""
    if not isinstance(value, BaseModel):
        return {field.name: field.name for field in dataclasses.fields(value)}
    fields = type(value).model_fields
    aliases = {field.serialization_alias: name for name, field in fields.items() if field.serialization_alias}
    return {**aliases, **{name: name for name in fields}}


def _json_object(value: Mapping[Any, Any], depth: int) -> JsonObject:
    return {key if type(key) is str else _key(key): as_json(item, depth + 1) for key, item in value.items()}


def _key(key: object) -> str:
    plain = as_json(key, _DEPTH_MAX)
    if isinstance(plain, bool | None) or not isinstance(plain, str | int | float):
        raise NotJson(f"the result holds a mapping with {type(key).__name__} as a key; use text")
    return str(plain)


def _converted(value: object) -> Json:
    try:
        plain: Json = to_jsonable_python(value, inf_nan_mode="null")
        return plain
    except ValueError:
        name = type(value).__name__
        raise NotJson(
            f"the result holds {name}, which is not JSON; return text, numbers, lists or dicts"
        ) from None
