"""The comparison of many recorded runs with other specifications, in one or several processes."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from antiphon_shared.process.clock import monotonic_s

from antiphon.recording.files import naming, read_lines
from antiphon.replay.by_specification.compared_run import Specifications, held
from antiphon.replay.by_specification.sums import Held
from antiphon.replay.verify_all import UNREADABLE, explained, in_processes, shown


def hold_all(paths: Sequence[Path], specifications: Specifications, jobs: int | None = 1) -> Iterator[Held]:
    """Yield the result for each recording, in the order of `paths`; `jobs` None chooses the number of processes."""
    return in_processes(partial(hold, specifications=specifications), lost, paths, jobs, __name__)


def hold(path: Path, specifications: Specifications) -> Held:
    """Return the result for one recording; an unreadable one is a result too."""
    began_s = monotonic_s()
    try:
        with naming(path):
            found = held(read_lines(path), specifications)
    except UNREADABLE as error:
        return Held(shown(path), error=explained(error, path), duration_s=monotonic_s() - began_s)
    return Held(shown(path), found, duration_s=monotonic_s() - began_s)


def lost(path: Path, error: Exception) -> Held:
    """Return the result for a recording whose worker has died."""
    return Held(shown(path), error=f"{error}. Verify this recording alone, with --jobs 1, to see the error.")
