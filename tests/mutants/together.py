"""The whole suite with many mutants at once, and then its failing tests with each mutant alone.

The suite takes minutes, too long to run for each mutant. Therefore the mutants that are not caught yet are installed
together, one of each function, and the suite runs to its end. A test catches a mutant if it passes without it and fails
with it alone. One mutant may keep a test from reaching another, which is then missed; but no mutant is counted that the
whole suite would not catch alone. The share of caught mutants is a lower bound.
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
"""The failures that end one of the `jobs` parts of the suite early; it resumes without the mutants they detect."""
_SUITE_TIMEOUT_S = 150
"""Shorter than the limit of a test that runs alone, so that a busy machine does not fail a test that passed."""
_PART_S_MAX = 3 * 3600
_STARTUP = Path(__file__).with_name("startup.py")


@dataclass(eq=False)
class Outcome:
    """The results of a run of tests, by their ids."""

    passed: set[str] = field(default_factory=set)
    failed: list[str] = field(default_factory=list)
    is_cut_short: bool = False
    """Whether failures ended a part of the run early."""
    until_s: float = inf
    """The time of the monotonic clock at which the run ends early."""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.passed.discard(report.nodeid)
            self.failed.append(report.nodeid)
        elif report.passed and report.when == "call" and report.nodeid not in self.failed:
            self.passed.add(report.nodeid)
        if report.when == "teardown" and time.monotonic() > self.until_s:
            pytest.exit("time is up")


def caught_together(
    mutants: Sequence[Mutant], jobs: int, minutes_max: float, report: Callable[[str], None]
) -> dict[Mutant, str]:
    """Return, for each mutant that the suite catches, a test that fails with it alone.

    A run of the suite ends after `minutes_max`; the failures until then count.
    """
    found: dict[Mutant, str] = {}
    for group in groups(mutants):
        left = group
        while left:
            report(f"running the suite against {len(left)} mutants together")
            bounds = ("--timeout", str(_SUITE_TIMEOUT_S), "--maxfail", str(_FAILURES_MAX))
            outcome = run(_suite(left), left, jobs, *bounds, minutes_max=minutes_max)
            failed = list(dict.fromkeys(outcome.failed))
            report(
                f"  {len(failed)} tests fail, {len(outcome.passed)} pass; now the former with each mutant alone"
            )
            caught = shown_alone(failed, left, jobs, report)
            found |= caught
            left = [one for one in left if one not in caught]
            if not (outcome.is_cut_short and caught):
                break
    return found


def _suite(mutants: Sequence[Mutant]) -> list[str]:
    """Return all test files: first those nearest to any mutant, last those of other processes."""
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
    failed: Sequence[str], mutants: Sequence[Mutant], jobs: int, report: Callable[[str], None]
) -> dict[Mutant, str]:
    """Return, by mutant, a test that passes without it and fails with it alone.

    Each test runs twice with and twice without the mutant, in turn, so that a flaky test proves nothing.
    """
    sound = _passed(run(failed, (), jobs), failed)
    found: dict[Mutant, str] = {}
    for one in mutants if sound else ():
        for test in dict.fromkeys(run(sound, [one], jobs, "--maxfail", "1").failed):
            if _passed(run([test], (), 1), [test]) and run([test], [one], 1).failed:
                found[one] = test
                break
        report(f"  {'caught' if one in found else 'survives'}: {one}   {found.get(one, '')}".rstrip())
    return found


def _passed(outcome: Outcome, tests: Sequence[str]) -> list[str]:
    return [one for one in tests if one in outcome.passed]


def run(
    tests: Sequence[str], mutants: Sequence[Mutant], jobs: int, *options: str, minutes_max: float = inf
) -> Outcome:
    """Run tests in forks that have the mutants at import, as do the processes that they start."""
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
    """Install the mutants in every interpreter of this environment that is started from this process."""
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
