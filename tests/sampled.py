"""Functions called with samples of their parameters' types, each sample of each parameter once."""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from types import ModuleType
from typing import Any

from tests.kept_forms import Reader

_SAME_MAX = 6
_CALLS_MAX = 60
Samples = Mapping[str, Sequence[Any]]
"""Samples by an annotation as it is written, without module names."""


def readers_of_samples(module: ModuleType, samples: Samples) -> Iterator[Reader]:
    """Yield a reader for each function of a module that samples can be given to; its texts number the calls."""
    for name, function in vars(module).items():
        if not inspect.isfunction(function) or function.__module__ != module.__name__:
            continue
        if inspect.iscoroutinefunction(function):
            continue
        given = [samples.get(_written(one)) for one in inspect.signature(function).parameters.values()]
        if given and None not in given:
            calls = list(_calls([one for one in given if one is not None]))
            numbers = tuple(map(str, range(len(calls))))
            yield Reader(
                f"{module.__name__.partition('.')[2]}.{name}", _of(function, calls), (), numbers, _SAME_MAX
            )


def _of(function: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> Callable[[str], Any]:
    named = [
        name for name, one in inspect.signature(function).parameters.items() if one.kind is one.KEYWORD_ONLY
    ]

    def call(number: str) -> Any:
        given = tuple(map(_copied, calls[int(number)]))  # some functions change what they are given
        bare, by_name = given[: len(given) - len(named)], given[len(given) - len(named) :]
        return function(*bare, **dict(zip(named, by_name, strict=True)))

    return call


def _copied(value: Any) -> Any:
    """Return a copy, or the value itself if it contains objects that cannot be copied."""
    try:
        return deepcopy(value)
    except TypeError:
        return value


def _calls(samples: Sequence[Sequence[Any]]) -> Iterator[tuple[Any, ...]]:
    """Yield arguments: each sample of two parameters with each other, or some of these evenly; the rest in turns."""
    order = sorted(range(len(samples)), key=lambda place: -len(samples[place]))
    second = len(samples[order[1]]) if len(order) > 1 else 1
    number = len(samples[order[0]]) * second
    for n in range(number) if number <= _CALLS_MAX else (n * number // _CALLS_MAX for n in range(_CALLS_MAX)):
        places = dict.fromkeys(order, n // second) | dict.fromkeys(order[1:2], n)
        yield tuple(some[places[place] % len(some)] for place, some in enumerate(samples))


def _written(parameter: inspect.Parameter) -> str:
    return re.sub(r"[a-z_]+(?:\.[a-z_]+)*\.(?=[A-Za-z])", "", inspect.formatannotation(parameter.annotation))
