"""The lines of the pure modules that run when a recording is verified.

Only lines inside of functions count: those of modules and classes run whenever they are imported.
"""

import ast
import gc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import _lru_cache_wrapper, cache
from pathlib import Path
from typing import NamedTuple

from coverage import Coverage

from antiphon.recording.lines import Line
from antiphon.replay.verify import verify_lines
from tests.recordings.pure_modules import pure_modules


class Position(NamedTuple):
    """A line, or a jump from one line to another if `to` is not 0."""

    module: str
    line: int
    to: int = 0


def positions_run(recordings: Mapping[str, Sequence[Line]]) -> dict[str, frozenset[Position]]:
    """Return the lines and the jumps between lines that each recording runs, by recording."""
    measured = _measured()
    with measured.collect():
        for name, lines in recordings.items():
            _forget()
            measured.switch_context(name)
            verify_lines(lines)
    return {name: frozenset(_positions(measured, name)) for name in recordings}


def lines_run(recordings: Iterable[Iterable[Line]]) -> frozenset[Position]:
    """Return the lines that any of the recordings runs, which is much quicker."""
    measured = _measured()
    _forget()
    with measured.collect():
        for lines in recordings:
            verify_lines(lines)
    return frozenset(position for position in _positions(measured) if not position.to)


def _measured() -> Coverage:
    files = list(map(str, pure_modules().values()))
    return Coverage(data_file=None, branch=True, include=files, config_file=False)


def _positions(measured: Coverage, context: str | None = None) -> Iterator[Position]:
    """Yield the positions that ran, in total or within a context."""
    data = measured.get_data()
    data.set_query_context(context) if context is not None else data.set_query_contexts(None)
    for module, path in pure_modules().items():
        inside = lines_of(module)
        for start, end in data.arcs(str(path)) or ():
            yield from (Position(module, at) for at in (start, end) if at in inside)
            if start in inside:
                yield Position(module, start, end)


@cache
def functions_of(module: str) -> dict[str, frozenset[int]]:
    """Return the first lines of each function's statements, with those of its inner functions, by function."""
    tree = ast.parse(pure_modules()[module].read_text())
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    found: dict[str, frozenset[int]] = {}
    for one in functions:
        found[one.name] = found.get(one.name, frozenset()).union(_lines(one.body))
    return found


@cache
def lines_of(module: str) -> frozenset[int]:
    """Return the first lines of all statements in a module's functions."""
    return frozenset(line for lines in functions_of(module).values() for line in lines)


def all_lines() -> frozenset[Position]:
    """Return every line that a recording could run."""
    return frozenset(Position(module, line) for module in pure_modules() for line in lines_of(module))


def source_of(position: Position) -> str:
    """Return the text of the line, without its indentation."""
    return _source(pure_modules()[position.module])[position.line - 1].strip()


@cache
def _source(path: Path) -> tuple[str, ...]:
    return tuple(path.read_text().splitlines())


def _lines(body: Iterable[ast.stmt]) -> Iterable[int]:
    for statement in body:
        if not _has_no_effect(statement):
            yield statement.lineno
        for inner in ast.iter_child_nodes(statement):
            if isinstance(inner, ast.stmt):
                yield from _lines([inner])
            elif isinstance(inner, ast.ExceptHandler | ast.match_case):
                yield inner.lineno if isinstance(inner, ast.ExceptHandler) else inner.pattern.lineno
                yield from _lines(inner.body)


def _has_no_effect(statement: ast.stmt) -> bool:
    """Return whether a statement is a docstring, a protocol's `...`, or a declaration that runs at import."""
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    return isinstance(statement, ast.Global | ast.Nonlocal | ast.Pass)


def _forget() -> None:
    """Empty every cache, so that each recording reads its data again."""
    for one in _caches():
        one.cache_clear()


@cache
def _caches() -> tuple["_lru_cache_wrapper[object]", ...]:
    """Return the caches of the pure modules, which must all be imported."""
    names = {name.removeprefix("shared/").replace("/", ".") for name in pure_modules()}
    found = (one for one in gc.get_objects() if isinstance(one, _lru_cache_wrapper))
    return tuple(one for one in found if getattr(one, "__module__", "") in names)
