"""Work on large values, beside the event loop: so that leases are renewed and heartbeats go on meanwhile.

The interpreter gives the loop its turn every few milliseconds while other Python code runs, but not within one call
of a library: what goes through such calls goes in pieces. One thread for the whole process: many at once would each
take a turn before the loop's next.
"""

import asyncio
import gc
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import is_dataclass
from datetime import datetime
from functools import cache, partial
from typing import Any, ParamSpec, TypeVar
from uuid import UUID

from pydantic import BaseModel
from pydantic_core import to_json

PARTS_MAX = 2_000
"""A value of more parts takes longer than a few milliseconds to be converted, searched or written."""
_CHARACTERS_OF_A_PART = 100
_PIECE = 500
"""Items of a list that go through a library in one call."""
_SINGLE = frozenset((int, float, bool, type(None), UUID, datetime))
_ROWS = frozenset((list, tuple, set, frozenset))
_DEPTH_MAX = 4
"""How deep in a value its long lists are looked for."""

P = ParamSpec("P")
T = TypeVar("T")


async def aside(work: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
    """What `work` returns: at once where its arguments are small, and else from another thread.

    The arguments must not change meanwhile. Cancelled, the work goes on, and what it returns is dropped.
    """
    return await aside_if(is_large(*args), work, *args, **options)


async def aside_if(is_heavy: bool, work: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
    """The same, where the caller knows whether it takes long."""
    if not is_heavy:
        return work(*args, **options)
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_worker(), _undisturbed, partial(work, *args, **options))


def is_large(*values: Any) -> bool:
    """Whether they have many parts, or long texts. Looks at no more of them than it takes to tell."""
    left, parts = PARTS_MAX, list(values)
    for one in parts:  # which grow meanwhile
        kind = type(one)
        # By the class itself, as this is asked of every value; a subclass goes the longer way.
        if kind is str or kind is bytes:
            left -= 1 + len(one) // _CHARACTERS_OF_A_PART
        elif kind in _SINGLE:
            left -= 1
        elif kind is dict or isinstance(one, dict):
            left -= len(one)
            parts += one.values() if left >= 0 else ()
        elif kind in _ROWS or isinstance(one, list | tuple | set | frozenset):
            left -= len(one)
            parts += one if left >= 0 else ()
        elif isinstance(one, str | bytes):
            left -= 1 + len(one) // _CHARACTERS_OF_A_PART
        else:
            left -= 1
            if isinstance(one, BaseModel) or (is_dataclass(one) and hasattr(one, "__dict__")):
                parts += vars(one).values()
        if left < 0:
            return True
    return False


def in_pieces(value: Any, each: Callable[[Any], T], depth: int = 0) -> Iterator[T]:
    """`each` of the value's parts, no part much larger than a piece where its long lists and objects allow it."""
    if depth < _DEPTH_MAX and isinstance(value, list) and is_large(value):
        for start in range(0, len(value), _PIECE):
            piece = value[start : start + _PIECE]
            if len(piece) == len(value):
                for item in piece:
                    yield from in_pieces(item, each, depth + 1)
            else:
                yield each(piece)
    elif depth < _DEPTH_MAX and isinstance(value, dict) and is_large(value):
        for key, item in value.items():
            yield each(key)
            yield from in_pieces(item, each, depth + 1)
    else:
        yield each(value)


def json_of(value: Any, depth: int = 0) -> bytes:
    """As `to_json`, in pieces. Raises ValueError for what cannot be written."""
    if depth < _DEPTH_MAX and isinstance(value, list) and is_large(value):
        size = _PIECE if len(value) > _PIECE else 1
        pieces = (value[start : start + size] for start in range(0, len(value), size))
        written = [to_json(one)[1:-1] if size > 1 else json_of(one[0], depth + 1) for one in pieces]
        return b"[" + b",".join(written) + b"]"
    if depth < _DEPTH_MAX and isinstance(value, dict) and is_large(value):
        members = [to_json({key: 0})[1:-2] + json_of(item, depth + 1) for key, item in value.items()]
        return b"{" + b",".join(members) + b"}"
    return to_json(value)


def json_within(value: Any, bytes_max: int) -> bytes | None:
    """As `json_of`; None as soon as it is larger than `bytes_max`."""
    size = 0
    for length in in_pieces(value, lambda part: len(to_json(part))):
        size += length - 2  # the brackets of a piece are not in the whole
        if size > bytes_max:
            return None
    written = json_of(value)
    return written if len(written) <= bytes_max else None


def _undisturbed(work: Callable[[], T]) -> T:
    """What the work returns. The collector would walk all of a large value again and again while it grows."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return work()
    finally:
        if was_enabled:
            gc.enable()


@cache
def _worker() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="aside")


os.register_at_fork(after_in_child=_worker.cache_clear)
