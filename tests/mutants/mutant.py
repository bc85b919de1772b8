"""Mutants: a function of the product with one character changed, put in its place in this process."""

import ast
import copy
import importlib
import io
import tokenize
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from inspect import getsource, isgenerator
from itertools import islice
from pathlib import Path
from types import CodeType, FunctionType, MappingProxyType
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
    def in_place(self) -> Iterator[None]:
        """The product with this mutant in it."""
        function = self._original()
        code = function.__code__
        function.__code__ = self.code
        try:
            yield
        finally:
            function.__code__ = code

    @contextmanager
    def beside(self, differs: Callable[[], object]) -> Iterator[None]:
        """The product as it is; `differs` is called whenever the mutant would have returned something else."""
        function = self._original()
        kept = function.__code__, function.__defaults__, function.__kwdefaults__
        ours, other = _twin(function, function.__code__), _twin(function, self.code)
        own, is_within = function.__globals__, [False]

        def both(arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
            if is_within[0]:
                return ours(*arguments, **named)
            is_within[0] = True
            try:
                given = _copied((arguments, named))
                result = _outcome(ours, arguments, named)
                if given is not None and not _is_same(_outcome(other, *given), result):
                    differs()
            finally:
                is_within[0] = False
            return result.given()

        def trampoline(*arguments: Any, **named: Any) -> Any:
            return _beside_of_mutant(arguments, named)  # type: ignore[name-defined]  # noqa: F821  # it is put into the module

        own[_BESIDE] = both
        function.__defaults__ = function.__kwdefaults__ = None
        function.__code__ = trampoline.__code__
        try:
            yield
        finally:
            function.__code__, function.__defaults__, function.__kwdefaults__ = kept
            del own[_BESIDE]

    def _original(self) -> Any:
        return getattr(importlib.import_module(self.module), self.function)


@dataclass(eq=False)
class _Outcome:
    """What a call has come to: what it returned, all that it yielded, or the kind of what it raised."""

    value: Any = None
    yielded: list[Any] | None = None
    error: BaseException | None = None

    def given(self) -> Any:
        if self.error is not None:
            raise self.error
        return self.value if self.yielded is None else iter(self.yielded)


def _outcome(function: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> _Outcome:
    try:
        value = function(*arguments, **named)
        return _Outcome(yielded=list(islice(value, _YIELDED_MAX))) if isgenerator(value) else _Outcome(value)
    except Exception as error:
        return _Outcome(error=error)


def _copied(value: Any) -> Any:
    """A copy that a call may change; None where there can be none."""
    atomic = copy._deepcopy_dispatch  # type: ignore[attr-defined]  # a read-only view is as good as its copy
    atomic[MappingProxyType] = lambda view, memo: view
    try:
        return copy.deepcopy(value)
    except Exception:
        return None
    finally:
        del atomic[MappingProxyType]


def _is_same(one: Any, other: Any) -> bool:
    """Whether two outcomes are the same, also where they hold objects that are equal to themselves alone."""
    if type(one) is not type(other):
        return False
    if isinstance(one, BaseException):
        return True
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(_is_same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(map(_is_same, one.values(), other.values()))
    has_own = any("__eq__" in vars(kind) for kind in type(one).__mro__[:-1])
    if not has_own and hasattr(one, "__dict__"):
        return _is_same(vars(one), vars(other))
    return bool(one == other)


def _twin(function: FunctionType, code: CodeType) -> FunctionType:
    twin = FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    twin.__kwdefaults__ = function.__kwdefaults__
    return twin


_BESIDE = "_beside_of_mutant"
_YIELDED_MAX = 100_000


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


def _functions(tree: ast.AST) -> Iterator[tuple[str, ast.FunctionDef]]:
    """A module's functions by their names; those inside them belong to them, methods are left out."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef) and not node.decorator_list:
            yield node.name, node


def _is_within(function: ast.FunctionDef, row: int, column: int) -> bool:
    """Whether a place is in the function's body, beyond its docstring."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    if not body:
        return False
    first, last = body[0], body[-1]
    begin = (first.lineno, first.col_offset)
    return begin <= (row, column) < (last.end_lineno or 0, last.end_col_offset or 0)


def _code(source: str, function: str) -> CodeType | None:
    """The function's code; None when Python does not take the source."""
    try:
        code: CodeType = compile(source, function, "exec")
    except (SyntaxError, ValueError):
        return None
    for name in function.split("."):
        code = next(one for one in code.co_consts if isinstance(one, CodeType) and one.co_name == name)
    return code


def _is_other(code: CodeType, original: CodeType | None) -> bool:
    return original is None or code.co_code != original.co_code or code.co_consts != original.co_consts
