"""Work shared among processes, with the results in the order of the items.

If a worker dies, each remaining item is done in a separate process: so the item that ends its process is found, and
the others are done.
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


class WorkerDied(Exception):
    """A worker has died while working on an item."""

    def __init__(self, pid: int, exitcode: int) -> None:
        how = f"exit code {exitcode}"
        if exitcode < 0:
            with suppress(ValueError):
                how = signal.Signals(-exitcode).name
        super().__init__(f"its worker process {pid} ended unexpectedly ({how})")


def run_in_workers(
    work: Callable[[ItemT], ResultT],
    on_death: Callable[[ItemT, WorkerDied], ResultT],
    items: Sequence[ItemT],
    jobs: int,
    preload: str,
) -> Iterator[ResultT]:
    """Start workers at once, and yield the result of each item, in order. Closing the iterator stops the work.

    Args:
        work: returns the result of an item, and raises no error.
        on_death: returns the result of an item whose worker has died.
        preload: the module to import before the workers start.
    """
    pool = ProcessPoolExecutor(min(jobs, len(items)), _context(preload), _begin)
    futures = [pool.submit(work, item) for item in items]
    return _in_order(pool, futures, items, partial(_run_in_own_process, work, on_death, preload))


def _in_order(
    pool: ProcessPoolExecutor,
    futures: Sequence["Future[ResultT]"],
    items: Sequence[ItemT],
    run_in_own_process: Callable[[ItemT], ResultT],
) -> Iterator[ResultT]:
    try:
        for item, future in zip(items, futures, strict=True):
            try:
                result = future.result()
            except BrokenProcessPool:
                pool.shutdown()
                result = run_in_own_process(item)
            yield result
    finally:
        pool.shutdown(cancel_futures=True)


def _run_in_own_process(
    work: Callable[[ItemT], ResultT],
    on_death: Callable[[ItemT, WorkerDied], ResultT],
    preload: str,
    item: ItemT,
) -> ResultT:
    """Return the result for one item, from a separate process."""
    context = _context(preload)
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(sender, work, item), daemon=True)
    process.start()
    sender.close()
    try:
        result: ResultT = receiver.recv()
    except EOFError:
        process.join()
        result = on_death(item, WorkerDied(process.pid or 0, process.exitcode or 0))
    receiver.close()
    process.join()
    return result


def _send(connection: Connection, work: Callable[[Any], Any], item: object) -> None:
    _begin()
    connection.send(work(item))


def _begin() -> None:
    """Prepare a worker: it ignores Ctrl-C, and ends when its parent ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None, "a worker has a parent process"
    wait([parent.sentinel])
    os._exit(1)


def _context(preload: str) -> Any:
    """Return the context that starts workers: by fork if that is safe, as a fork needs no imports."""
    if sys.platform == "linux" and threading.active_count() == 1:
        return multiprocessing.get_context("fork")
    context = multiprocessing.get_context("spawn" if os.name == "nt" else "forkserver")
    if os.name != "nt":
        context.set_forkserver_preload([preload])
    return context
