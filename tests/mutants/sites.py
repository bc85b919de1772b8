"""The sites of a module at which mutants can be made, and the mutants: small changes of its syntax tree.

All sites have the same weight, also if no test detects their changes. Excluded are imports, annotations, type aliases
and docstrings, which are no code, and statements that bind a name: without them every run fails.
"""

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, NamedTuple

from tests.mutants.changes import ARITHMETIC, COMPARISONS, drop, other_constants, put, swap
from tests.mutants.code import (
    FUNCTIONS,
    NOT_CODE,
    can_be_dropped,
    is_about_types,
    is_log,
    is_text,
    is_type,
    is_wording,
    name_of,
    names_bound,
    own_lines,
)

Kind = Literal["operator", "constant", "table", "statement", "arguments"]
Change = Callable[[], object]


@dataclass(frozen=True)
class Site:
    """One site, and its possible changes."""

    kind: Kind
    line: int
    statement: tuple[int, int]
    """First and last line of the statement, without the block below it."""
    function: str
    """The qualified name of the outermost function around the site; empty for code that runs at import."""
    name: str
    """Sites named by the statement around them outside of a function: a constant, a field, the function itself."""
    is_wording: bool
    """Whether the site is in a raised error, a log line, or the description of an option or field."""
    node: ast.AST = field(compare=False)
    ways: tuple[Change, ...] = field(compare=False)
    """Functions that change the tree in which the site was found."""


class _At(NamedTuple):
    """The position of the walk through the tree."""

    function: str = ""
    path: str = ""
    name: str = ""
    statement: tuple[int, int] = (0, 0)
    is_wording: bool = False
    is_log: bool = False
    bound: frozenset[str] = frozenset()
    """Names that the enclosing function has bound before."""


def sites_of(tree: ast.Module) -> list[Site]:
    """Return all sites of a module, in the order of its source."""
    return list(_body(tree, "body", _At()))


def _body(owner: ast.AST, block: str, at: _At) -> Iterator[Site]:
    statements: list[ast.stmt] = getattr(owner, block)
    for n, statement in enumerate(statements):
        if isinstance(statement, NOT_CODE) or is_text(statement) or is_about_types(statement, at.function):
            continue
        here = at._replace(
            statement=own_lines(statement), is_wording=is_wording(statement), is_log=is_log(statement)
        )
        if not at.function:
            here = here._replace(name=name_of(statement) or at.name)
        is_last = isinstance(owner, FUNCTIONS) and n == len(statements) - 1
        if can_be_dropped(statement, at.function, at.bound, is_last):
            yield _site("statement", statement, here, partial(put, owner, block, n, ast.Pass()))
        yield from _statement(statement, here)
        at = at._replace(bound=at.bound | set(names_bound(statement)))


def _statement(statement: ast.stmt, at: _At) -> Iterator[Site]:
    match statement:
        case ast.ClassDef(name=name):
            yield from _body(statement, "body", at._replace(path=f"{at.path}{name}."))
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            yield from _function(statement, at)
        case _:
            yield from _fields(statement, at)


def _function(function: ast.FunctionDef | ast.AsyncFunctionDef, at: _At) -> Iterator[Site]:
    for block in ("defaults", "kw_defaults"):
        for n in range(len(getattr(function.args, block))):
            yield from _expression(function.args, block, n, at)
    for n in range(len(function.decorator_list)):
        yield from _expression(function, "decorator_list", n, at)
    arguments = function.args
    given = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    bound = at.bound | {one.arg for one in given}
    outermost = at.function or f"{at.path}{function.name}"
    yield from _body(function, "body", at._replace(function=outermost, bound=bound))


def _fields(node: ast.AST, at: _At) -> Iterator[Site]:
    """Yield the positions of all parts of a node."""
    for block, value in ast.iter_fields(node):
        if block in ("annotation", "returns", "format_spec", "ctx"):
            continue
        if isinstance(value, list):
            if value and isinstance(value[0], ast.stmt):
                yield from _body(node, block, at)
                continue
            for n, one in enumerate(value):
                if isinstance(one, ast.match_case):
                    if len(value) > 1:
                        left_out = partial(put, one, "body", None, [ast.Pass()])
                        yield _site("statement", one, at._replace(statement=own_lines(one)), left_out)
                    yield from _fields(one, at._replace(statement=own_lines(one)))
                elif isinstance(one, ast.ExceptHandler):
                    yield from _fields(one, at._replace(statement=own_lines(one)))
                elif isinstance(one, ast.AST):
                    yield from _expression(node, block, n, at)
        elif isinstance(value, ast.AST):
            yield from _expression(node, block, None, at)


def _expression(owner: ast.AST, block: str, n: int | None, at: _At) -> Iterator[Site]:
    node = getattr(owner, block) if n is None else getattr(owner, block)[n]
    if node is None or is_type(node):
        return
    put_here = partial(put, owner, block, n)
    if isinstance(node, ast.keyword) and node.arg in _WORDING:
        at = at._replace(is_wording=True)
    is_test = block == "test" or block == "guard" or (block == "ifs" and isinstance(owner, ast.comprehension))
    if is_test and not isinstance(node, ast.Compare | ast.BoolOp | ast.UnaryOp | ast.Constant):
        yield _site("operator", node, at, partial(put_here, ast.UnaryOp(ast.Not(), node)))
    match node:
        case ast.Compare(ops=operators):
            for place, operator in enumerate(operators):
                others = COMPARISONS[type(operator)]
                yield _site("operator", node, at, *(partial(put, node, "ops", place, o()) for o in others))
        case ast.BoolOp(op=operator, values=values):
            other = ast.Or() if isinstance(operator, ast.And) else ast.And()
            drops: Iterable[Change] = (partial(drop, node, ("values",), p) for p in range(len(values)))
            if len(values) == 2:
                drops = (partial(put_here, one) for one in values)
            yield _site("operator", node, at, partial(put, node, "op", None, other), *drops)
        case ast.BinOp(left=left, right=right, op=operator):
            if any(isinstance(one, _SEQUENCES) for one in (left, right)):
                yield _site("operator", node, at, partial(put_here, left), partial(put_here, right))
            elif type(operator) in ARITHMETIC:
                yield _site(
                    "operator", node, at, partial(put, node, "op", None, ARITHMETIC[type(operator)]())
                )
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert(), operand=operand):
            yield _site("operator", node, at, partial(put_here, operand))
        case ast.Constant(value=value):
            changed = list(other_constants(value))
            if changed:
                yield _site("constant", node, at, *(partial(put_here, ast.Constant(one)) for one in changed))
        case ast.Dict(values=values):
            for place, one in enumerate(values):
                yield _site("table", one, at, partial(drop, node, ("keys", "values"), place))
        case ast.Set(elts=elements):
            for place, one in enumerate(elements if len(elements) > 1 else ()):
                yield _site("table", one, at, partial(drop, node, ("elts",), place))
        case ast.Tuple(elts=elements) | ast.List(elts=elements) if _is_table(node, owner):
            for place, one in enumerate(elements):
                yield _site("table", one, at, partial(drop, node, ("elts",), place))
        case ast.Call(func=called, args=args) if not (
            isinstance(called, ast.Name) and called.id in _BUILT_IN
        ):
            pairs = [p for p in range(len(args) - 1) if ast.dump(args[p]) != ast.dump(args[p + 1])]
            if pairs:
                yield _site("arguments", node, at, *(partial(swap, args, p) for p in pairs))
    yield from _fields(node, at)


_BUILT_IN = ("isinstance", "issubclass", "getattr", "hasattr", "setattr", "max", "min")
"""Functions whose swapped arguments are always wrong, or equivalent."""
_WORDING = ("description", "help", "hint")
_SEQUENCES = (ast.JoinedStr, ast.List, ast.Tuple)


def _is_table(node: ast.Tuple | ast.List, owner: ast.AST) -> bool:
    """Return whether the tuple is a list of items rather than values that are passed together."""
    if not isinstance(node.ctx, ast.Load) or isinstance(owner, ast.Subscript | ast.Return | ast.Yield):
        return False
    return not (isinstance(owner, ast.Assign) and isinstance(owner.targets[0], ast.Tuple))


def _site(kind: Kind, node: ast.AST, at: _At, *ways: Change) -> Site:
    line = getattr(node, "lineno", at.statement[0])
    is_wording = at.is_wording and (kind == "constant" or at.is_log)
    return Site(kind, line, at.statement, at.function, at.name, is_wording, node, ways)
