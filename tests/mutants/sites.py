"""The places of a module at which a mutant can be made, and the mutants: one small change of its syntax tree.

Every place counts alike, whether anything shows it or not. What is no code is left out: imports, annotations and type
aliases, docstrings; and statements without which a name would not be bound, as that fails wherever it is run.
"""

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, NamedTuple

Kind = Literal["operator", "constant", "table", "statement", "arguments"]
Change = Callable[[], object]


@dataclass(frozen=True)
class Site:
    """One place, and the ways in which it can be changed."""

    kind: Kind
    line: int
    statement: tuple[int, int]
    """First and last line of the statement, without the block below it."""
    function: str
    """The outermost function around it, by its qualified name; empty for what runs when the module is imported."""
    name: str
    """What is named by the statement around it outside of a function: a constant, a field, the function itself."""
    is_wording: bool
    """Whether it stands in an error that is raised, in a line of the log, or in what is said of an option or field."""
    node: ast.AST = field(compare=False)
    ways: tuple[Change, ...] = field(compare=False)
    """Each changes the tree that the site was found in."""


class _At(NamedTuple):
    """Where the walk stands."""

    function: str = ""
    path: str = ""
    name: str = ""
    statement: tuple[int, int] = (0, 0)
    is_wording: bool = False
    bound: frozenset[str] = frozenset()
    """Names that the function around has bound before."""


_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
_LOGS = ("log", "logger", "_log", "_logger")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_NOT_CODE = (ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal, ast.Pass)


def sites_of(tree: ast.Module) -> list[Site]:
    """Return all places of a module, in the order of its source."""
    return list(_body(tree, "body", _At()))


def _body(owner: ast.AST, block: str, at: _At) -> Iterator[Site]:
    statements: list[ast.stmt] = getattr(owner, block)
    for n, statement in enumerate(statements):
        if isinstance(statement, _NOT_CODE) or _is_text(statement) or _is_about_types(statement, at):
            continue
        here = at._replace(statement=_own_lines(statement), is_wording=_is_wording(statement))
        if not at.function:
            here = here._replace(name=_name(statement) or at.name)
        is_last = isinstance(owner, _FUNCTIONS) and n == len(statements) - 1
        if _can_be_dropped(statement, at, is_last):
            yield _site("statement", statement, here, partial(_put, owner, block, n, ast.Pass()))
        yield from _statement(statement, here)
        at = at._replace(bound=at.bound | set(_names_bound(statement)))


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
    """The places of whatever a node consists of."""
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
                        drop = partial(_put, one, "body", None, [ast.Pass()])
                        yield _site("statement", one, at._replace(statement=_own_lines(one)), drop)
                    yield from _fields(one, at._replace(statement=_own_lines(one)))
                elif isinstance(one, ast.ExceptHandler):
                    yield from _fields(one, at._replace(statement=_own_lines(one)))
                elif isinstance(one, ast.AST):
                    yield from _expression(node, block, n, at)
        elif isinstance(value, ast.AST):
            yield from _expression(node, block, None, at)


def _expression(owner: ast.AST, block: str, n: int | None, at: _At) -> Iterator[Site]:
    node = getattr(owner, block) if n is None else getattr(owner, block)[n]
    if node is None or _is_type(node):
        return
    put = partial(_put, owner, block, n)
    if isinstance(node, ast.keyword) and node.arg in _WORDING:
        at = at._replace(is_wording=True)
    is_test = block == "test" or block == "guard" or (block == "ifs" and isinstance(owner, ast.comprehension))
    if is_test and not isinstance(node, ast.Compare | ast.BoolOp | ast.UnaryOp | ast.Constant):
        yield _site("operator", node, at, partial(put, ast.UnaryOp(ast.Not(), node)))
    match node:
        case ast.Compare(ops=operators):
            for place, operator in enumerate(operators):
                others = _COMPARISONS[type(operator)]
                yield _site("operator", node, at, *(partial(_put, node, "ops", place, o()) for o in others))
        case ast.BoolOp(op=operator, values=values):
            other = ast.Or() if isinstance(operator, ast.And) else ast.And()
            drops: Iterable[Change] = (partial(_drop, node, ("values",), p) for p in range(len(values)))
            if len(values) == 2:
                drops = (partial(put, one) for one in values)
            yield _site("operator", node, at, partial(_put, node, "op", None, other), *drops)
        case ast.BinOp(left=left, right=right, op=operator):
            if any(isinstance(one, _SEQUENCES) for one in (left, right)):
                yield _site("operator", node, at, partial(put, left), partial(put, right))
            elif type(operator) in _ARITHMETIC:
                yield _site(
                    "operator", node, at, partial(_put, node, "op", None, _ARITHMETIC[type(operator)]())
                )
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert(), operand=operand):
            yield _site("operator", node, at, partial(put, operand))
        case ast.Constant(value=value):
            changed = list(_other_constants(value))
            if changed:
                yield _site("constant", node, at, *(partial(put, ast.Constant(one)) for one in changed))
        case ast.Dict(values=values):
            for place, one in enumerate(values):
                yield _site("table", one, at, partial(_drop, node, ("keys", "values"), place))
        case ast.Set(elts=elements):
            for place, one in enumerate(elements if len(elements) > 1 else ()):
                yield _site("table", one, at, partial(_drop, node, ("elts",), place))
        case ast.Tuple(elts=elements) | ast.List(elts=elements) if _is_table(node, owner):
            for place, one in enumerate(elements):
                yield _site("table", one, at, partial(_drop, node, ("elts",), place))
        case ast.Call(func=called, args=args) if not (
            isinstance(called, ast.Name) and called.id in _BUILT_IN
        ):
            pairs = [p for p in range(len(args) - 1) if ast.dump(args[p]) != ast.dump(args[p + 1])]
            if pairs:
                yield _site("arguments", node, at, *(partial(_swap, args, p) for p in pairs))
    yield from _fields(node, at)


_BUILT_IN = ("isinstance", "issubclass", "getattr", "hasattr", "setattr")
"""Swapped, their arguments are never right."""
_WORDING = ("description", "help", "hint")
_SEQUENCES = (ast.JoinedStr, ast.List, ast.Tuple)


def _is_table(node: ast.Tuple | ast.List, owner: ast.AST) -> bool:
    """Whether it is a list of things, and not some values handed over at once."""
    if not isinstance(node.ctx, ast.Load) or isinstance(owner, ast.Subscript | ast.Return | ast.Yield):
        return False
    return not (isinstance(owner, ast.Assign) and isinstance(owner.targets[0], ast.Tuple))


def _other_constants(value: object) -> Iterator[str | bytes | bool | int | float]:
    match value:
        case bool():
            yield not value
        case int() | float():
            yield value + 1
            if value:
                yield value - 1
        case str() if not value:
            yield "x"
        case str():
            yield from (
                value[:p] + _other(one) + value[p + 1 :] for p, one in enumerate(value) if one.isalnum()
            )
            if not any(map(str.isalnum, value)):
                yield value + "x"
        case bytes():
            yield value + b"x"


def _other(letter: str) -> str:
    return chr(ord(letter) ^ 1) if chr(ord(letter) ^ 1).isalnum() else "x"


def _can_be_dropped(statement: ast.stmt, at: _At, is_last: bool) -> bool:
    match statement:
        case ast.Raise() | ast.Continue() | ast.Break() | ast.Delete():
            return True
        case ast.Return():
            return not is_last
        case ast.Expr(value=value):
            return not isinstance(value, ast.Constant | ast.Yield | ast.YieldFrom)
        case ast.AugAssign():
            return True
        case ast.Assign(targets=[target]) if at.function:
            names = [one.id for one in ast.walk(target) if isinstance(one, ast.Name) and _is_stored(one)]
            return all(name in at.bound for name in names)
        case _:
            return False


def _names_bound(statement: ast.stmt) -> Iterator[str]:
    return (one.id for one in ast.walk(statement) if isinstance(one, ast.Name) and _is_stored(one))


def _is_stored(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _is_about_types(statement: ast.stmt, at: _At) -> bool:
    """What only a type checker looks at, and exports."""
    match statement:
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.Assign(targets=[ast.Name(id="__all__")]):
            return True
        case ast.Assign(value=value) if not at.function:
            return isinstance(value, ast.BinOp) and _is_union(value)
        case _:
            return False


def _is_union(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.BitOr) and _is_union(node.left) and _is_union(node.right)
    return isinstance(node, ast.Name | ast.Attribute | ast.Subscript) or (
        isinstance(node, ast.Constant) and node.value is None
    )


def _is_type(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and node.value.id in ("Literal", "Callable", "TypeAdapter")
    )


def _is_wording(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Raise | ast.Assert):
        return True
    call = statement.value if isinstance(statement, ast.Expr) else None
    call = call.value if isinstance(call, ast.Await) else call
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return False
    return isinstance(call.func.value, ast.Name) and call.func.value.id in _LOGS


def _name(statement: ast.stmt) -> str:
    match statement:
        case ast.Assign(targets=[ast.Name(id=name), *_]) | ast.AnnAssign(target=ast.Name(id=name)):
            return name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return name
        case _:
            return ""


def _own_lines(node: ast.stmt | ast.match_case | ast.ExceptHandler) -> tuple[int, int]:
    """The lines of a statement, without those of the block below it."""
    if isinstance(node, ast.match_case):
        return node.pattern.lineno, (node.guard or node.pattern).end_lineno or 0
    if isinstance(node, ast.ExceptHandler):
        return node.lineno, node.lineno
    if isinstance(node, ast.Match):
        return node.lineno, node.subject.end_lineno or 0
    body = getattr(node, "body", None)
    if body and isinstance(body[0], ast.stmt):
        return node.lineno, max(node.lineno, body[0].lineno - 1)
    return node.lineno, node.end_lineno or 0


def _site(kind: Kind, node: ast.AST, at: _At, *ways: Change) -> Site:
    line = getattr(node, "lineno", at.statement[0])
    return Site(kind, line, at.statement, at.function, at.name, at.is_wording, node, ways)


def _put(owner: ast.AST, block: str, n: int | None, new: Any) -> None:
    if n is None:
        setattr(owner, block, new)
    else:
        getattr(owner, block)[n] = new


def _drop(owner: ast.AST, blocks: tuple[str, ...], n: int) -> None:
    for block in blocks:
        del getattr(owner, block)[n]


def _swap(arguments: list[ast.expr], n: int) -> None:
    arguments[n], arguments[n + 1] = arguments[n + 1], arguments[n]
