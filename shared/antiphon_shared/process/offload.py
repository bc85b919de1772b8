"""Work on large values in a thread, so that lease renewals and heartbeats continue meanwhile.

The interpreter switches to the event loop every few milliseconds while Python code runs in the thread, but not within
one call of a library, so such calls get their values in pieces. Each process has one thread, as several would delay
the loop more.
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
"""The number of parts from which the conversion or search of a value takes more than a few milliseconds."""
_CHARACTERS_OF_A_PART = 100
_PIECE = 500
"""The number of items of a list for one call of a library."""
_SCALARS = frozenset((int, float, bool, type(None), UUID, datetime))
_SEQUENCES = frozenset((list, tuple, set, frozenset))
_DEPTH_MAX = 4
"""The depth to which a value is searched for long lists."""

P = ParamSpec("P")
T = TypeVar("T")


async def offload(work: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
    """Return the result of `work`, which runs here if its arguments are small, else in the thread.

    The arguments must not change meanwhile. After a cancellation, the work continues, and its result is dropped.
    """
    return await offload_if(is_large(*args), work, *args, **options)


async def offload_if(is_heavy: bool, work: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
    """Return the result of `work`, which runs in the thread if it is heavy, else here."""
    if not is_heavy:
        return work(*args, **options)
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_worker(), _without_collection, partial(work, *args, **options))


def is_large(*values: Any) -> bool:
    """Return whether values have many parts or long texts, after as few parts as possible."""
    left, parts = PARTS_MAX, list(values)
    for one in parts:  # the list grows meanwhile
        kind = type(one)
        # The exact class first, as this runs for every value; the checks for subclasses are slower.
        if kind is str or kind is bytes:
            left -= 1 + len(one) // _CHARACTERS_OF_A_PART
        elif kind in _SCALARS:
            left -= 1
        elif kind is dict or isinstance(one, dict):
            left -= len(one)
            parts += one.values() if left >= 0 else ()
        elif kind in _SEQUENCES or isinstance(one, list | tuple | set | frozenset):
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


def in_pieces(value: object, each: Callable[[Any], T], depth: int = 0) -> Iterator[T]:
    """Yield `each` of the value's parts, for which long lists and objects are split into pieces."""
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


def json_of(value: object, depth: int = 0) -> bytes:
    """Return the value as JSON, like `to_json`, but in pieces. Raises ValueError if it cannot be written."""
    if depth < _DEPTH_MAX and isinstance(value, list) and is_large(value):
        size = _PIECE if len(value) > _PIECE else 1
        pieces = (value[start : start + size] for start in range(0, len(value), size))
        written = [to_json(one)[1:-1] if size > 1 else json_of(one[0], depth + 1) for one in pieces]
        return b"[" + b",".join(written) + b"]"
    if depth < _DEPTH_MAX and isinstance(value, dict) and is_large(value):
        members = [to_json({key: 0})[1:-2] + json_of(item, depth + 1) for key, item in value.items()]
        return b"{" + b",".join(members) + b"}"
    return to_json(value)


def json_up_to(value: object, bytes_max: int) -> bytes | None:
    """Return the value as JSON, like `json_of`; None if it exceeds `bytes_max`."""
    size = 0
    for length in in_pieces(value, lambda part: len(to_json(part))):
        size += length - 2  # without the brackets of the piece
        if size > bytes_max:
            return None
    written = json_of(value)
    return written if len(written) <= bytes_max else None


def _without_collection(work: Callable[[], T]) -> T:
    """Return the result of the work, without garbage collection, which would visit the growing value repeatedly."""
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
