"""Work in forks of this process: their changes, crashes and waits do not affect it."""

import gc
import multiprocessing
import os
import pickle
import resource
import select
import signal
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Final, TypeVar, cast

T = TypeVar("T")
R = TypeVar("R")
_BYTES_MAX = 6 << 30
_LENGTH_BYTES = 8
_WALL_PER_CPU = 4
"""The factor by which the limit of a waiting process is longer than that of a working one."""


class DidNotEnd:
    """The fork was killed, or died, before it had a result."""


class ForkError(Exception):
    """The work in a fork raised an error."""


DID_NOT_END: Final = DidNotEnd()


def in_fork(work: Callable[[], R], limit_s: int) -> R | DidNotEnd:
    """Return the result of `work` in a fork, within its time limit. Raises ForkError for any exception."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.close(read)
        _work(work, write, limit_s)
    os.close(write)
    try:
        result = _received(read, time.monotonic() + limit_s * _WALL_PER_CPU)
    finally:
        os.close(read)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child, signal.SIGKILL)  # with what it has started
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    if not result:
        return DID_NOT_END
    value, error = pickle.loads(result)
    if error:
        raise ForkError(error)
    return cast("R", value)


def spread(work: Callable[[T], R], items: Sequence[T], jobs: int) -> Iterator[R]:
    """Run work in `jobs` forks of this process, and yield each result on its arrival."""
    gc.collect()
    gc.freeze()  # so that the forks share what is there
    with multiprocessing.get_context("fork").Pool(jobs) as pool:
        yield from pool.imap_unordered(work, items)


def _work(work: Callable[[], object], write: int, limit_s: int) -> None:
    """Run the work and end the fork: this never returns."""
    try:
        os.setsid()
        vars(multiprocessing.current_process())["_config"]["daemon"] = False  # a pool's; it may have children
        for kind, most in ((resource.RLIMIT_CPU, limit_s), (resource.RLIMIT_AS, _BYTES_MAX)):
            resource.setrlimit(kind, (most, resource.getrlimit(kind)[1]))
        with os.fdopen(write, "wb") as file:
            result = _result(work)
            file.write(len(result).to_bytes(_LENGTH_BYTES, "big") + result)
    finally:
        os._exit(0)


def _result(work: Callable[[], object]) -> bytes:
    try:
        return pickle.dumps((work(), ""))
    except BaseException:
        return pickle.dumps((None, traceback.format_exc()))


def _received(read: int, until: float) -> bytes:
    """Return the result, whose length precedes it; nothing after a timeout.

    The end of the pipe is not awaited: processes that the fork has started may hold it open.
    """
    got = bytearray()
    while select.select([read], [], [], max(0.0, until - time.monotonic()))[0]:
        part = os.read(read, 1 << 20)
        got += part
        if len(got) >= _LENGTH_BYTES + int.from_bytes(got[:_LENGTH_BYTES], "big") > _LENGTH_BYTES:
            return bytes(got[_LENGTH_BYTES:])
        if not part:
            break
    return b""
