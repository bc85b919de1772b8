"""Work on large values, in a thread, so that lease renewals and heartbeats continue meanwhile.

The interpreter switches to the event loop every few milliseconds while other Python code runs, but not within
one call of a library: such calls get their values in pieces. There is one thread per process: each of many
threads would take a turn before the loop's next.
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
"""The number of parts from which on converting, searching or writing a value takes more than a few milliseconds."""
_CHARACTERS_OF_A_PART = 100
_PIECE = 500
"""Items of a list that one call of a library gets."""
_SINGLE = frozenset((int, float, bool, type(None), UUID, datetime))
_ROWS = frozenset((list, tuple, set, frozenset))
_DEPTH_MAX = 4
"""The depth to which a value is searched for long lists."""

P = ParamSpec("P")
T = TypeVar("T")


async def offload(work: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
    """Return the result of `work`: at once where its arguments are small, else from the thread.

    The arguments must not change meanwhile. When cancelled, the work runs on and its result is dropped.
    """
    return await offload_if(is_large(*args), work, *args, **options)


async def offload_if(is_heavy: bool, work: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
    """Return the result of `work`, from the thread where the caller says that it is heavy."""
    if not is_heavy:
        return work(*args, **options)
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_worker(), _undisturbed, partial(work, *args, **options))


def is_large(*values: Any) -> bool:
    """Return whether values have many parts, or long texts. Visits only as many parts as it takes to decide."""
    left, parts = PARTS_MAX, list(values)
    for one in parts:  # the list grows meanwhile
        kind = type(one)
        # The exact class first, as this runs for every value; subclasses take the slower checks below.
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
    """Yield `each` of the value's parts; long lists and objects are split so that no part exceeds a piece by much."""
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
    """Return the value as `to_json` writes it, in pieces. Raises ValueError for a value that cannot be written."""
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
    """Return the value as JSON, as `json_of` does; None as soon as it exceeds `bytes_max`."""
    size = 0
    for length in in_pieces(value, lambda part: len(to_json(part))):
        size += length - 2  # the brackets of a piece are not in the whole
        if size > bytes_max:
            return None
    written = json_of(value)
    return written if len(written) <= bytes_max else None


def _undisturbed(work: Callable[[], T]) -> T:
    """Return the result of the work, without garbage collection: it would visit the growing value again and again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return work()
    finally:
        if was_enabled:
            gc.enable()


@cache
def _worker() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="offload")


os.register_at_fork(after_in_child=_worker.cache_clear)
