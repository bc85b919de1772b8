"""The sites and the installation of mutants, and a small sample of mutants in every run."""

import ast
import importlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from tests.mutants import mutant as mutants
from tests.mutants.forks import DID_NOT_END, ForkError, in_fork, spread
from tests.mutants.hunt import Fate, draw
from tests.mutants.mutant import ROOT, drawn, sites
from tests.mutants.near import near
from tests.mutants.result import as_json, fates_in, wilson
from tests.mutants.sites import sites_of
from tests.rows import each_row

SAMPLE, SEED, CAUGHT_MIN = 8, 7, 2
"""A sample this small only detects a collapse; `make mutants` measures the share."""

MODULE = '''"""A module."""
from enum import Enum

LIMITS = {"rounds": 3, "calls": 10}


def is_within(count: int, bounds: dict[str, int] = LIMITS) -> bool:
    """Tell it."""
    if count < 0:
        raise ValueError("less than none")
    return count <= limit(bounds, "rounds")


def limit(bounds: dict[str, int], name: str) -> int:
    return bounds[name]
'''


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "changed_here.py").write_text(MODULE)
    mutants._original.cache_clear()
    return "changed_here.py"


def changed(source: str) -> set[tuple[str, str]]:
    """Return all changes of a source, by kind."""
    found: set[tuple[str, str]] = set()
    for place, site in enumerate(sites_of(ast.parse(source))):
        for way in range(len(site.ways)):
            tree = ast.parse(source)
            sites_of(tree)[place].ways[way]()
            found.add((site.kind, ast.unparse(tree)))
    return found


@each_row(
    ("source", "kind", "after"),
    [
        ("a = b < c", "operator", "a = b <= c"),
        ("a = b and c", "operator", "a = b or c"),
        ("a = b and c", "operator", "a = c"),
        ("a = b + c", "operator", "a = b - c"),
        ("a = not b", "operator", "a = b"),
        ("if b:\n    c()", "operator", "if not b:\n    c()"),
        ("a = 3", "constant", "a = 4"),
        ("a = True", "constant", "a = False"),
        ("a = 'no'", "constant", "a = 'oo'"),
        ("a = {'b': c, **d}", "table", "a = {**d}"),
        ("a = (b, c)", "table", "a = (b,)"),
        ("f(b, c)", "arguments", "f(c, b)"),
        ("def f(a):\n    a.b()\n    return a", "statement", "def f(a):\n    pass\n    return a"),
        (
            "def f(a):\n    if a:\n        return 1\n    g()",
            "statement",
            "def f(a):\n    if a:\n        pass\n    g()",
        ),
    ],
)
def test_a_site_is_changed_by_each_of_its_mutations(source: str, kind: str, after: str) -> None:
    assert (kind, after) in changed(source)


def test_a_mutant_of_an_earlier_run_is_kept_until_its_source_changes(file: str, tmp_path: Path) -> None:
    drawn_then = [one for n in range(len(sites(file))) if (one := drawn(file, n, Random(SEED)))]
    assert all(one.is_there for one in drawn_then)
    (tmp_path / file).write_text(MODULE.replace("count < 0", "not count"))
    assert not all(one.is_there for one in drawn_then)
    (tmp_path / file).write_text("")
    assert not any(one.is_there for one in drawn_then)
    (tmp_path / file).unlink()
    assert not any(one.is_there for one in drawn_then)


@each_row(
    "source",
    [
        '"""A text."""',
        "import a",
        "a: Literal['b']",
        "def f(a: 'int') -> 'str':\n    'A text.'",
        "A = B | None",
        "if TYPE_CHECKING:\n    a = 1",
        "__all__ = ['a']",
        "def f():\n    a = b",
    ],
)
def test_docstrings_and_indispensable_code_are_not_changed(source: str) -> None:
    assert changed(source) == set()


def test_a_seed_draws_the_same_mutants_again_and_another_one_others() -> None:
    files = ["coordinator/decide.py", "coordinator/limits.py"]
    first, again, other = (draw(files, 20, seed, jobs=1) for seed in (1, 1, 2))
    assert list(map(str, first)) == list(map(str, again))
    assert set(map(str, first)) != set(map(str, other))
    assert len({(one.file, one.line) for one in first}) == 20


def test_a_mutant_replaces_the_function_in_every_importing_module(file: str) -> None:
    def limit_of_rounds() -> bool:
        is_within = importlib.import_module("changed_here").is_within

        one = changed_at(file, "count <= limit(bounds, 'rounds')", "count < limit(bounds, 'rounds')")
        one.install()
        return bool(is_within(3))

    assert in_fork(limit_of_rounds, 20) is False


def test_a_mutant_of_import_time_code_is_in_place_before_the_import(file: str) -> None:
    def limit_of_rounds() -> int:
        one = changed_at(file, "{'rounds': 3, 'calls': 10}", "{'rounds': 4, 'calls': 10}")
        assert one.needs_import
        one.install_at_import()
        return int(importlib.import_module("changed_here").LIMITS["rounds"])

    assert in_fork(limit_of_rounds, 20) == 4


def test_the_hunt_itself_imports_nothing_of_the_product() -> None:
    """A mutant of a table or a default must be in place before the module is imported."""
    look = "import tests.mutants.__main__; from tests.mutants import runs; runs.must_not_be_imported()"
    subprocess.run([sys.executable, "-c", look], cwd=ROOT, check=True)


def test_near_are_the_tests_named_after_a_file_then_those_that_import_it_then_its_folder() -> None:
    found = near("coordinator/questions.py", is_early=False)
    assert found[0] == "tests/coordinator/test_questions.py"
    assert near("shared/antiphon_shared/bus/intake.py", is_early=False)[0] == "tests/bus/test_intake.py"
    assert "tests/coordinator/test_decide.py" in near("coordinator/limits.py", is_early=False)


def test_near_a_file_that_no_test_imports_are_the_tests_of_its_importers() -> None:
    found = near("shared/antiphon_shared/workflows/checks/texts.py", is_early=False)
    assert "tests/antiphon/workflows/test_rows.py" in found


def test_the_tests_of_all_declarations_are_near_a_declaration() -> None:
    assert "tests/shared/test_shapes.py" in near("shared/antiphon_shared/tools/contract.py", is_early=True)
    assert "tests/antiphon/test_settings_table.py" in near("coordinator/settings.py", is_early=True)


def changed_at(file: str, before: str, after: str) -> mutants.Mutant:
    found = (drawn(file, place, Random(n)) for place in range(len(sites(file))) for n in range(9))
    return next(one for one in found if one is not None and before in one.before and after in one.after)


def test_a_fork_that_does_not_end_is_ended() -> None:
    def work() -> None:
        while True:
            pass

    assert in_fork(work, limit_s=1) is DID_NOT_END


def test_an_exception_in_a_fork_is_raised_in_the_caller() -> None:
    with pytest.raises(ForkError, match="ZeroDivisionError"):
        in_fork(lambda: 1 // 0, 20)


def test_work_is_spread_over_forks() -> None:
    square: Callable[[int], int] = abs
    assert sorted(spread(square, [-1, -2, -3], jobs=2)) == [1, 2, 3]


def test_the_interval_of_few_samples_is_wide_and_within_zero_and_one() -> None:
    low, high = wilson(40, 40)
    assert (round(low, 3), high) == (0.912, 1.0)
    low, high = wilson(225, 300)
    assert (round(low, 3), round(high, 3)) == (0.698, 0.796)


def test_a_result_is_read_back_unchanged(tmp_path: Path) -> None:
    one = next(found for n in range(99) if (found := drawn("coordinator/limits.py", n, Random(SEED))))
    fates = [
        Fate(one, True),
        Fate(one, False, verified_by="a.jsonl"),
        Fate(one, False, tested_by="a::b", tests=3),
    ]
    (tmp_path / "result.json").write_text(json.dumps(as_json(fates, SEED)))
    assert fates_in(tmp_path / "result.json") == fates


@pytest.mark.long
def test_recordings_catch_mutants_of_lines_that_were_drawn_by_lot(tmp_path: Path) -> None:
    result = tmp_path / "result.json"
    drawn_how = ["--seed", str(SEED), "--number", str(SAMPLE), "--pure", "--verify", "--json", str(result)]
    command = [sys.executable, "-m", "tests.mutants", *drawn_how]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    fates = json.loads(result.read_text())["fates"]
    assert len(fates) == SAMPLE
    assert sum(bool(one["verified_by"]) for one in fates) >= CAUGHT_MIN, done.stdout
