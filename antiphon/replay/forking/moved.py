"""Values with all times shifted by the same span. Pure."""

from dataclasses import is_dataclass, replace
from datetime import datetime, timedelta
from typing import Any, TypeVar

from antiphon_shared.values import Value

ValueT = TypeVar("ValueT")


def moved(value: ValueT, by: timedelta) -> ValueT:
    """Return a value with its times shifted, at any depth of values and tuples; plain JSON stays unchanged."""
    changed = {name: after for name, one in value.__dict__.items() if (after := _moved(one, by)) is not one}
    if not changed:
        return value
    if isinstance(value, Value):
        return value.model_copy(update=changed)
    return replace(value, **changed)  # type: ignore[type-var]  # every other value with fields is a dataclass


def _moved(value: object, by: timedelta) -> Any:
    match value:
        case datetime():
            return value + by
        case Value():
            return moved(value, by)
        case _ if is_dataclass(value):
            return moved(value, by)
        case tuple():
            after = tuple(_moved(one, by) for one in value)
            return value if all(new is old for new, old in zip(after, value, strict=True)) else after
        case _:
            return value
