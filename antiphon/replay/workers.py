"""Work shared among processes, with the results in the order of the work.

If a worker dies, the work that is left is done again, each item in a process of its own: so the item that ends its
process is known, and the others are done.
"""

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")


class Died(Exception):
    """A worker has died while working on an item."""

    def __init__(self, pid: int, exitcode: int) -> None:
        how = f"exit code {exitcode}"
        if exitcode < 0:
            with suppress(ValueError):
                how = signal.Signals(-exitcode).name
        super().__init__(f"its worker process {pid} ended unexpectedly ({how})")


def shared_out(
    work: Callable[[ItemT], ResultT],
    lost: Callable[[ItemT, Died], ResultT],
    items: Sequence[ItemT],
    jobs: int,
    preload: str,
) -> Iterator[ResultT]:
    """Yield the result of `work` for each item, in order; `lost` gives the result if the worker has died.

    `work` raises nothing. `preload` is a module to import before the workers start, which is at once, not at
    the first request for a result. Closing the iterator stops the work, after the items that are being worked on.
    """
    pool = ProcessPoolExecutor(min(jobs, len(items)), _context(preload), _begin)
    futures = [pool.submit(work, item) for item in items]
    return _in_order(pool, futures, items, partial(_run_alone, work, lost, preload))


def _in_order(
    pool: ProcessPoolExecutor,
    futures: Sequence["Future[ResultT]"],
    items: Sequence[ItemT],
    alone: Callable[[ItemT], ResultT],
) -> Iterator[ResultT]:
    try:
        for item, future in zip(items, futures, strict=True):
            try:
                result = future.result()
            except BrokenProcessPool:
                pool.shutdown()
                result = alone(item)
            yield result
    finally:
        pool.shutdown(cancel_futures=True)


def _run_alone(
    work: Callable[[ItemT], ResultT], lost: Callable[[ItemT, Died], ResultT], preload: str, item: ItemT
) -> ResultT:
    """Return the result for one item, from a process of its own."""
    context = _context(preload)
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(theirs, work, item), daemon=True)
    process.start()
    theirs.close()
    try:
        result: ResultT = ours.recv()
    except EOFError:
        process.join()
        result = lost(item, Died(process.pid or 0, process.exitcode or 0))
    ours.close()
    process.join()
    return result


def _send(connection: Connection, work: Callable[[Any], Any], item: Any) -> None:
    _begin()
    connection.send(work(item))


def _begin() -> None:
    """Prepare a worker: only its parent ends it, and it ends with its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None, "a worker has a parent process"
    wait([parent.sentinel])
    os._exit(1)


def _context(preload: str) -> Any:
    """Return the way to start workers: a fork where that is safe, as it has its imports and starts in milliseconds."""
    if sys.platform == "linux" and threading.active_count() == 1:
        return multiprocessing.get_context("fork")
    context = multiprocessing.get_context("spawn" if os.name == "nt" else "forkserver")
    if os.name != "nt":
        context.set_forkserver_preload([preload])
    return context
