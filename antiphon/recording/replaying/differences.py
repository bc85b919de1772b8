"""Where two JSON values differ: paths, with what stands there in each. Pure."""

from collections.abc import Iterator
from typing import Any, NamedTuple

ABSENT = "(absent)"
"""Stands for what one of the two does not have."""


class Difference(NamedTuple):
    """One place where two values differ."""

    path: str
    """`calls[0].arguments.q`; empty for the values themselves."""
    expected: Any
    got: Any


class AtNode(NamedTuple):
    """One place where what comes of a decision differs."""

    node: str
    """The path of the node of a run; empty where it is about no node."""
    output: str
    """What differs: the type of an event, or as `Divergence.output` says."""
    found: Difference


def differences(expected: Any, got: Any, path: str = "") -> Iterator[Difference]:
    """Every smallest place where the two differ, in the order of `expected`."""
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
