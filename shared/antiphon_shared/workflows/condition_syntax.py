"""The syntax of conditions, a part of CEL: text in, tree out. Pure.

It has no macros, type conversions, byte texts and literals of maps; a reference is one variable, including
its path. Both the length of a condition and the depth of its tree are bounded, and so is its evaluation.
"""

from dataclasses import dataclass
from functools import lru_cache

from antiphon_shared.text.nearest import did_you_mean
from antiphon_shared.workflows.condition_tokens import ConditionSyntax, Token, tokens, unescaped
from antiphon_shared.workflows.nodes import CONDITION_MAX
from antiphon_shared.workflows.references import Reference

_DEPTH_MAX = 32
"""Bound on the depth of the tree, in which `a || b || c` counts as one level."""
INT_MAX = 2**63 - 1

FUNCTIONS = {"size": 1, "has": 1, "startsWith": 2, "endsWith": 2, "contains": 2, "matches": 2}
"""The number of values of each function; except for `has`, the first may precede it: `$text.startsWith("a")`."""


@dataclass(frozen=True, slots=True)
class Constant:
    value: str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Variable:
    reference: Reference


@dataclass(frozen=True, slots=True)
class ListTree:
    items: tuple["Tree", ...]


@dataclass(frozen=True, slots=True)
class Unary:
    operator: str
    operand: "Tree"


@dataclass(frozen=True, slots=True)
class Binary:
    operator: str
    left: "Tree"
    right: "Tree"


@dataclass(frozen=True, slots=True)
class Logic:
    """Operands that are joined by `&&` or `||`."""

    operator: str
    operands: tuple["Tree", ...]


@dataclass(frozen=True, slots=True)
class Choice:
    condition: "Tree"
    then: "Tree"
    otherwise: "Tree"


@dataclass(frozen=True, slots=True)
class Part:
    """A value in a list or an object: `[...]` or `.name`."""

    of: "Tree"
    key: "Tree"


@dataclass(frozen=True, slots=True)
class Function:
    name: str
    arguments: tuple["Tree", ...]


Tree = Constant | Variable | ListTree | Unary | Binary | Logic | Choice | Part | Function

_LEVELS = (("||",), ("&&",), ("==", "!=", "<", "<=", ">", ">=", "in"), ("+", "-"), ("*", "/", "%"))
"""Operators, the weakest binding first."""
_WORDS = {"true": True, "false": False, "null": None}


@lru_cache(1_000)
def read_condition(text: str) -> Tree:
    """Return the tree of a condition. Raises ConditionSyntax."""
    if len(text) > CONDITION_MAX:
        limit = f"more than the limit of {CONDITION_MAX:,}"
        raise ConditionSyntax(f"it has {len(text):,} characters, {limit}", CONDITION_MAX)
    return _Parser(tokens(text)).parse()


def variables(tree: Tree) -> list[tuple[Reference, bool]]:
    """Return every reference of a condition, and whether `has` tests its existence."""
    match tree:
        case Variable(reference):
            return [(reference, False)]
        case Function("has", (Variable(reference),)):
            return [(reference, True)]
    return [one for inner in inner_trees(tree) for one in variables(inner)]


def inner_trees(tree: Tree) -> tuple[Tree, ...]:
    """Return the direct parts of a tree."""
    match tree:
        case ListTree(inner) | Logic(_, inner) | Function(_, inner):
            return inner
        case Unary(_, operand):
            return (operand,)
        case Binary(_, left, right) | Part(left, right):
            return (left, right)
        case Choice(condition, then, otherwise):
            return (condition, then, otherwise)
    return ()


class _Parser:
    """A parser by recursive descent, one level of the tree at a time."""

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0

    def parse(self) -> Tree:
        tree = self._expression()
        if self._next.kind != "end":
            space = " Leave a space before the ? of a choice." if self._next.text == ":" else ""
            raise self._error(f"{self._next.text!r} is not expected.{space}")
        return tree

    @property
    def _next(self) -> Token:
        return self._tokens[self._at]

    def _expression(self) -> Tree:
        self._deeper()
        tree = self._binary(0)
        if self._accept("?"):
            then = self._expression()
            self._needs(":")
            tree = Choice(tree, then, self._expression())
        self._depth -= 1
        return tree

    def _binary(self, level: int) -> Tree:
        if level == len(_LEVELS):
            return self._unary()
        tree = self._binary(level + 1)
        operands, depth = [tree], self._depth
        while (operator := self._next.text) in _LEVELS[level] and self._next.kind in ("sign", "name"):
            self._at += 1
            right = self._binary(level + 1)
            if operator in ("&&", "||"):
                operands.append(right)
            else:
                self._deeper()  # a chain nests to the left
                tree = Binary(operator, tree, right)
        self._depth = depth
        return Logic("||" if level == 0 else "&&", tuple(operands)) if len(operands) > 1 else tree

    def _unary(self) -> Tree:
        for operator in ("!", "-"):
            if self._accept(operator):
                self._deeper()
                tree = Unary(operator, self._unary())
                self._depth -= 1
                return tree
        return self._value()

    def _value(self) -> Tree:
        tree, depth = self._first(), self._depth
        while self._next.text in (".", "[") and self._next.kind == "sign":
            self._deeper()
            if self._accept("["):
                tree = Part(tree, self._expression())
                self._needs("]")
                continue
            self._at += 1
            name = self._next
            if name.kind != "name":
                raise self._error("after . comes a name")
            self._at += 1
            tree = self._call(name, (tree,)) if self._next.text == "(" else Part(tree, Constant(name.text))
        self._depth = depth
        return tree

    def _first(self) -> Tree:
        token = self._next
        self._at += 1
        match token.kind:
            case "variable":
                assert token.reference is not None
                return Variable(token.reference)
            case "int":
                number = int(token.text, 16 if token.text[:2] in ("0x", "0X") else 10)
                if number > INT_MAX:
                    raise ConditionSyntax("the number has more than 64 bits", token.offset)
                return Constant(number)
            case "float":
                return Constant(float(token.text))
            case "text":
                return Constant(unescaped(token))
            case "name" if token.text in _WORDS:
                return Constant(_WORDS[token.text])
            case "name" if self._next.text == "(":
                return self._call(token, ())
            case "name":
                raise ConditionSyntax(
                    f'{token.text!r} is neither a value nor a function; write "{token.text}" for a text, '
                    f"${token.text} for a reference",
                    token.offset,
                )
            case "sign" if token.text == "(":
                tree = self._expression()
                self._needs(")")
                return tree
            case "sign" if token.text == "[":
                return ListTree(self._arguments("]"))
        self._at -= 1
        before = "" if token.kind == "end" else f" before {token.text!r}"
        raise self._error(f"a value is missing{before}")

    def _call(self, name: Token, before: tuple[Tree, ...]) -> Tree:
        if name.text not in FUNCTIONS or (name.text == "has" and before):
            meant = did_you_mean(name.text[:40], FUNCTIONS)
            raise ConditionSyntax(f"there is no function {name.text[:40]}. {meant}", name.offset)
        self._needs("(")
        given = self._arguments(")")
        needed = FUNCTIONS[name.text] - len(before)
        if len(given) != needed:
            why = f"{name.text} takes {needed} values, not {len(given)}"
            raise ConditionSyntax(why, name.offset)
        arguments = (*before, *given)
        if name.text == "has" and not isinstance(arguments[0], Variable | Part):
            raise ConditionSyntax("has() takes a reference, or a value in one", name.offset)
        return Function(name.text, arguments)

    def _arguments(self, end: str) -> tuple[Tree, ...]:
        arguments: list[Tree] = []
        while not self._accept(end):
            if arguments:
                self._needs(",")
            arguments.append(self._expression())
        return tuple(arguments)

    def _accept(self, sign: str) -> bool:
        is_next = self._next.kind == "sign" and self._next.text == sign
        self._at += is_next
        return is_next

    def _needs(self, sign: str) -> None:
        if not self._accept(sign):
            raise self._error(f"{sign!r} is expected, not {self._next.text!r}")

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > _DEPTH_MAX:
            raise self._error(f"it is nested more than {_DEPTH_MAX} levels deep; split it")

    def _error(self, message: str) -> ConditionSyntax:
        return ConditionSyntax(message, self._next.offset)
