"""A mutant, which is one change at one site of a module, and its installation in this process."""

import ast
import gc
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.machinery import SourceFileLoader
from pathlib import Path
from random import Random
from types import CodeType, FunctionType
from typing import Any

from tests.mutants.sites import Kind, Site, sites_of

ROOT = Path(__file__).parents[2]
_SHOWN_MAX = 100


@dataclass(frozen=True)
class Mutant:
    """One change. Processes that read the same source derive the same mutant from it."""

    file: str
    """Relative to the root of the repository."""
    place: int
    way: int
    kind: Kind
    line: int
    lines: frozenset[int]
    """The lines of the changed statement."""
    function: str
    name: str
    is_wording: bool
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.kind}: {self.before}  ->  {self.after}"

    @property
    def key(self) -> str:
        """The mutant's key, which is stable while its function does not change."""
        return f"{self.file} {self.function or self.name}: {self.before} -> {self.after}"

    def code(self) -> CodeType:
        """Return the code of the whole module, changed."""
        return changed(self.file, [self])

    @property
    def is_there(self) -> bool:
        """True if the site still has the code that the mutant changes; an edit of the source may have replaced it."""
        try:
            tree, site = _site(self.file, self.place)
            shown = _Shown(tree, site.node)
            site.ways[self.way]()
        except (IndexError, FileNotFoundError):
            return False
        return (site.line, *shown.both()) == (self.line, self.before, self.after)

    @property
    def needs_import(self) -> bool:
        """True if the changed code runs at the import of its module, or cannot be exchanged afterwards."""
        if not self.function:
            return True
        ours, other = (_within(code, self.function) for code in (_original(self.file), self.code()))
        return ours is None or other is None or ours.co_freevars != other.co_freevars

    def install(self) -> None:
        """Exchange the code of every function of this process that has the changed code."""
        ours, other = (_within(code, self.function) for code in (_original(self.file), self.code()))
        assert ours is not None
        assert other is not None
        gc.unfreeze()  # what is frozen is not found
        found = [one for one in gc.get_objects() if isinstance(one, FunctionType) and _is(one.__code__, ours)]
        assert found, f"no function has the code of {self}"
        for function in found:
            function.__code__ = other

    def install_at_import(self) -> None:
        """Install the mutant in place of the module at its import."""
        code, path, read = self.code(), str(ROOT / self.file), SourceFileLoader.get_code

        def get_code(loader: Any, name: str) -> CodeType | None:
            return code if loader.path == path else read(loader, name)

        SourceFileLoader.get_code = get_code  # type: ignore[assignment, method-assign]  # in a fork alone


def sites(file: str) -> list[Site]:
    return sites_of(ast.parse((ROOT / file).read_text()))


def changed(file: str, mutants: Sequence[Mutant]) -> CodeType:
    """Return the code of a module with mutants of different functions."""
    tree = ast.parse((ROOT / file).read_text())
    found = sites_of(tree)
    for one in mutants:
        found[one.place].ways[one.way]()
    return compile(ast.fix_missing_locations(tree), str(ROOT / file), "exec")


def drawn(file: str, place: int, random: Random) -> Mutant | None:
    """Return a mutant with a random change of a site, or None if none of them changes the code."""
    tree, site = _site(file, place)
    original = _original(file)
    ways = list(range(len(site.ways)))
    random.shuffle(ways)
    for way in ways:
        tree, site = _site(file, place)
        shown = _Shown(tree, site.node)
        site.ways[way]()
        try:
            code = compile(ast.fix_missing_locations(tree), str(ROOT / file), "exec")
        except (SyntaxError, ValueError):
            continue
        if _is_other(code, original):
            first, last = site.statement
            lines = frozenset((*range(first, last + 1), site.line))
            names = site.function, site.name, site.is_wording
            return Mutant(file, place, way, site.kind, site.line, lines, *names, *shown.both())
    return None


class _Shown:
    """The expression or statement around a site, without the change and with it."""

    def __init__(self, tree: ast.AST, node: ast.AST) -> None:
        parents = {id(child): parent for parent in ast.walk(tree) for child in ast.iter_child_nodes(parent)}
        around = parents[id(node)]
        while not isinstance(around, ast.expr | ast.stmt | ast.Module):
            around = parents[id(around)]
        self._around = around
        self._before = self._text()

    def both(self) -> tuple[str, str]:
        """Return the text around the first difference, before and after the change."""
        before, after = self._before, self._text()
        pairs = enumerate(zip(before, after, strict=False))
        differs = next((n for n, (one, other) in pairs if one != other), min(len(before), len(after)))
        begin = max(0, differs - _SHOWN_MAX // 2)
        return before[begin : begin + _SHOWN_MAX], after[begin : begin + _SHOWN_MAX]

    def _text(self) -> str:
        return " ".join(ast.unparse(self._around).split())


def _site(file: str, place: int) -> tuple[ast.Module, Site]:
    tree = ast.parse((ROOT / file).read_text())
    return tree, sites_of(tree)[place]


@cache
def _original(file: str) -> CodeType:
    return compile((ROOT / file).read_text(), str(ROOT / file), "exec")


def _within(code: CodeType, name: str) -> CodeType | None:
    return next((one for one in _codes(code) if one.co_qualname == name), None)


def _codes(code: CodeType) -> Iterator[CodeType]:
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield one
            yield from _codes(one)


def _is(code: CodeType, other: CodeType) -> bool:
    return (code.co_filename, code.co_qualname, code.co_firstlineno) == (
        other.co_filename,
        other.co_qualname,
        other.co_firstlineno,
    )


def _is_other(code: CodeType, original: CodeType) -> bool:
    def shape(one: CodeType) -> object:
        constants = tuple(shape(c) if isinstance(c, CodeType) else (type(c), repr(c)) for c in one.co_consts)
        return one.co_code, constants, one.co_names, one.co_exceptiontable

    return shape(code) != shape(original)
