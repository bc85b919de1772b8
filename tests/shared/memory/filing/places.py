"""Reading a fact's statement back from the result it was taken from, by its position alone."""

import re
from typing import Any

from pydantic_core import from_json

_STEP = re.compile(
    r'(\(json\))|\[\*\]\[(\d+)\]|\.([A-Za-z_]\w*)|\[(\d+)(?::(\d+))?\]|\[("(?:[^"\\]|\\.)*")\]'
)


def value_at(data: Any, position: str) -> Any:
    """Return the value, or the slice of a text or a list, at a position."""
    assert position.startswith("$")
    at, value = 1, data
    while at < len(position):
        step = _STEP.match(position, at)
        assert step is not None, position
        json, row, name, first, last, quoted = step.groups()
        if json is not None:
            value = from_json(value)
        elif row is not None:
            value = {key: column[int(row)] for key, column in value.items()}
        elif name is not None:
            value = value[name]
        elif quoted is not None:
            value = value[from_json(quoted)]
        else:
            value = value[int(first) : int(last)] if last is not None else value[int(first)]
        at = step.end()
    return value
