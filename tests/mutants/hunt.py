"""The checks of a mutant: the recordings that run its line, the tests near it, and then the whole suite.

This process imports nothing of the product. A mutant of code that runs at import is put into a fork that has not
imported the product; any other one into a fork that has imported it and loaded the recordings.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from math import inf
from random import Random
from typing import Any, Literal

from tests.mutants import runs
from tests.mutants.forks import DidNotEnd, in_fork, spread
from tests.mutants.mutant import Mutant, drawn, sites
from tests.mutants.near import DOES_NOT_END, near, tested_near
from tests.mutants.runs import Runs
from tests.mutants.together import caught_together

Stage = Literal["recordings", "near tests", "suite"]
"""The checks of a mutant, in order, until one catches it."""
_VERIFY_S_MAX = 60


@dataclass(frozen=True)
class Fate:
    """The result of a mutant."""

    mutant: Mutant
    is_pure: bool
    verified_by: str = ""
    """The recording that diverges, or another way in which `replay verify` caught the mutant; else empty."""
    tested_by: str = ""
    """The test that fails, if `replay verify` did not catch the mutant."""
    recordings: int = 0
    """The number of recordings that run the line."""
    tests: int = 0

    @property
    def is_caught(self) -> bool:
        return bool(self.verified_by or self.tested_by)


def draw(files: Sequence[str], number: int, seed: int, jobs: int) -> list[Mutant]:
    """Draw lines at random from all that have a site, and return a mutant of a random site of each.

    Thus all lines of code have the same weight, also one with twenty words of a table. If Python compiles every change
    of a site to the same code, another line is drawn.
    """
    random = Random(seed)
    by_line: dict[tuple[str, int], list[int]] = {}
    for file in files:
        for place, site in enumerate(sites(file)):
            by_line.setdefault((file, site.line), []).append(place)
    lines = sorted(by_line)
    random.shuffle(lines)
    places = [(file, random.choice(by_line[file, line])) for file, line in lines]
    found: list[Mutant] = []
    while len(found) < number and places:
        wanted, places = places[: number - len(found)], places[number - len(found) :]
        drawn_now = list(in_order(partial(_drawn, seed), wanted, jobs))
        found += [mutant for mutant in drawn_now if mutant is not None]
    return found


def in_order(work: Callable[[Any], Any], items: Sequence[Any], jobs: int) -> Iterator[Any]:
    numbered = dict(spread(partial(_numbered, work), list(enumerate(items)), jobs))
    return (numbered[n] for n in range(len(items)))


def hunted(
    fates: Sequence[Fate],
    jobs: int,
    stages: Sequence[Stage],
    report: Callable[[str], None],
    suite_minutes_max: float = inf,
) -> Iterator[list[Fate]]:
    """Yield the results of all mutants after each stage.

    Raises RuntimeError if the product is already imported.
    """
    runs.must_not_be_imported()
    report("importing third-party modules")
    runs.import_foreign()
    report("measuring the lines that recordings run")
    run = runs.of_recordings(jobs)
    for stage in stages:
        left = [one for one in fates if not one.is_caught]
        report(f"checking {len(left)} mutants with the {stage}")
        if stage == "suite":
            done = _in_suite(left, jobs, suite_minutes_max, report)
        else:
            done = _in_both(_verified if stage == "recordings" else _tested_near, left, run, jobs, report)
        by_mutant = {one.mutant: one for one in done}
        fates = [by_mutant.get(one.mutant, one) for one in fates]
        yield list(fates)


def _in_suite(
    fates: Sequence[Fate], jobs: int, minutes_max: float, report: Callable[[str], None]
) -> list[Fate]:
    caught = caught_together([one.mutant for one in fates], jobs, minutes_max, report)
    return [replace(one, tested_by=caught.get(one.mutant, "")) for one in fates]


Work = Callable[[Runs, bool, Fate], Fate]


def _in_both(
    work: Work, fates: Sequence[Fate], run: Runs, jobs: int, report: Callable[[str], None]
) -> list[Fate]:
    """Run mutants that must exist at import from this process, the others from a fork that imported everything."""
    early = [one for one in fates if _is_early(one.mutant, run)]
    late = [one for one in fates if not _is_early(one.mutant, run)]
    done = list(_reported(work, spread(partial(work, run, True), early, jobs), len(early), report))

    def with_product() -> list[Fate]:
        runs.import_product()
        if work is _verified:
            _lines()
        return list(_reported(work, spread(partial(work, run, False), late, jobs), len(late), report))

    if late:
        rest = in_fork(with_product, 24 * 3600)
        assert not isinstance(rest, DidNotEnd)
        done += rest
    by_mutant = {one.mutant: one for one in done}
    return [by_mutant[one.mutant] for one in fates]


def _is_early(mutant: Mutant, run: Runs) -> bool:
    return mutant.needs_import or any((mutant.file, line) in run.imported for line in mutant.lines)


def _reported(
    work: Work, fates: Iterable[Fate], number: int, report: Callable[[str], None]
) -> Iterator[Fate]:
    for n, fate in enumerate(fates, 1):
        if not fate.is_caught and work is not _verified:
            report(f"  survives: {fate.mutant}")
        if n % 20 == 0 or n == number:
            report(f"  {n} of {number}")
        yield fate


def _verified(run: Runs, is_early: bool, fate: Fate) -> Fate:
    mutant = fate.mutant
    every = [path.name for path in runs.recordings()]
    names = every if is_early else _by_lines(run.recordings, mutant)
    if not names:
        return fate
    found = in_fork(lambda: _verify(mutant, names, is_early), _VERIFY_S_MAX)
    by = DOES_NOT_END if isinstance(found, DidNotEnd) else found
    return replace(fate, verified_by=by, recordings=len(names))


def _verify(mutant: Mutant, names: Sequence[str], is_early: bool) -> str:
    """Return the first recording that shows the mutant."""
    if not is_early:
        mutant.install()
        return next((name for name in names if _diverges(lambda: _lines()[name])), "")  # noqa: B023  # called at once
    mutant.install_at_import()
    try:
        from antiphon.recording.files import read_lines
    except Exception as error:
        return f"import: {type(error).__name__}"
    return next(
        (name for name in names if _diverges(lambda: read_lines(runs.RECORDINGS / name))),  # noqa: B023  # called at once
        "",
    )


def _diverges(read: Callable[[], Iterable[Any]]) -> bool:
    try:
        from antiphon.replay.verify import verify_lines

        return not verify_lines(read()).is_same
    except Exception:
        return True  # `replay verify` would say that it cannot be read, or end in a traceback


@cache
def _lines() -> Mapping[str, Sequence[Any]]:
    from antiphon.recording.files import read_lines

    return {path.name: list(read_lines(path)) for path in runs.recordings()}


def _tested_near(_: Runs, is_early: bool, fate: Fate) -> Fate:
    """Run the whole test files that are named after the mutant's file or import it, the nearest first."""
    files = near(fate.mutant.file, is_early)
    return replace(
        fate, tested_by=tested_near(files, is_early, fate.mutant) if files else "", tests=len(files)
    )


def _by_lines(by_line: Mapping[tuple[str, int], Sequence[str]], mutant: Mutant) -> list[str]:
    lines = (by_line.get((mutant.file, line), ()) for line in sorted(mutant.lines))
    return list(dict.fromkeys(name for names in lines for name in names))


def _numbered(work: Callable[[Any], Any], numbered: tuple[int, Any]) -> tuple[int, Any]:
    return numbered[0], work(numbered[1])


def _drawn(seed: int, place: tuple[str, int]) -> Mutant | None:
    return drawn(*place, Random(f"{seed} {place}"))


def say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
