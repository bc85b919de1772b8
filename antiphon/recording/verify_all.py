"""Hold many recordings against today's code, in one process or in several."""

import os
import zlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from antiphon_shared.events import COMPONENTS, Component
from antiphon_shared.process.clock import monotonic_s
from antiphon_shared.process.errors import UnreadableEvent

from antiphon.recording.files import read_lines
from antiphon.recording.replaying.report import Report
from antiphon.recording.reports.outcome import Outcome
from antiphon.recording.verify import verify

if TYPE_CHECKING:
    from antiphon.recording.next_step import Next

UNREADABLE = (UnreadableEvent, OSError, EOFError, zlib.error)
"""What reading a recording raises: not one, not there, or cut off within its compression."""
_BYTES_PER_JOB = 500_000
"""A tenth of a second's work or so: many times what it takes to start a worker."""


def verify_all(
    paths: Sequence[Path], jobs: int | None = 1, only: Collection[Component] = COMPONENTS
) -> Iterator[Outcome]:
    """What came of each recording, in the order of `paths`; `jobs`: None for as many as the work is worth.

    Whoever stops asking stops the work.
    """
    held = partial(outcome, only=only)
    jobs = sensible_jobs(paths) if jobs is None else jobs
    if jobs == 1 or len(paths) < 2:
        return map(held, paths)
    from antiphon.recording.workers import shared_out  # brings along what one process has no use for

    # The first is done here: what all of them need is then made, once for all workers.
    first, rest = held(paths[0]), paths[1:]
    return chain([first], shared_out(held, lost, rest, jobs, __name__))


def sensible_jobs(paths: Sequence[Path]) -> int:
    """One for each core, as far as there is work enough for each."""
    size_bytes = 0
    for path in paths:
        with suppress(OSError):
            size_bytes += path.stat().st_size
    return max(1, min(_cores(), len(paths), size_bytes // _BYTES_PER_JOB))


def _cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def lost(path: Path, error: Exception) -> Outcome:
    """What is known of a recording whose worker has died."""
    return Outcome(shown(path), error=f"{error}. Verify it alone, with --jobs 1, to see what happens there.")


def outcome(path: Path, only: Collection[Component] = COMPONENTS) -> Outcome:
    """What came of one recording; never raises for what stands in it."""
    began_s = monotonic_s()
    try:
        report = verify(path, only)
    except UNREADABLE as error:
        return Outcome(shown(path), error=explained(error, path), duration_s=monotonic_s() - began_s)
    return Outcome(shown(path), report, duration_s=monotonic_s() - began_s, goes_on=_goes_on(path, report))


def _goes_on(path: Path, report: Report) -> "Next | None":
    """Where a changed decision leads, as far as today's code can be asked."""
    if report.is_same:
        return None
    from antiphon.recording.goes_on import goes_on, sends_otherwise  # most recordings are the same

    if not any(map(sends_otherwise, report.divergences)):
        return None
    try:
        return goes_on(list(read_lines(path)), report)
    except UNREADABLE:
        return None
    except Exception as error:  # noqa: BLE001  # today's code may have any fault; what has diverged is reported
        import structlog  # no verification that goes well has a use for it

        structlog.get_logger().debug("goes_on_failed", path=shown(path), error=repr(error))
        return None


def explained(error: Exception, path: Path) -> str:
    """Why a recording cannot be read, without its path, which stands before it."""
    if isinstance(error, UnreadableEvent):
        return str(error).removeprefix(f"{path}").lstrip(",: ")
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}."
    return f"{error}".rstrip(".") + "."


def shown(path: Path) -> str:
    """A path as text; what is no text in it is replaced."""
    return str(path).encode("utf-8", "replace").decode()
