"""The differences of two JSON values, each with its path and both values. Pure."""

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any, NamedTuple

ABSENT = "(absent)"
"""The placeholder for a value that one side does not have."""


class Difference(NamedTuple):
    """A difference of two values."""

    path: str
    """The path in the values, such as `calls[0].arguments.q`; empty for the whole values."""
    expected: Any
    got: Any


class NodeValueDifference(NamedTuple):
    """A difference in the effects of a decision."""

    node: str
    """The path of the node of a run; empty if no node is concerned."""
    output: str
    """The output that differs, as in `Divergence.output`."""
    difference: Difference


def differences(expected: object, got: object, path: str = "") -> Iterator[Difference]:
    """Yield the smallest parts that differ, in the order of `expected`."""
    if (inner := parts(expected, got, path)) is not None:
        for _, deeper, here, there in inner:
            yield from differences(here, there, deeper)
    elif type(expected) is not type(got) or expected != got:
        yield difference(path, expected, got)


def parts(expected: object, got: object, path: str) -> Iterator[tuple[str | int, str, Any, Any]] | None:
    """Yield key, path and both values of each part of two objects, or of two lists; None for other values."""
    if isinstance(expected, dict) and isinstance(got, dict):
        keys = dict.fromkeys((*expected, *got))
        before = f"{path}." if path else ""
        return ((key, f"{before}{key}", expected.get(key, _MISSING), got.get(key, _MISSING)) for key in keys)
    if isinstance(expected, list) and isinstance(got, list):
        pairs = enumerate(zip_longest(expected, got, fillvalue=_MISSING))
        return ((index, f"{path}[{index}]", here, there) for index, (here, there) in pairs)
    return None


def difference(path: str, expected: object, got: object) -> Difference:
    """Return the difference of two values, of which one may be missing."""
    return Difference(path, *(ABSENT if value is _MISSING else value for value in (expected, got)))


def first_field(path: str) -> str:
    """Return the field of the whole value in which a path begins; empty if it begins with an index."""
    return path.partition(".")[0].partition("[")[0]


_MISSING = object()
