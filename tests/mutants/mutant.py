"""Mutants: a function of the product with one character changed, put in its place in this process."""

import ast
import importlib
import io
import tokenize
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from inspect import getsource
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

_OTHER = {
    "<": ">",
    ">": "<",
    "+": "-",
    "-": "+",
    "*": "/",
    "%": "+",
    "==": "!=",
    "!=": "==",
    "<=": "<",
    ">=": ">",
}
"""What one character makes of an operator. `<=` and `>=` lose theirs."""


@dataclass(frozen=True)
class Mutant:
    """One character of one function, changed."""

    module: str
    function: str
    """Its name, with that of its class before it."""
    line: int
    before: str
    after: str
    """The line, without its margin."""
    code: CodeType

    def __str__(self) -> str:
        return f"{self.module}.{self.function}:{self.line}: {self.before}  ->  {self.after}"

    @property
    def rank(self) -> bytes:
        """Its place in a lottery that a change elsewhere in the file does not touch."""
        return blake2b(f"{self.module} {self.function} {self.before} {self.after}".encode()).digest()

    @contextmanager
    def in_place(self, ran: list[None]) -> Iterator[None]:
        """The product with this mutant in it; `ran` gets an item whenever its function begins."""
        function = _function(importlib.import_module(self.module), self.function)
        original, own = function.__code__, function.__globals__
        function.__code__, own[_RAN] = self.code, ran
        try:
            yield
        finally:
            function.__code__ = original
            del own[_RAN]


_RAN = "_mutant_ran"


def mutants_of(name: str) -> Iterator[Mutant]:
    """Every mutant of a module's functions that Python takes, and that is other code than the original."""
    module = importlib.import_module(name)
    source = getsource(module)
    lines = source.splitlines(keepends=True)
    functions = dict(_functions(ast.parse(source)))
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        (row, column), (_, end) = token.start, token.end
        function = next((f for f, node in functions.items() if _is_within(node, row, column)), None)
        changed = _changed(token)
        if function is None or changed is None or token.start[0] != token.end[0]:
            continue
        line = lines[row - 1][:column] + changed + lines[row - 1][end:]
        code = _code("".join([*lines[: row - 1], line, *lines[row:]]), function)
        if code is not None and _is_other(code, _code(source, function)):
            before, after = lines[row - 1].strip(), line.strip()
            yield Mutant(name, function, row, before, after, code)


def lines_of(name: str) -> tuple[Path, range]:
    """A module's file, and its lines."""
    module = importlib.import_module(name)
    file = Path(str(module.__file__))
    return file, range(1, len(file.read_text().splitlines()) + 1)


def _changed(token: tokenize.TokenInfo) -> str | None:
    """The token with one character changed; None where that would not be worth it."""
    text = token.string
    match token.type:
        case tokenize.NUMBER if text[-1].isdigit():
            return text[:-1] + str((int(text[-1]) + 1) % 10)
        case tokenize.OP:
            return _OTHER.get(text)
        case tokenize.STRING if text[:1] in "\"'" and len(text) > 3 and text[1].isalpha():
            return text[0] + chr(ord(text[1]) ^ 1) + text[2:] if (chr(ord(text[1]) ^ 1)).isalpha() else None
        case _:
            return None


def _functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    """Functions and methods, by their name; those inside them belong to them."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            yield f"{prefix}{node.name}", node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{prefix}{node.name}.")


def _is_within(function: ast.FunctionDef, row: int, column: int) -> bool:
    """Whether a place is in the function's body, beyond its docstring."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    if not body:
        return False
    first, last = body[0], body[-1]
    begin = (first.lineno, first.col_offset)
    return begin <= (row, column) < (last.end_lineno or 0, last.end_col_offset or 0)


def _code(source: str, function: str) -> CodeType | None:
    """The function's code, which tells when it is run; None when Python does not take the source."""
    try:
        tree = ast.parse(source)
        node = dict(_functions(tree))[function]
        told = ast.parse(f"{_RAN}.append(None)").body[0]
        for part in ast.walk(told):
            part.lineno = part.end_lineno = node.body[0].lineno  # type: ignore[attr-defined]
            part.col_offset = part.end_col_offset = 0  # type: ignore[attr-defined]
        node.body.insert(1 if ast.get_docstring(node) else 0, told)
        module = compile(tree, function, "exec")
    except (SyntaxError, ValueError, KeyError):
        return None
    code: CodeType = module
    for name in function.split("."):
        code = next(one for one in code.co_consts if isinstance(one, CodeType) and one.co_name == name)
    return code


def _is_other(code: CodeType, original: CodeType | None) -> bool:
    return original is None or code.co_code != original.co_code or code.co_consts != original.co_consts


def _function(module: ModuleType, name: str) -> FunctionType:
    found: Any = module
    for part in name.split("."):
        found = found.__dict__[part]
    match found:
        case property(fget=FunctionType() as getter):
            return getter
        case cached_property(func=FunctionType() as function):
            return function
        case staticmethod() | classmethod():
            return _plain(found.__func__)
        case _:
            return _plain(found)


def _plain(function: Any) -> FunctionType:
    plain = getattr(function, "__wrapped__", function)
    assert isinstance(plain, FunctionType)
    return plain
