"""The verification of many recordings, in one or several processes."""

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from antiphon_shared.events import COMPONENTS, Component
from antiphon_shared.process.errors import UnreadableEvent

from antiphon.recording.files import as_text, read_lines
from antiphon.replay.report import Report
from antiphon.replay.reports.outcome import Outcome
from antiphon.replay.verify import verify

if TYPE_CHECKING:
    from antiphon.replay.next_step import Next

FoundT = TypeVar("FoundT")
ResultT = TypeVar("ResultT")
_BYTES_PER_JOB = 500_000
"""About a tenth of a second of work, which is many times the start of a worker."""


def verify_all(
    paths: Sequence[Path], jobs: int | None = 1, only: Collection[Component] = COMPONENTS
) -> Iterator[Outcome]:
    """Yield the outcome of each recording, in the order of `paths`. Closing the iterator stops the work.

    `jobs` is the number of processes; None chooses it.
    """
    return in_processes(partial(outcome, only=only), Outcome, paths, jobs, __name__)


def in_processes(
    work: Callable[[Path], ResultT],
    make: Callable[[str, None, str], ResultT],
    paths: Sequence[Path],
    jobs: int | None,
    preload: str,
) -> Iterator[ResultT]:
    """Yield the result of `work` for each recording, as `verify_all` does.

    `make` gives the result for a recording whose worker has died. `preload` is as in `shared_out`.
    """
    jobs = default_jobs(paths) if jobs is None else jobs
    if jobs == 1 or len(paths) < 2:
        return map(work, paths)
    # It imports libraries that a single process does not need.
    from antiphon.replay.workers import run_in_workers

    # The first recording is verified here, which fills shared caches once for all workers.
    first, rest = work(paths[0]), paths[1:]
    return chain([first], run_in_workers(work, partial(_failed_result, make), rest, jobs, preload))


def default_jobs(paths: Sequence[Path]) -> int:
    """Return the number of cores, or fewer if there is not enough work for each."""
    size_bytes = 0
    for path in paths:
        with suppress(OSError):
            size_bytes += path.stat().st_size
    return max(1, min(_cores(), len(paths), size_bytes // _BYTES_PER_JOB))


def _cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _failed_result(make: Callable[[str, None, str], ResultT], path: Path, error: Exception) -> ResultT:
    return make(
        as_text(path), None, f"{error}. Verify this recording alone, with --jobs 1, to see the error."
    )


def examined(
    path: Path, examine: Callable[[Path], FoundT], make: Callable[[str, FoundT | None, str], ResultT]
) -> ResultT:
    """Examine a recording; pass its path, and the result or the error, to `make`."""
    try:
        found = examine(path)
    except UnreadableEvent as error:
        return make(as_text(path), None, explained(error, path))
    return make(as_text(path), found, "")


def outcome(path: Path, only: Collection[Component] = COMPONENTS) -> Outcome:
    """Return the outcome of one recording; an unreadable one is an outcome too."""
    outcome = examined(path, partial(verify, only=only), Outcome)
    return replace(outcome, goes_on=_next_step(path, outcome.report)) if outcome.report else outcome


def _next_step(path: Path, report: Report) -> "Next | None":
    """Return the next step after a changed decision; None if no decision changes or today's code fails."""
    if report.is_same:
        return None
    from antiphon.replay.continuation import continuation, sends_otherwise  # most recordings are the same

    if not any(map(sends_otherwise, report.divergences)):
        return None
    try:
        return continuation(list(read_lines(path)), report)
    except UnreadableEvent:
        return None
    except Exception as error:  # noqa: BLE001  # today's code may raise anything; the divergence is reported
        import structlog  # a successful verification does not need it

        structlog.get_logger().debug("goes_on_failed", path=as_text(path), error=repr(error))
        return None


def explained(error: UnreadableEvent, path: Path) -> str:
    """Return why a recording is unreadable, without its path at the beginning."""
    return str(error).removeprefix(as_text(path)).lstrip(",: ")
