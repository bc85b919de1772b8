"""The same values at another time: every moment in them is moved by the same span. Pure."""

from datetime import datetime, timedelta
from typing import Any, TypeVar

from antiphon_shared.values import Value

ValueT = TypeVar("ValueT", bound=Value)


def moved(value: ValueT, by: timedelta) -> ValueT:
    """A value with its moments moved, at any depth of values and tuples; what is only JSON stays as it is."""
    fields = {name: getattr(value, name) for name in type(value).model_fields}
    changed = {name: after for name, one in fields.items() if (after := _moved(one, by)) is not one}
    return value.model_copy(update=changed) if changed else value


def _moved(value: Any, by: timedelta) -> Any:
    match value:
        case datetime():
            return value + by
        case Value():
            return moved(value, by)
        case tuple():
            after = tuple(_moved(one, by) for one in value)
            return value if all(new is old for new, old in zip(after, value, strict=True)) else after
        case _:
            return value
