"""The format of stored and sent values, which lets processes of different releases work together. Pure.

A session keeps the format in which it was opened. A later field names its format with `since`, and is left out when
a session of an earlier format is written. This costs nothing for sessions of the current format. See
docs/decisions/0007-a-session-keeps-its-format.md.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any, TypeVar

from pydantic import BaseModel

FORMAT = 6
"""The newest format that this release reads and writes. Sessions without a format have format 1."""

Fields = dict[str, Any]
"""A value as JSON."""
Upcaster = Callable[[Fields], Fields]
"""A function that converts a value from one version into the next."""
ValueT = TypeVar("ValueT", bound=BaseModel)


def since(format: int) -> dict[str, Any]:
    """Return the argument of `Field(json_schema_extra=...)` for a field that `format` introduced."""
    return {"since": format}


def as_json(value: BaseModel, format: int, **options: Any) -> bytes:
    """Return the JSON of `value` as a release of `format` reads it; `options` are those of `model_dump_json`."""
    if format < FORMAT and (left_out := newer_fields(value, format)):
        options["exclude"] = {**left_out, **dict.fromkeys(options.get("exclude", ()), True)}
    return value.__pydantic_serializer__.to_json(value, **options)


def newer_fields(value: BaseModel, format: int) -> dict[str, Any]:
    """Return the fields in `value` that are newer than `format`, in the form of pydantic's `exclude`."""
    return _newer(value, format) if format < FORMAT else {}


def in_format(value: ValueT, format: int) -> ValueT:
    """Return `value` as a release of `format` reads it, with newer fields at their defaults."""
    if format >= FORMAT or needed_format(value)[0] <= format:
        return value
    return type(value).model_validate_json(as_json(value, format))


def without_fields(fields: Fields, newer: Mapping[str, Any]) -> Fields:
    """Return a value's JSON without the fields that `newer_fields` returns for the value."""
    remaining = {name: part for name, part in fields.items() if newer.get(name) is not True}
    inner = {
        name: without_fields(part, newer[name])
        for name, part in remaining.items()
        if name in newer and isinstance(part, dict)
    }
    return remaining | inner


def needed_format(value: BaseModel) -> tuple[int, str]:
    """Return the lowest format that holds all of `value`, and the field that needs it; empty for format 1."""
    return max(_needs(value), default=(1, ""))


def carried_over(fields: Fields, upcasters: Mapping[int, Upcaster], written: int, current: int) -> Fields:
    """Return `fields` of the version `written` in the version `current`.

    Raises CannotCarryOver if an upcaster is missing, or cannot use its input.
    """
    try:
        for version in range(written, current):
            fields = upcasters[version](fields)
    except CANNOT_CARRY_OVER as error:
        raise CannotCarryOver(f"{error!r}"[:200]) from None
    return fields


class CannotCarryOver(Exception):
    """The error for a value that does not have the form of its version."""


CANNOT_CARRY_OVER = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)
"""The exceptions of upcasters for data that does not have its version's form."""


@cache
def _since(model: type[BaseModel]) -> Mapping[str, int]:
    """Return the fields of a class that are newer than the first format, with the format of each."""
    return {
        name: int(extra["since"])  # type: ignore[arg-type]  # since() puts a number there
        for name, field in model.model_fields.items()
        if isinstance(extra := field.json_schema_extra, dict) and "since" in extra
    }


def _newer(value: object, format: int) -> dict[Any, Any]:
    # By values, as types would need special cases for unions, and for models that contain themselves.
    if isinstance(value, BaseModel):
        formats = _since(type(value))
        newer: dict[Any, Any] = {name: True for name, n in formats.items() if n > format}
        parts: Iterable[tuple[Any, object]] = value.__dict__.items()
    elif isinstance(value, Mapping):
        newer, parts = {}, value.items()
    elif isinstance(value, tuple | list):
        newer, parts = {}, enumerate(value)
    else:
        return {}
    inner = {name: _newer(part, format) for name, part in parts if name not in newer}
    return newer | {name: newer_parts for name, newer_parts in inner.items() if newer_parts}


def _needs(value: object) -> Iterator[tuple[int, str]]:
    if isinstance(value, BaseModel):
        formats, fields = _since(type(value)), type(value).model_fields
        for name, part in value.__dict__.items():
            if name in formats and part != fields[name].get_default(call_default_factory=True):
                yield formats[name], name
            yield from ((n, f"{name}.{path}") for n, path in _needs(part))
    elif isinstance(value, Mapping | tuple | list):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _needs(part)
