"""The recordings run nearly every line of the decisions, so that some session checks each change."""

import json
import subprocess
import sys
from collections import Counter
from functools import cache
from typing import Any

from tests.antiphon.cli.test_start import HEAVY
from tests.antiphon.conftest import clean_environment
from tests.recordings.cover import Candidate, chosen
from tests.recordings.lines_run import Position, all_lines, functions_of, source_of
from tests.recordings.out_of_reach import OUT_OF_REACH, out_of_reach
from tests.recordings.pure_modules import PACKAGES, ROOT, pure_modules
from tests.rows import each_row

SHARE_MIN = 0.95


@cache
def verified() -> dict[str, Any]:
    """Return the lines and imports of a fresh process that verifies every recording."""
    command = [sys.executable, "-m", "tests.recordings.all_verified"]
    done = subprocess.run(
        command, cwd=ROOT, env=clean_environment(), capture_output=True, check=True, timeout=290
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def run() -> frozenset[Position]:
    return frozenset(Position(*position) for position in verified()["lines"])


def test_recordings_run_nearly_all_lines_of_the_decisions() -> None:
    reachable = all_lines() - out_of_reach()
    missing = sorted(reachable - run())
    share = 1 - len(missing) / len(reachable)
    listed = [f"{position.module}:{position.line}: {source_of(position)}" for position in missing]
    assert share >= SHARE_MIN, f"{share:.1%} of {len(reachable)} lines; not run:\n" + "\n".join(listed)


def test_no_recording_needs_an_import_that_verifying_does_without() -> None:
    """Verification reads replies and errors of models without the SDK."""
    assert not {*verified()["packages"]}.intersection(HEAVY)


def test_no_module_is_left_to_the_others() -> None:
    """At least half of the lines of each module run, so that no module hides behind the total share."""
    reachable = all_lines() - out_of_reach()
    of, missing = (
        Counter(position.module for position in positions) for positions in (reachable, reachable - run())
    )
    assert [module for module in of if missing[module] > of[module] / 2] == []


@each_row("function", [one for functions in OUT_OF_REACH.values() for one in functions])
def test_no_recording_runs_a_line_listed_as_unreachable(function: str) -> None:
    module, _, name = function.rpartition(".")
    lines = {Position(module, line) for line in functions_of(module)[name]}
    assert sorted(lines & run()) == []


def test_every_module_that_decides_is_looked_at() -> None:
    assert set(PACKAGES) == {
        package for package in PACKAGES if any(name.startswith(package) for name in pure_modules())
    }
    assert "coordinator/decide" in pure_modules()
    assert all(path.is_relative_to(ROOT) for path in pure_modules().values())


def test_the_smallest_set_covers_the_lines_of_all() -> None:
    candidates = {
        "large": Candidate(100, frozenset("abcd")),
        "small": Candidate(10, frozenset("ab")),
        "other": Candidate(10, frozenset("cd")),
        "needless": Candidate(10, frozenset("a")),
        "named": Candidate(50, frozenset("a")),
    }
    assert chosen(candidates, kept=["named"]) == ["named", "other", "small"]
