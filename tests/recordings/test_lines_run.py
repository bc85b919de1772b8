"""The recordings run nearly every line of the decisions, so that a session checks each change."""

from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path

from antiphon.recording.files import read_lines
from tests.recordings.cover import Candidate, chosen
from tests.recordings.folder import FOLDER, recordings_in
from tests.recordings.lines_run import Place, all_lines, functions_of, lines_run, source_of
from tests.recordings.out_of_reach import OUT_OF_REACH, out_of_reach
from tests.recordings.pure_modules import PACKAGES, ROOT, pure_modules
from tests.rows import each_row

EARLIER = Path(__file__).parents[1] / "releases" / "recordings"
SHARE_MIN = 0.95


@cache
def run() -> frozenset[Place]:
    """Return the lines run, measured in a separate process, independent of the state of this one."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(_run).result()


def _run() -> frozenset[Place]:
    paths = [*recordings_in(FOLDER), *recordings_in(EARLIER)]
    return lines_run(list(read_lines(path)) for path in paths)


def test_recordings_run_nearly_all_lines_of_the_decisions() -> None:
    reachable = all_lines() - out_of_reach()
    missing = sorted(reachable - run())
    share = 1 - len(missing) / len(reachable)
    listed = [f"{place.module}:{place.line}: {source_of(place)}" for place in missing]
    assert share >= SHARE_MIN, f"{share:.1%} of {len(reachable)} lines; not run:\n" + "\n".join(listed)


def test_no_module_is_left_to_the_others() -> None:
    """At least half of the lines of each are run, so that none hides behind the share of all."""
    reachable = all_lines() - out_of_reach()
    of, missing = (Counter(place.module for place in places) for places in (reachable, reachable - run()))
    assert [module for module in of if missing[module] > of[module] / 2] == []


@each_row("function", [one for functions in OUT_OF_REACH.values() for one in functions])
def test_what_is_said_to_be_out_of_reach_is_run_by_no_recording(function: str) -> None:
    module, _, name = function.rpartition(".")
    lines = {Place(module, line) for line in functions_of(module)[name]}
    assert sorted(lines & run()) == []


def test_every_module_that_decides_is_looked_at() -> None:
    assert set(PACKAGES) == {
        package for package in PACKAGES if any(name.startswith(package) for name in pure_modules())
    }
    assert "coordinator/decide" in pure_modules()
    assert all(path.is_relative_to(ROOT) for path in pure_modules().values())


def test_the_smallest_set_keeps_what_all_have() -> None:
    candidates = {
        "large": Candidate(100, frozenset("abcd")),
        "small": Candidate(10, frozenset("ab")),
        "other": Candidate(10, frozenset("cd")),
        "needless": Candidate(10, frozenset("a")),
        "named": Candidate(50, frozenset("a")),
    }
    assert chosen(candidates, kept=["named"]) == ["named", "other", "small"]
