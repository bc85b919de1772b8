"""Many recorded runs, held against other specifications in one process or in several, and their sum."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Literal

from antiphon_shared.process.clock import monotonic_s

from antiphon.recording.by_specification.found import Found
from antiphon.recording.by_specification.held import Specifications, held
from antiphon.recording.files import naming, read_lines
from antiphon.recording.verify_all import UNREADABLE, explained, sensible_jobs, shown

Result = Literal["same", "differs", "unchecked", "other", "unreadable"]


@dataclass(frozen=True, slots=True)
class Held:
    """One recording: what was found, or why it cannot be read."""

    path: str
    found: Found | None = None
    error: str = ""
    duration_s: float = 0.0

    @property
    def result(self) -> Result:
        """The verdict."""
        return "unreadable" if self.found is None else self.found.result


@dataclass
class Group:
    """Recordings that share their first difference."""

    workflow: str
    sentence: str
    cases: list[Held] = field(default_factory=list)

    @property
    def ends(self) -> Counter[str]:
        """How these runs would go on: `same end`, `ends as failed`, `cannot be told`."""
        return Counter(end_in_words(one.found) for one in self.cases if one.found is not None)


def hold_all(paths: Sequence[Path], specifications: Specifications, jobs: int | None = 1) -> Iterator[Held]:
    """What came of each recording, in the order of `paths`; `jobs`: None for as many as the work is worth."""
    work = partial(hold, specifications=specifications)
    jobs = sensible_jobs(paths) if jobs is None else jobs
    if jobs == 1 or len(paths) < 2:
        return map(work, paths)
    from antiphon.recording.workers import shared_out  # brings along what one process has no use for

    first, rest = work(paths[0]), paths[1:]
    return chain([first], shared_out(work, lost, rest, jobs, __name__))


def hold(path: Path, specifications: Specifications) -> Held:
    """What came of one recording; never raises for what stands in it."""
    began_s = monotonic_s()
    try:
        with naming(path):
            found = held(read_lines(path), specifications)
    except UNREADABLE as error:
        return Held(shown(path), error=explained(error, path), duration_s=monotonic_s() - began_s)
    return Held(shown(path), found, duration_s=monotonic_s() - began_s)


def lost(path: Path, error: Exception) -> Held:
    """What is known of a recording whose worker has died."""
    return Held(shown(path), error=f"{error}. Hold it alone, with --jobs 1, to see what happens there.")


def grouped(all: Sequence[Held]) -> list[Group]:
    """Return the recordings that differ by their first difference, that which most share first."""
    groups: dict[tuple[str, str], Group] = {}
    for one in all:
        if one.found is not None and one.found.first is not None:
            key = (one.found.workflow, one.found.first.sentence)
            groups.setdefault(key, Group(*key)).cases.append(one)
    return sorted(groups.values(), key=lambda group: (-len(group.cases), group.workflow, group.sentence))


def result_of(all: Sequence[Held]) -> Result:
    """Return the worst of all; recordings of which none is of a run of these workflows are unchecked, not the same."""
    results = {one.result for one in all}
    worst: tuple[Result, ...] = ("unreadable", "differs", "unchecked")
    found = next((result for result in worst if result in results), None)
    return found or ("same" if "same" in results else "unchecked")


def end_in_words(found: Found) -> str:
    """Return where a run goes from its first difference."""
    rest = found.rest
    if rest is None or not rest.status:
        return "how it goes on cannot be told"
    return "it ends as before" if rest.is_same_end else f"it ends as {rest.status}, with another output"
