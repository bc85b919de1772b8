"""The lines that recordings run, measured once for each state of the sources, and runs of pytest."""

import contextlib
import gc
import hashlib
import importlib
import os
import pickle
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import _lru_cache_wrapper, cache
from pathlib import Path
from typing import Any, TypeVar

import pytest
from coverage import Coverage

from tests.mutants.forks import DidNotEnd, in_fork, spread
from tests.mutants.mutant import ROOT
from tests.recordings.folder import recordings_in

T = TypeVar("T")
R = TypeVar("R")
SourceLine = tuple[str, int]
"""A file, relative to the root, and a line of it."""
FLOORS = (
    "coordinator",
    "reasoning_engine",
    "tool_dispatcher",
    "context_synthesizer",
    "response_assembler",
    "shared/antiphon_shared",
    "antiphon",
)
RECORDINGS = ROOT / "tests" / "recordings"
KEPT = ROOT / ".mutants"
ELSEWHERE = (
    *("tests/benchmarks", "tests/chaos", "tests/docs", "tests/failover", "tests/house", "tests/mutants"),
    *("tests/releases", "tests/soak"),
)
"""Tests of other processes or of the surroundings of the code, and tests that take minutes."""
_IMPORTED = "ignore::pytest.PytestAssertRewriteWarning"
"""The warning that modules were imported before pytest: forks inherit them."""
_IMPORTS_S_MAX = 240
_RECORDING_S_MAX = 120
_ALL_S_MAX = 3600


@dataclass(frozen=True)
class Runs:
    """The recordings that run each line."""

    imported: frozenset[SourceLine] = frozenset()
    """Lines that run when modules are imported or recordings read: their mutants must be installed before that."""
    recordings: Mapping[SourceLine, Sequence[str]] = field(default_factory=dict)
    """By line, the shortest recording first."""


def files() -> list[str]:
    """Return every file of the product."""
    return [str(path.relative_to(ROOT)) for floor in FLOORS for path in sorted((ROOT / floor).rglob("*.py"))]


@cache
def modules() -> tuple[str, ...]:
    """Return the names of all modules except programs, which end a process that imports them."""
    paths = (file.removeprefix("shared/").removesuffix(".py") for file in files())
    names = (path.removesuffix("/__init__").replace("/", ".") for path in paths)
    return tuple(name for name in names if not name.endswith("__main__"))


def must_not_be_imported() -> None:
    """Raise RuntimeError if this process has imported the product: its mutants would never run."""
    if found := sorted(name for name in sys.modules if name.partition(".")[0] in _packages()):
        raise RuntimeError(f"{found[0]} and {len(found) - 1} more modules of the product are imported.")


def import_product() -> None:
    """Import all modules of the product."""
    for name in modules():
        importlib.import_module(name)


def import_foreign() -> None:
    """Import the third-party modules of the product, so that forks inherit them."""

    def foreign() -> list[str]:
        import_product()
        return [
            name for name in sys.modules if name.partition(".")[0] not in {*_packages(), "tests", "__main__"}
        ]

    for name in _got(in_fork(foreign, _IMPORTS_S_MAX)):
        with contextlib.suppress(Exception):
            importlib.import_module(name)


def recordings() -> list[Path]:
    """Return the recordings of the suite, the shortest first."""
    return sorted(recordings_in(RECORDINGS), key=lambda path: path.stat().st_size)


def of_recordings(jobs: int) -> Runs:
    """Return the lines that imports, reading and each recording run. The product must not be imported yet."""
    kept = KEPT / f"recordings-{_digest([*_sources(), *recordings()])}"
    found: Runs | None = _read(kept)
    if found is None:
        found = _of_recordings(jobs)
        _keep(kept, found)
    return found


def _of_recordings(jobs: int) -> Runs:
    run: dict[SourceLine, list[str]] = defaultdict(list)
    shares = [recordings()[share::jobs] for share in range(jobs)]
    done: dict[str, frozenset[SourceLine]] = {}
    for share in _got(in_fork(lambda: _with_product(_run_by_recordings, shares, jobs), _ALL_S_MAX)):
        done |= _got(share)
    for path in recordings():
        for place in done[path.name]:
            run[place].append(path.name)
    return Runs(_got(in_fork(_run_by_reading, _RECORDING_S_MAX)), run)


def _with_product(work: Callable[[T], R], items: Sequence[T], jobs: int) -> list[R]:
    import_product()
    return list(spread(work, items, jobs))


def _run_by_reading() -> frozenset[SourceLine]:
    with _measured() as measured:
        import_product()
        from antiphon.recording.files import read_lines

        for path in recordings():
            list(read_lines(path))
    return frozenset(_lines_of(measured)[""])


def _run_by_recordings(paths: Sequence[Path]) -> dict[str, frozenset[SourceLine]] | DidNotEnd:
    def run() -> dict[str, frozenset[SourceLine]]:
        from antiphon.recording.files import read_lines
        from antiphon.replay.verify import verify_lines

        gc.unfreeze()  # what is frozen is not found
        caches = [one for one in gc.get_objects() if isinstance(one, _lru_cache_wrapper) and _is_ours(one)]
        kept = {path.name: list(read_lines(path)) for path in paths}
        with _measured() as measured:
            for name, lines in kept.items():
                for cache in caches:
                    cache.cache_clear()  # what one recording has had computed, the next one computes again
                measured.switch_context(name)
                assert verify_lines(lines).is_same, f"{name} is not the same without any mutant"
        lines_by_context = _lines_of(measured)
        return {name: frozenset(lines_by_context[name]) for name in kept}

    return in_fork(run, _ALL_S_MAX)


def _is_ours(cached: object) -> bool:
    return str(getattr(cached, "__module__", "")).partition(".")[0] in _packages()


@cache
def _packages() -> frozenset[str]:
    return frozenset(name.partition(".")[0] for name in modules())


def run_tests(arguments: Sequence[str], *plugins: object) -> int:
    """Run pytest in this process, silently. Returns its exit code."""
    options = ["-q", "-p", "no:cacheprovider", "--rootdir", str(ROOT), "-W", _IMPORTED]
    with contextlib.ExitStack() as silent:
        nowhere = silent.enter_context(Path(os.devnull).open("w"))
        silent.enter_context(contextlib.redirect_stdout(nowhere))
        silent.enter_context(contextlib.redirect_stderr(nowhere))
        return int(pytest.main([*options, *arguments], plugins=plugins))


@contextlib.contextmanager
def _measured() -> Iterator[Coverage]:
    measured = Coverage(data_file=None, config_file=False, include=[f"{ROOT / floor}/*" for floor in FLOORS])
    with measured.collect():
        yield measured


def _lines_of(measured: Coverage) -> Mapping[str, set[SourceLine]]:
    data, found = measured.get_data(), defaultdict[str, set[SourceLine]](set)
    for file in data.measured_files():
        name = str(Path(file).relative_to(ROOT))
        for line, contexts in data.contexts_by_lineno(file).items():
            for context in contexts:
                found[context].add((name, line))
    return found


def _sources() -> list[Path]:
    return [
        path
        for floor in FLOORS
        for path in sorted((ROOT / floor).rglob("*"))
        if path.suffix in (".py", ".lua")
    ]


def _digest(paths: Sequence[Path]) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for path in paths:
        digest.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def _read(path: Path) -> Any:
    return pickle.loads(path.read_bytes()) if path.exists() else None  # it was written here


def _keep(path: Path, value: object) -> None:
    KEPT.mkdir(exist_ok=True)
    path.write_bytes(pickle.dumps(value))


def _got(result: Any) -> Any:
    if isinstance(result, DidNotEnd):
        raise RuntimeError("what is not changed did not run; see above")
    return result
