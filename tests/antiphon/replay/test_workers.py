"""Work that is shared among processes: in order, and no worker's death goes unnoticed."""

import os
import signal
import time
from collections.abc import Callable, Iterator

import pytest

from antiphon.replay.workers import WorkerDied, run_in_workers


def slower_at_first(n: int) -> str:
    time.sleep(0.3 if n == 0 else 0)
    return f"{n} done"


def dies_at_three(n: int) -> str:
    if n == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return f"{n} done"


def ends_at_zero(n: int) -> str:
    if n == 0:
        os._exit(7)
    return f"{n} done"


def by(work: Callable[[int], str], items: range, jobs: int = 2) -> Iterator[str]:
    return run_in_workers(work, lost, items, jobs, __name__)


def lost(n: int, error: WorkerDied) -> str:
    return f"{n}: {error}"


def test_results_come_in_the_order_of_the_work() -> None:
    assert list(by(slower_at_first, range(8), jobs=3)) == [f"{n} done" for n in range(8)]


def test_a_dead_worker_is_named_with_its_work_in_flight_and_the_rest_is_done() -> None:
    results = list(by(dies_at_three, range(6)))
    assert [result for n, result in enumerate(results) if n != 3] == [f"{n} done" for n in (0, 1, 2, 4, 5)]
    assert results[3].startswith("3: its worker process ")
    assert "SIGKILL" in results[3]


def test_a_worker_that_ends_by_itself_is_named_with_its_exit_code() -> None:
    assert "exit code 7" in next(by(ends_at_zero, range(2)))


def test_a_caller_that_stops_asking_stops_the_work() -> None:
    asked = by(slower_at_first, range(1_000))
    assert next(asked) == "0 done"
    asked.close()  # type: ignore[attr-defined]  # a generator
    with pytest.raises(StopIteration):
        next(asked)
