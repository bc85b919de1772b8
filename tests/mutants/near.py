"""The test files near a mutant's file, run in a fork until one fails."""

import ast
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from math import inf
from pathlib import Path
from time import process_time

import pytest

from tests.mutants import runs
from tests.mutants.forks import DidNotEnd, in_fork
from tests.mutants.mutant import ROOT, Mutant

DOES_NOT_END = "does not end"
_OF_DECLARATIONS = ("tests/shared/test_shapes.py", "tests/antiphon/test_settings_table.py")
"""Tests of all defaults, bounds and words in declarations; they run no lines of theirs."""
_NEAR_S_MAX = 30.0
"""Seconds of CPU time after which no further test begins."""


def tested_near(files: Sequence[str], is_early: bool, mutant: Mutant) -> str:
    """Return the first test of these files that fails with the mutant and passes without it; empty if there is none."""
    found = in_fork(lambda: _fails(files, is_early, mutant, _NEAR_S_MAX), 30 + int(3 * _NEAR_S_MAX))
    if isinstance(found, DidNotEnd):
        return DOES_NOT_END
    return "" if found and _is_flaky(found, is_early) else found


def near(file: str, is_early: bool) -> list[str]:
    """Return the test files named after a file, then those of its room that import it, its folder, other importers.

    Files with the fewest imports come first. For declarations, the tests of all declarations are added. If no test
    imports the file, the tests of its importers are used.
    """
    path = Path(file.removeprefix("shared/antiphon_shared/"))
    folder = f"tests/{file.partition('/')[0]}/"
    folders = tuple(f"{floor}/{path.parent}/" for floor in ("tests", "tests/shared"))
    importing = _tests_importing(file)
    declared = _OF_DECLARATIONS if is_early else ()

    def distance(test: str) -> tuple[bool, bool, bool, bool, int]:
        is_there = test.startswith(folders)
        is_own = is_there and test.endswith(f"/test_{path.stem}.py")
        imports = test in declared or (test.startswith((folder, *folders)) and test in importing)
        is_direct = str(Path(test).parent) + "/" in folders
        return not is_own, not imports, not is_direct, not is_there, len(_imports()[test])

    found = {*importing, *declared, *(one for one in _imports() if one.startswith(folders))}
    return sorted((one for one in found if not one.startswith(runs.ELSEWHERE)), key=distance)


def _fails(tests: Sequence[str], is_early: bool, mutant: Mutant | None, seconds_max: float = inf) -> str:
    """Return the first test that fails, with or without a mutant."""
    if mutant is not None:
        mutant.install_at_import() if is_early else mutant.install()
    try:
        runs.import_product()
    except Exception as error:
        return f"import: {type(error).__name__}"
    first = _First(seconds_max)
    try:
        code = runs.run_tests(["-o", "addopts=", "-x", *tests], first)
    except BaseException as error:  # of a mutant that pytest itself cannot bear
        return f"raises: {type(error).__name__}"
    return first.failed or ("" if code == pytest.ExitCode.OK or first.is_over else f"pytest: {code}")


def _is_flaky(test: str, is_early: bool) -> bool:
    """Return whether a test also fails without the mutant, which can happen on a busy machine."""
    if "::" not in test:
        return False
    return bool(in_fork(lambda: _fails([test], is_early, None), 120))


class _First:
    """A pytest plugin that notes the first failing test, and begins no test after the time limit."""

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


def _tests_importing(file: str) -> Sequence[str]:
    """Return the test files that import a file, or else that import it through the fewest other files."""
    seen, around = {file}, [file]
    while around:
        if found := sorted({test for one in around for test in _importers().get(one, ()) if _is_test(test)}):
            return found
        around = [user for one in around for user in _importers().get(one, ()) if user not in seen]
        seen.update(around)
    return ()


@cache
def _importers() -> Mapping[str, Sequence[str]]:
    """Return the files of the product and of the tests that import a file of the product, by that file."""
    by_module = {
        file.removeprefix("shared/").removesuffix(".py").replace("/", "."): file for file in runs.files()
    }
    found: dict[str, list[str]] = {}
    for user, names in {**_imports(), **_imports_of(ROOT / one for one in runs.files())}.items():
        for name in names:
            if file := by_module.get(name):
                found.setdefault(file, []).append(user)
    return found


def _is_test(file: str) -> bool:
    return file.startswith("tests/")


@cache
def _imports() -> Mapping[str, set[str]]:
    """Return the imports of each file of tests."""
    return _imports_of(sorted((ROOT / "tests").rglob("test_*.py")))


def _imports_of(paths: Iterable[Path]) -> Mapping[str, set[str]]:
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
