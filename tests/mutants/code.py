"""The statements that are code, and those that can be omitted."""

import ast
from collections.abc import Collection, Iterator

_LEVELS = ("debug", "info", "warning", "error", "exception", "critical")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
NOT_CODE = (ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal, ast.Pass)


def can_be_dropped(statement: ast.stmt, function: str, bound: Collection[str], is_last: bool) -> bool:
    match statement:
        case ast.Raise() | ast.Continue() | ast.Break() | ast.Delete():
            return True
        case ast.Return():
            return not is_last
        case ast.Expr(value=value):
            return not isinstance(value, ast.Constant | ast.Yield | ast.YieldFrom)
        case ast.AugAssign():
            return True
        case ast.Assign(targets=[target]) if function:
            names = [one.id for one in ast.walk(target) if isinstance(one, ast.Name) and _is_stored(one)]
            return all(name in bound for name in names)
        case _:
            return False


def names_bound(statement: ast.stmt) -> Iterator[str]:
    return (one.id for one in ast.walk(statement) if isinstance(one, ast.Name) and _is_stored(one))


def _is_stored(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def is_about_types(statement: ast.stmt, function: str) -> bool:
    """Return whether the statement is an export, or matters to type checkers alone."""
    match statement:
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.Assign(targets=[ast.Name(id="__all__")]):
            return True
        case ast.Assign(value=value) if not function:
            return isinstance(value, ast.BinOp) and _is_union(value)
        case _:
            return False


def _is_union(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.BitOr) and _is_union(node.left) and _is_union(node.right)
    return isinstance(node, ast.Name | ast.Attribute | ast.Subscript) or (
        isinstance(node, ast.Constant) and node.value is None
    )


def is_type(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and node.value.id in ("Literal", "Callable", "TypeAdapter")
    )


def is_wording(statement: ast.stmt) -> bool:
    """Return whether the statement has text for people: an error, or a log line."""
    return isinstance(statement, ast.Raise | ast.Assert) or is_log(statement)


def is_log(statement: ast.stmt) -> bool:
    """Return whether the statement only writes a log line."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in _LEVELS


def name_of(statement: ast.stmt) -> str:
    match statement:
        case ast.Assign(targets=[ast.Name(id=name), *_]) | ast.AnnAssign(target=ast.Name(id=name)):
            return name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return name
        case _:
            return ""


def own_lines(node: ast.stmt | ast.match_case | ast.ExceptHandler) -> tuple[int, int]:
    """Return the lines of a statement, without those of the block below it."""
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
