"""What catches a mutant: first the recordings that run its line, then the tests that do, each to the first that fails.

This process imports nothing of the product. A mutant of what is run at import is put into a fork before that imports
the product; any other one into a fork that has it already, recordings and all.
"""

import ast
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from math import inf
from pathlib import Path
from random import Random
from time import process_time
from typing import Any, Literal

import pytest

from tests.mutants import runs
from tests.mutants.forks import DidNotEnd, in_fork, spread
from tests.mutants.mutant import ROOT, Mutant, drawn, sites
from tests.mutants.runs import Runs

Against = Literal["recordings", "near tests", "suite"]
"""What mutants are held against: each of these includes the one before."""
DOES_NOT_END = "does not end"
SUITE = (
    *("coordinator", "context_synthesizer", "bus", "reasoning_engine", "response_assembler", "shared"),
    *("tool_dispatcher", "injections", "simulation", "flows", "antiphon"),
)
"""Folders of tests that mutants of the rooms and of the ground floor are held against."""
_OF_DECLARATIONS = ("tests/shared/test_shapes.py", "tests/antiphon/test_settings_table.py")
"""Tests that hold every default, bound and word of what is declared, though they run no line of it."""
_VERIFY_S_MAX = 60
_TESTS_S_MAX = 60.0
"""Of the tests that run a line, as many as take so long without a mutant; the most telling ones first."""
_NEAR_S_MAX = 30.0
"""After so many seconds of CPU no other test of the near files is begun."""
_FLAKY_MAX = 3


@dataclass(frozen=True)
class Fate:
    """What came of a mutant."""

    mutant: Mutant
    is_pure: bool
    verified_by: str = ""
    """The recording that diverges, or how else `replay verify` has caught it; empty: it has not."""
    tested_by: str = ""
    """The test that fails, where verifying has not caught it."""
    recordings: int = 0
    """How many run the line."""
    tests: int = 0

    @property
    def is_caught(self) -> bool:
        return bool(self.verified_by or self.tested_by)


def draw(files: Sequence[str], number: int, seed: int, jobs: int) -> list[Mutant]:
    """Return mutants of so many lines, drawn by lot from all that have a site; and of each line one site, by lot.

    So each line of code counts alike, and one with twenty words of a table no more than others. Where Python makes the
    same code of every change of a site, another line is drawn.
    """
    lot = Random(seed)
    by_line: dict[tuple[str, int], list[int]] = {}
    for file in files:
        for place, site in enumerate(sites(file)):
            by_line.setdefault((file, site.line), []).append(place)
    lines = sorted(by_line)
    lot.shuffle(lines)
    places = [(file, lot.choice(by_line[file, line])) for file, line in lines]
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
    mutants: Sequence[Mutant], jobs: int, against: Against, pure: frozenset[str], tell: Callable[[str], None]
) -> list[Fate]:
    """Hold each mutant against recordings and tests. Raises RuntimeError when the product is imported already."""
    runs.must_not_be_imported()
    tell("importing what is not ours")
    runs.import_foreign()
    tell("finding what the recordings run")
    run = runs.of_recordings(jobs)
    fates = [Fate(one, one.file in pure) for one in mutants]
    tell(f"verifying recordings against {len(fates)} mutants")
    fates = _in_both(_verified, fates, run, run, jobs, tell)
    if against == "recordings":
        return fates
    tell("testing with what is near")
    fates = _with_tests(_tested_near, fates, run, run, jobs, tell)
    if against == "near tests":
        return fates
    tell("finding what the tests run")
    return _with_tests(_tested, fates, run, runs.of_tests(jobs, SUITE), jobs, tell)


def _with_tests(
    work: "Work", fates: Sequence[Fate], run: Runs, needed: Runs, jobs: int, tell: Callable[[str], None]
) -> list[Fate]:
    left = [one for one in fates if not one.is_caught]
    tell(f"testing {len(left)} mutants")
    tested = {one.mutant: one for one in _in_both(work, left, run, needed, jobs, tell)}
    return [tested.get(one.mutant, one) for one in fates]


Work = Callable[[Runs, bool, Fate], Fate]


def _in_both(
    work: Work, fates: Sequence[Fate], run: Runs, needed: Runs, jobs: int, tell: Callable[[str], None]
) -> list[Fate]:
    """Those that have to be there at import from here; the others from a fork that has imported everything."""
    early = [one for one in fates if _is_early(one.mutant, run)]
    late = [one for one in fates if not _is_early(one.mutant, run)]
    done = list(_told(work, spread(partial(work, needed, True), early, jobs), len(early), tell))

    def with_product() -> list[Fate]:
        runs.import_product()
        if work is _verified:
            _lines()
        return list(_told(work, spread(partial(work, needed, False), late, jobs), len(late), tell))

    if late:
        rest = in_fork(with_product, 24 * 3600)
        assert not isinstance(rest, DidNotEnd)
        done += rest
    by_mutant = {one.mutant: one for one in done}
    return [by_mutant[one.mutant] for one in fates]


def _is_early(mutant: Mutant, run: Runs) -> bool:
    return mutant.needs_import or any((mutant.file, line) in run.imported for line in mutant.lines)


def _told(work: Work, fates: Iterable[Fate], number: int, tell: Callable[[str], None]) -> Iterator[Fate]:
    for n, fate in enumerate(fates, 1):
        if not fate.is_caught and work is not _verified:
            tell(f"  survives: {fate.mutant}")
        if n % 20 == 0 or n == number:
            tell(f"  {n} of {number}")
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
        mutant.put_in_place()
        return next((name for name in names if _diverges(lambda: _lines()[name])), "")  # noqa: B023  # called at once
    mutant.put_in_import()
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
        from antiphon.recording.verify import verify_lines

        return not verify_lines(read()).is_same
    except Exception:
        return True  # `replay verify` would say that it cannot be read, or end in a traceback


@cache
def _lines() -> Mapping[str, Sequence[Any]]:
    from antiphon.recording.files import read_lines

    return {path.name: list(read_lines(path)) for path in runs.recordings()}


def _tested_near(_: Runs, is_early: bool, fate: Fate) -> Fate:
    """Run the test files that are named after the mutant's file or import it, whole, the most telling ones first."""
    files = near(fate.mutant.file, is_early)
    if not files:
        return fate
    found = in_fork(lambda: _fails(files, is_early, fate.mutant, _NEAR_S_MAX), 30 + int(3 * _NEAR_S_MAX))
    if isinstance(found, DidNotEnd):
        return replace(fate, tested_by=DOES_NOT_END, tests=len(files))
    return replace(fate, tested_by="" if found and _is_flaky(found, is_early) else found, tests=len(files))


def near(file: str, is_early: bool) -> list[str]:
    """Return the test files named after a file, then those of its room that import it, its folder, other importers.

    Files that import least come first. For what is declared, the tests of all declarations are there too.
    """
    path = Path(file.removeprefix("shared/antiphon_shared/"))
    room = f"tests/{file.partition('/')[0]}/"
    folders = tuple(f"{floor}/{path.parent}/" for floor in ("tests", "tests/shared"))
    importing = _importing().get(file, ())
    declared = _OF_DECLARATIONS if is_early else ()

    def distance(test: str) -> tuple[bool, bool, bool, bool, int]:
        is_there = test.startswith(folders)
        is_own = is_there and test.endswith(f"/test_{path.stem}.py")
        imports = test in declared or (test.startswith((room, *folders)) and test in importing)
        is_direct = str(Path(test).parent) + "/" in folders
        return not is_own, not imports, not is_direct, not is_there, len(_imports()[test])

    found = {*importing, *declared, *(one for one in _imports() if one.startswith(folders))}
    return sorted((one for one in found if not one.startswith(runs.ELSEWHERE)), key=distance)


def _tested(tests: Runs, is_early: bool, fate: Fate) -> Fate:
    mutant = fate.mutant
    wanted = _tests_of(mutant, tests, is_early)
    fate = replace(fate, tests=len(wanted))
    for _ in range(_FLAKY_MAX):
        if not wanted:
            break
        limit_s = 30 + int(3 * sum(tests.seconds[test] for test in wanted))
        found = in_fork(lambda: _fails(wanted, is_early, mutant), limit_s)  # noqa: B023  # called at once
        if isinstance(found, DidNotEnd):
            return replace(fate, tested_by=DOES_NOT_END)
        if not found or not _is_flaky(found, is_early):
            return replace(fate, tested_by=found)
        wanted = [test for test in wanted if test != found]
    return fate


def _fails(tests: Sequence[str], is_early: bool, mutant: Mutant | None, seconds_max: float = inf) -> str:
    """Return the first test that fails, with a mutant or without."""
    if mutant is not None:
        mutant.put_in_import() if is_early else mutant.put_in_place()
    try:
        runs.import_product()
    except Exception as error:
        return f"import: {type(error).__name__}"
    first = _First(seconds_max)
    try:
        code = runs.run_tests(["-x", *tests], first)
    except BaseException as error:  # of a mutant that pytest itself cannot bear
        return f"raises: {type(error).__name__}"
    return first.failed or ("" if code == pytest.ExitCode.OK or first.is_over else f"pytest: {code}")


def _is_flaky(test: str, is_early: bool) -> bool:
    """Whether a test fails also without the mutant, as one may on a busy machine."""
    if "::" not in test:
        return False
    return bool(in_fork(lambda: _fails([test], is_early, None), 120))


class _First:
    """Notes the first test that fails, and begins no other one when time is up."""

    failed = ""
    is_over = False

    def __init__(self, seconds_max: float) -> None:
        self._until_s = process_time() + seconds_max

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self.failed:
            self.failed = report.nodeid

    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        if process_time() > self._until_s:
            item.session.shouldstop = "time is up"
            self.is_over = True


def _tests_of(mutant: Mutant, tests: Runs, is_early: bool) -> list[str]:
    found = dict.fromkeys(_by_lines(tests.tests, mutant))
    if is_early:
        named = [place for place in _places_of(mutant.name) if mutant.name]
        found |= dict.fromkeys(test for place in named for test in tests.tests.get(place, ()))
        beside = [test for (file, _), some in tests.tests.items() if file == mutant.file for test in some]
        found |= dict.fromkeys(beside)
        importing = tuple(f"{file}::" for file in (*_OF_DECLARATIONS, *_importing().get(mutant.file, ())))
        found |= dict.fromkeys(test for test in tests.seconds if test.startswith(importing))
    chosen: list[str] = []
    spent_s = 0.0
    for test in sorted(found, key=partial(_distance, mutant.file, tests)):
        spent_s += tests.seconds[test]
        if spent_s > _TESTS_S_MAX:
            break
        chosen.append(test)
    return chosen


def _distance(file: str, tests: Runs, test: str) -> tuple[bool, bool, bool, int]:
    """Return how far a test is from a file.

    First its own tests, then those whose file imports it or that hold what is declared, those of its folder, and then
    those that run least else.
    """
    path = Path(file.removeprefix("shared/antiphon_shared/"))
    room = "tests/shared" if file.startswith("shared/") else "tests"
    is_own = f"/test_{path.stem}.py::" in test
    importing = (*_OF_DECLARATIONS, *_importing().get(file, ()))
    is_near = test.partition("::")[0] in importing
    return not is_own, not is_near, not test.startswith(f"{room}/{path.parent}/"), tests.reach[test]


def _by_lines(by_line: Mapping[tuple[str, int], Sequence[str]], mutant: Mutant) -> list[str]:
    lines = (by_line.get((mutant.file, line), ()) for line in sorted(mutant.lines))
    return list(dict.fromkeys(name for names in lines for name in names))


def _places_of(name: str) -> Sequence[tuple[str, int]]:
    """Where the product names something."""
    return _named().get(name, ())


@cache
def _named() -> Mapping[str, Sequence[tuple[str, int]]]:
    found: dict[str, list[tuple[str, int]]] = {}
    for file in runs.files():
        for node in ast.walk(ast.parse((ROOT / file).read_text())):
            match node:
                case ast.Name(id=name) | ast.Attribute(attr=name):
                    found.setdefault(name, []).append((file, node.lineno))
                case ast.keyword(arg=str(name)):
                    found.setdefault(name, []).append((file, node.lineno))
    return found


@cache
def _importing() -> Mapping[str, Sequence[str]]:
    """The test files that import a file of the product."""
    by_module = {
        file.removeprefix("shared/").removesuffix(".py").replace("/", "."): file for file in runs.files()
    }
    found: dict[str, list[str]] = {}
    for test, names in _imports().items():
        for name in names:
            if file := by_module.get(name):
                found.setdefault(file, []).append(test)
    return found


@cache
def _imports() -> Mapping[str, set[str]]:
    """What each file of tests imports."""
    paths = sorted((ROOT / "tests").rglob("test_*.py"))
    return {str(path.relative_to(ROOT)): _imported_by(ast.parse(path.read_text())) for path in paths}


def _imported_by(tree: ast.Module) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                found |= {one.name for one in names}
            case ast.ImportFrom(module=str(module), names=names):
                found |= {module, *(f"{module}.{one.name}" for one in names)}
    return found


def _numbered(work: Callable[[Any], Any], numbered: tuple[int, Any]) -> tuple[int, Any]:
    return numbered[0], work(numbered[1])


def _drawn(seed: int, place: tuple[str, int]) -> Mutant | None:
    return drawn(*place, Random(f"{seed} {place}"))


def say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
