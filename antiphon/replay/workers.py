"""Work shared among processes, with the results in the order of the work.

Each worker gets one item at a time, so that the item of a worker that dies is known; another worker replaces
it, and the remaining work is done. A worker ends when no item is left.
"""

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Generic, TypeVar

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")


_END = ()
"""The end signal, sent in place of an item in a tuple: a closed connection goes unnoticed while a copy is open."""


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
    the first request for a result. Closing the iterator stops the work.
    """
    return _in_order(_Crew(work, items, jobs, preload), lost, items)


def _in_order(
    crew: "_Crew[ItemT, ResultT]", lost: Callable[[ItemT, Died], ResultT], items: Sequence[ItemT]
) -> Iterator[ResultT]:
    done: dict[int, ResultT] = {}
    try:
        for number in range(len(items)):
            while number not in done:
                for one, result in crew.results():
                    done[one] = lost(items[one], result) if isinstance(result, Died) else result
            yield done.pop(number)
    finally:
        crew.dismiss()


class _Worker:
    def __init__(self, context: Any, work: Callable[[Any], Any]) -> None:
        self.ours, theirs = context.Pipe()
        self.process: BaseProcess = context.Process(target=_serve, args=(theirs, work), daemon=True)
        self.process.start()
        theirs.close()
        self.number = -1
        """The number of its item."""


class _Crew(Generic[ItemT, ResultT]):
    """The workers, and the items left."""

    def __init__(
        self, work: Callable[[ItemT], ResultT], items: Sequence[ItemT], jobs: int, preload: str
    ) -> None:
        self._context, self._work = _context(preload), work
        self._left = enumerate(items)
        self._workers: list[_Worker] = []
        for _ in range(min(jobs, len(items))):
            self._hire()

    def results(self) -> Iterator[tuple[int, ResultT | Died]]:
        """Yield the results that have arrived, at least one, with the numbers of their items."""
        ready = wait([worker.ours for worker in self._workers])
        for worker in [worker for worker in self._workers if worker.ours in ready]:
            number = worker.number
            try:
                result: ResultT | Died = worker.ours.recv()
            except (EOFError, OSError):
                result = self._bury(worker)
                self._hire()
            else:
                self._hand_out(worker)
            yield number, result

    def dismiss(self) -> None:
        for worker in self._workers:
            worker.process.terminate()
            worker.ours.close()
        for worker in self._workers:
            worker.process.join()

    def _hire(self) -> None:
        worker = _Worker(self._context, self._work)
        self._workers.append(worker)
        self._hand_out(worker)

    def _hand_out(self, worker: _Worker) -> None:
        """Send the worker its next item; end it if none remains."""
        number, item = next(self._left, (-1, None))
        worker.number = number
        with suppress(OSError):  # it has died meanwhile, which shows when its result is read
            worker.ours.send(_END if number < 0 else (item,))
        if number < 0:
            self._workers.remove(worker)
            worker.process.join()
            worker.ours.close()

    def _bury(self, worker: _Worker) -> Died:
        self._workers.remove(worker)
        worker.ours.close()
        worker.process.join()
        return Died(worker.process.pid or 0, worker.process.exitcode or 0)


def _serve(connection: Connection, work: Callable[[Any], Any]) -> None:
    """Run one worker: receive an item, send its result, until the end signal or the parent's end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # only the parent ends the workers
    parent = multiprocessing.parent_process()
    assert parent is not None, "a worker has a parent process"
    with suppress(EOFError, OSError):
        while connection in wait([connection, parent.sentinel]) and (given := connection.recv()) != _END:
            connection.send(work(*given))


def _context(preload: str) -> Any:
    """Return the way to start workers: a fork where that is safe, as it has its imports and starts in milliseconds."""
    if sys.platform == "linux" and threading.active_count() == 1:
        return multiprocessing.get_context("fork")
    context = multiprocessing.get_context("spawn" if os.name == "nt" else "forkserver")
    if os.name != "nt":
        context.set_forkserver_preload([preload])
    return context
