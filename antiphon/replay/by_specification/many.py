"""The comparison of many recorded runs with other specifications, in one or several processes."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from antiphon.recording.files import naming, read_lines
from antiphon.replay.by_specification.compared_run import Specifications, held
from antiphon.replay.by_specification.result import Found
from antiphon.replay.by_specification.sums import Held
from antiphon.replay.verify_all import examined, in_processes


def hold_all(paths: Sequence[Path], specifications: Specifications, jobs: int | None = 1) -> Iterator[Held]:
    """Yield the result for each recording, in the order of `paths`; `jobs` None chooses the number of processes."""
    hold = partial(examined, examine=partial(_held_in, specifications=specifications), make=Held)
    return in_processes(hold, Held, paths, jobs, __name__)


def _held_in(path: Path, specifications: Specifications) -> Found:
    with naming(path):
        return held(read_lines(path), specifications)
