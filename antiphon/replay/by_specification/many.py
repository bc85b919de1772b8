"""The comparison of many recorded runs with other specifications, in one or several processes."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from antiphon.recording.files import naming, read_lines
from antiphon.replay.by_specification.compared_run import Specifications, compare_run
from antiphon.replay.by_specification.result import SpecificationResult
from antiphon.replay.by_specification.sums import ComparedRun
from antiphon.replay.verify_all import examined, in_processes


def compare_all(
    paths: Sequence[Path], specifications: Specifications, jobs: int | None = 1
) -> Iterator[ComparedRun]:
    """Yield the result for each recording, in the order of `paths`; `jobs` None chooses the number of processes."""
    compare = partial(_compare_file, specifications=specifications)
    work = partial(examined, examine=compare, make=ComparedRun)
    return in_processes(work, ComparedRun, paths, jobs, __name__)


def _compare_file(path: Path, specifications: Specifications) -> SpecificationResult:
    with naming(path):
        return compare_run(read_lines(path), specifications)
