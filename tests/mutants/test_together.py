"""The whole suite catches a mutant by a test that passes without it and fails with it alone."""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest

from tests.mutants import together
from tests.mutants.mutant import ROOT, Mutant, drawn, sites
from tests.mutants.together import Outcome, caught_together, groups, mutants_at_start, run, shown_alone

SUITE = ["the whole"]
LIMITS = "coordinator/limits.py"
INTERVAL, SPREAD = (
    "test_the_interval_of_few_samples_is_wide_and_within_zero_and_one",
    "test_work_is_spread_over_forks",
)


def a_mutant(function: str = "f", line: int = 1) -> Mutant:
    lines = frozenset((line,))
    return Mutant("a.py", line, 0, "constant", line, lines, function, "", False, "1", "2")


FIRST, SECOND, THIRD = (a_mutant(function, line) for line, function in enumerate("fgh", 1))


class Suite:
    """Tests and the mutants they catch, in place of runs of pytest."""

    def __init__(
        self, failing: dict[Mutant, Sequence[str]], broken: Sequence[str] = (), most: int = 60
    ) -> None:
        self.failing, self.broken, self.most = failing, broken, most
        self.whole_runs: list[list[Mutant]] = []

    def run(
        self,
        tests: Sequence[str],
        mutants: Sequence[Mutant],
        jobs: int,
        *options: str,
        minutes_max: float = 0,
    ) -> Outcome:
        every = sorted({*self.broken, *(test for some in self.failing.values() for test in some)})
        failed = [*self.broken, *(test for one in mutants for test in self.failing.get(one, ()))]
        if tests == SUITE:
            self.whole_runs.append(list(mutants))
            is_cut_short = len(failed) >= self.most
            passed = {one for one in every if one not in failed}
            return Outcome(passed, failed[: self.most], is_cut_short)
        return Outcome({one for one in tests if one not in failed}, [one for one in failed if one in tests])


def caught(suite: Suite, monkeypatch: pytest.MonkeyPatch, *mutants: Mutant) -> dict[Mutant, str]:
    monkeypatch.setattr(together, "run", suite.run)
    monkeypatch.setattr(together, "_suite", lambda _: SUITE)
    monkeypatch.setattr(together, "_FAILURES_MAX", suite.most)
    return caught_together(mutants, 1, 9, lambda _: None)


def test_each_mutant_is_caught_by_a_test_that_fails_with_it_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    suite = Suite({FIRST: ["a"], SECOND: ["a", "b"]})
    assert caught(suite, monkeypatch, FIRST, SECOND, THIRD) == {FIRST: "a", SECOND: "a"}
    assert suite.whole_runs == [[FIRST, SECOND, THIRD]]


def test_a_test_that_fails_without_a_mutant_catches_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert caught(Suite({FIRST: ["a"]}, broken=["a"]), monkeypatch, FIRST) == {}


def test_a_flaky_test_catches_no_mutant(monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes = iter([{"a"}, set(), set()])  # it passes, fails with the mutant, and fails without

    def run(
        tests: Sequence[str], mutants: Sequence[Mutant], jobs: int, *options: str, minutes_max: float = 0
    ) -> Outcome:
        passed = next(outcomes)
        return Outcome(passed, [one for one in tests if one not in passed])

    monkeypatch.setattr(together, "run", run)
    assert shown_alone(["a"], [FIRST], 1, lambda _: None) == {}


def test_a_run_cut_short_by_failures_continues_without_the_caught_mutants(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    suite = Suite({FIRST: ["a", "b"], SECOND: ["c"]}, most=2)
    assert caught(suite, monkeypatch, FIRST, SECOND) == {FIRST: "a", SECOND: "c"}
    assert suite.whole_runs == [[FIRST, SECOND], [SECOND]]


def test_a_group_has_one_mutant_per_function_independent_of_their_order() -> None:
    same = replace(FIRST, line=9)
    assert groups([FIRST, same, SECOND]) == [[FIRST, SECOND], [same]]
    assert groups([SECOND, same, FIRST]) == groups([FIRST, same, SECOND])


def changed_at(file: str, before: str) -> Mutant:
    found = (drawn(file, place, Random(0)) for place in range(len(sites(file))))
    return next(one for one in found if one and one.kind == "constant" and one.before.startswith(before))


def test_interpreters_start_with_all_mutants_until_the_run_is_over() -> None:
    two = [changed_at(LIMITS, before) for before in ("_REPLY_RESERVE_TOKENS = 1000", "(0.5, 3.0)")]
    show = "from coordinator import limits; print(limits._REPLY_RESERVE_TOKENS, limits._RATE_MIN, limits._RATE_MAX)"

    def shown() -> list[str]:
        command = [sys.executable, "-c", show]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()

    with mutants_at_start(two):
        reserve, *rates = shown()
    assert reserve != "1000"
    assert rates != ["0.5", "3.0"]
    assert shown() == ["1000", "0.5", "3.0"]


def test_a_run_reports_the_passed_and_failed_tests_of_a_mutant() -> None:
    """The test runs in a process that has not imported the changed module, like the hunt."""
    tests = [f"tests/mutants/test_mutants.py::{name}" for name in (INTERVAL, SPREAD)]
    show = f"""if True:
        import json
        from tests.mutants.test_together import changed_at, run
        changed = changed_at("tests/mutants/result.py", "_95 = 1.96")
        for outcome in (run({tests}, (), 1), run({tests}, [changed], 1)):
            print(json.dumps([sorted(outcome.passed), outcome.failed]))
    """
    done = subprocess.run([sys.executable, "-c", show], cwd=ROOT, capture_output=True, text=True, check=True)
    without, mutated = map(json.loads, done.stdout.splitlines())
    assert without == [tests, []]
    assert mutated == [tests[1:], tests[:1]]


def test_a_run_that_exceeds_its_time_returns_its_results_so_far() -> None:
    tests = [f"tests/mutants/test_mutants.py::{name}" for name in (INTERVAL, SPREAD)]
    assert len(run(tests, (), 1, minutes_max=0).passed) == 1


def test_the_suite_starts_with_the_nearest_tests_and_omits_none() -> None:
    files = together._suite([changed_at(LIMITS, "(0.5, 3.0)")])
    assert files[0].startswith("tests/coordinator/")
    assert len(files) == len(set(files)) == len(list((ROOT / "tests").rglob("test_*.py")))
