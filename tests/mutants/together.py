"""The whole suite against many mutants at once, and then its failing tests against each mutant alone.

The suite takes minutes, too long to be run for each mutant. So those that nothing has caught yet, one of each function,
are put in place together, and the suite runs to its end. A mutant is caught only by a test that passes without it and
fails with it alone. Where one mutant keeps a test from reaching another, that one may be missed, but none is counted
that the whole suite would not catch alone: the share of those caught is a lower bound.
"""

import marshal
import os
import runpy
import sysconfig
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from math import inf
from pathlib import Path
from tempfile import NamedTemporaryFile
from unittest.mock import patch

import pytest

from tests.mutants import runs
from tests.mutants.forks import DidNotEnd, in_fork, spread
from tests.mutants.mutant import ROOT, Mutant, changed
from tests.mutants.near import near

_FAILURES_MAX = 20
"""So many end a part of the suite early, one of `jobs`; it then goes on without the mutants that they show."""
_SUITE_TIMEOUT_S = 150
"""Below the limit of a test that runs alone, which is not to fail for a busy machine where it passed before."""
_PART_S_MAX = 3 * 3600
_STARTUP = Path(__file__).with_name("startup.py")


@dataclass(eq=False)
class Outcome:
    """The results of a run of tests, by their ids."""

    passed: set[str] = field(default_factory=set)
    failed: list[str] = field(default_factory=list)
    is_cut_short: bool = False
    """Whether failures have ended a part of it early."""
    until_s: float = inf
    """When the run ends early, by the monotonic clock."""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.passed.discard(report.nodeid)
            self.failed.append(report.nodeid)
        elif report.passed and report.when == "call" and report.nodeid not in self.failed:
            self.passed.add(report.nodeid)
        if report.when == "teardown" and time.monotonic() > self.until_s:
            pytest.exit("time is up")


def caught_together(
    mutants: Sequence[Mutant], jobs: int, minutes_max: float, tell: Callable[[str], None]
) -> dict[Mutant, str]:
    """Return, for each mutant that the suite catches, a test that fails with it alone.

    A run of the suite ends after `minutes_max`; what has failed by then counts.
    """
    found: dict[Mutant, str] = {}
    for group in groups(mutants):
        left = group
        while left:
            tell(f"running the suite against {len(left)} mutants together")
            bounds = ("--timeout", str(_SUITE_TIMEOUT_S), "--maxfail", str(_FAILURES_MAX))
            outcome = run(_suite(left), left, jobs, *bounds, minutes_max=minutes_max)
            failed = list(dict.fromkeys(outcome.failed))
            tell(
                f"  {len(failed)} tests fail, {len(outcome.passed)} pass; now the former with each mutant alone"
            )
            caught = shown_alone(failed, left, jobs, tell)
            found |= caught
            left = [one for one in left if one not in caught]
            if not (outcome.is_cut_short and caught):
                break
    return found


def _suite(mutants: Sequence[Mutant]) -> list[str]:
    """Return every file of tests, those nearest to any of the mutants first, and last those of other processes."""
    every = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("test_*.py"))
    nearness: dict[str, int] = {}
    for one in mutants:
        for n, file in enumerate(near(one.file, one.needs_import)):
            nearness[file] = min(n, nearness.get(file, n))
    return sorted(every, key=lambda file: (file.startswith(runs.ELSEWHERE), nearness.get(file, len(every))))


def groups(mutants: Sequence[Mutant]) -> list[list[Mutant]]:
    """Divide mutants into the fewest groups without two of a function or constant; the same for any order of them."""
    found: list[list[Mutant]] = []
    for one in sorted(mutants, key=lambda mutant: (mutant.file, mutant.line, mutant.place)):
        free = (group for group in found if all(_changes(other) != _changes(one) for other in group))
        group = next(free, None)
        if group is None:
            found.append([one])
        else:
            group.append(one)
    return found


def _changes(mutant: Mutant) -> tuple[str, str]:
    return mutant.file, mutant.function or mutant.name


def shown_alone(
    failed: Sequence[str], mutants: Sequence[Mutant], jobs: int, tell: Callable[[str], None]
) -> dict[Mutant, str]:
    """Return, for each mutant that one of these tests shows, the test: it passes without and fails with it alone.

    Each way twice, in turn, so that a test that fails now and then shows nothing.
    """
    sound = _passed(run(failed, (), jobs), failed)
    found: dict[Mutant, str] = {}
    for one in mutants if sound else ():
        for test in dict.fromkeys(run(sound, [one], jobs, "--maxfail", "1").failed):
            if _passed(run([test], (), 1), [test]) and run([test], [one], 1).failed:
                found[one] = test
                break
        tell(f"  {'caught' if one in found else 'survives'}: {one}   {found.get(one, '')}".rstrip())
    return found


def _passed(outcome: Outcome, tests: Sequence[str]) -> list[str]:
    return [one for one in tests if one in outcome.passed]


def run(
    tests: Sequence[str], mutants: Sequence[Mutant], jobs: int, *options: str, minutes_max: float = inf
) -> Outcome:
    """Run tests in forks that have the mutants at import, as have the processes that they start."""
    parts = [tests[n::jobs] for n in range(min(jobs, len(tests)))]
    until_s = time.monotonic() + 60 * minutes_max
    whole = Outcome()
    with mutants_at_start(mutants):
        for one in spread(partial(_run_part, options, until_s), parts, jobs):
            whole.passed |= one.passed
            whole.failed += one.failed
            whole.is_cut_short |= len(set(one.failed)) >= _FAILURES_MAX
    return whole


def _run_part(options: Sequence[str], until_s: float, tests: Sequence[str]) -> Outcome:
    def run_here() -> Outcome:
        if "MUTANT_CODES" in os.environ:
            runpy.run_path(str(_STARTUP))
        outcome = Outcome(until_s=until_s)
        bare = ("-o", "addopts=", "-m", "not long", "--continue-on-collection-errors")
        runs.run_tests([*bare, *options, *tests], outcome)
        return outcome

    outcome = in_fork(run_here, _PART_S_MAX)
    return Outcome() if isinstance(outcome, DidNotEnd) else outcome


@contextmanager
def mutants_at_start(mutants: Sequence[Mutant]) -> Iterator[None]:
    """Let each interpreter of this environment that is started from here begin with the mutants."""
    by_file: dict[str, list[Mutant]] = {}
    for one in mutants:
        by_file.setdefault(one.file, []).append(one)
    codes = {str(ROOT / file): changed(file, some) for file, some in by_file.items()}
    hook = Path(sysconfig.get_path("purelib")) / f"mutants-{os.getpid()}.pth"
    with NamedTemporaryFile() as file, patch.dict(os.environ, MUTANT_CODES=file.name):
        file.write(marshal.dumps(codes))
        file.flush()
        hook.write_text(
            f"import os; 'MUTANT_CODES' in os.environ and exec(open({str(_STARTUP)!r}).read(), {{}})\n"
        )
        try:
            yield
        finally:
            hook.unlink()
