"""The differences of two JSON values: paths, with the value of each side. Pure."""

from collections.abc import Iterator
from typing import Any, NamedTuple

ABSENT = "(absent)"
"""The placeholder for a value that one side does not have."""


class Difference(NamedTuple):
    """A difference of two values."""

    path: str
    """Such as `calls[0].arguments.q`; empty for the values themselves."""
    expected: Any
    got: Any


class AtNode(NamedTuple):
    """A difference in the effects of a decision."""

    node: str
    """The path of the node of a run; empty for no node."""
    output: str
    """The differing output: the type of an event, or as in `Divergence.output`."""
    found: Difference


def differences(expected: Any, got: Any, path: str = "") -> Iterator[Difference]:
    """Yield the smallest differences of the two, in the order of `expected`."""
    if isinstance(expected, dict) and isinstance(got, dict):
        for key in dict.fromkeys((*expected, *got)):
            yield from differences(expected.get(key, _MISSING), got.get(key, _MISSING), _at(path, key))
    elif isinstance(expected, list) and isinstance(got, list):
        for index in range(max(len(expected), len(got))):
            here = expected[index] if index < len(expected) else _MISSING
            there = got[index] if index < len(got) else _MISSING
            yield from differences(here, there, f"{path}[{index}]")
    elif type(expected) is not type(got) or expected != got:
        yield Difference(path, _shown(expected), _shown(got))


_MISSING = object()


def _shown(value: Any) -> Any:
    return ABSENT if value is _MISSING else value


def _at(path: str, key: object) -> str:
    return f"{path}.{key}" if path else str(key)
