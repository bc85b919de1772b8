"""Changes of a syntax tree: the replacements of an operator or a constant."""

import ast
from collections.abc import Iterator
from typing import Any

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
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
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
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


def other_constants(value: object) -> Iterator[str | bytes | bool | int | float]:
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


def put(owner: ast.AST, block: str, n: int | None, new: Any) -> None:
    if n is None:
        setattr(owner, block, new)
    else:
        getattr(owner, block)[n] = new


def drop(owner: ast.AST, blocks: tuple[str, ...], n: int) -> None:
    for block in blocks:
        del getattr(owner, block)[n]


def swap(arguments: list[ast.expr], n: int) -> None:
    arguments[n], arguments[n + 1] = arguments[n + 1], arguments[n]
