"""Work that is shared among processes, with what came of it in the order of the work.

One item at a time is handed to each worker, so that a worker that dies is known with what it had in hand; another takes
its place, and the rest of the work is done. Nobody waits for a worker that has nothing to do.
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
"""Sent in the place of an item, in a tuple: that a connection is closed is not seen where a copy of it is open."""


class Died(Exception):
    """A worker has ended in the midst of an item."""

    def __init__(self, pid: int, exitcode: int) -> None:
        how = f"exit code {exitcode}"
        if exitcode < 0:
            with suppress(ValueError):
                how = signal.Signals(-exitcode).name
        super().__init__(f"the process {pid} that worked on it has died ({how})")


def shared_out(
    work: Callable[[ItemT], ResultT],
    lost: Callable[[ItemT, Died], ResultT],
    items: Sequence[ItemT],
    jobs: int,
    preload: str,
) -> Iterator[ResultT]:
    """What comes of `work` on each item, in their order; `lost` says it of one whose worker has died.

    `work` raises nothing. `preload` is the module to have imported before workers are made, which is at once: not when
    the first result is asked for. Whoever stops asking stops the work.
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
        """Of the item it has in hand."""


class _Crew(Generic[ItemT, ResultT]):
    """The workers, and what is left to hand out."""

    def __init__(
        self, work: Callable[[ItemT], ResultT], items: Sequence[ItemT], jobs: int, preload: str
    ) -> None:
        self._context, self._work = _context(preload), work
        self._left = enumerate(items)
        self._workers: list[_Worker] = []
        for _ in range(min(jobs, len(items))):
            self._hire()

    def results(self) -> Iterator[tuple[int, ResultT | Died]]:
        """What has come in, at least one; by the numbers of the items."""
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
        """The next item; none is left: the worker goes home."""
        number, item = next(self._left, (-1, None))
        worker.number = number
        with suppress(OSError):  # it has died meanwhile, which is seen when its result is read
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
    """One worker: an item in, a result out, until nobody hands out more, or is there to do so."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is for whoever hands out to end
    parent = multiprocessing.parent_process()
    assert parent is not None, "a worker is somebody's child"
    with suppress(EOFError, OSError):
        while connection in wait([connection, parent.sentinel]) and (given := connection.recv()) != _END:
            connection.send(work(*given))


def _context(preload: str) -> Any:
    """Copies of this process where that is safe: they have imported what they need, and start in milliseconds."""
    if sys.platform == "linux" and threading.active_count() == 1:
        return multiprocessing.get_context("fork")
    context = multiprocessing.get_context("spawn" if os.name == "nt" else "forkserver")
    if os.name != "nt":
        context.set_forkserver_preload([preload])
    return context
