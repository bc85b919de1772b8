"""Conditions: whether a node runs, decided from the available values. Pure.

The meaning is CEL's, with two differences: ints and floats mix everywhere, and division by zero fails for
both. Values of other types do not mix: `==` across types is false, every other comparison fails. A failure in
one operand of `&&` or `||` does not count when the other operand decides. Patterns take time linear in the
text.
"""

import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from operator import ge, gt, le, lt
from typing import TYPE_CHECKING, Any

from antiphon_shared.values import Json
from antiphon_shared.workflows.condition_syntax import (
    INT_MAX,
    Binary,
    Choice,
    Constant,
    Function,
    ListTree,
    Logic,
    Part,
    Tree,
    Unary,
    Variable,
    read_condition,
)
from antiphon_shared.workflows.params import short_json, type_name
from antiphon_shared.workflows.references import Reference, ReferenceMissing, look_up

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator

_TEXT_MAX = 1_000_000
"""Bound on the characters of a text, or values of a list, that an expression builds."""
_PATTERN_MAX = 1_000
_PATTERN_BYTES_MAX = 1_000_000
_CONDITIONS_CACHED_MAX = 256
_ORDERINGS: dict[str, Callable[[Any, Any], Any]] = {"<": lt, "<=": le, ">": gt, ">=": ge}


class ConditionFailed(ValueError):
    """Raised when a condition has no value; the message says why."""


def is_true(text: str, values: Mapping[str, Json]) -> bool:
    """Return whether a condition holds. `values` holds the available values by name.

    Raises ConditionFailed, ReferenceMissing, and ConditionSyntax for a text that was not validated.
    """
    result = _evaluate(read_condition(text), values)
    if not isinstance(result, bool):
        raise ConditionFailed(f"the condition is {short_json(result)}, and must be true or false")
    return result


def check_pattern(pattern: str) -> None:
    """Raise ConditionFailed for a pattern that `matches` rejects."""
    _pattern(pattern)


def _evaluate(tree: Tree, values: Mapping[str, Json]) -> Json:
    match tree:
        case Constant(value):
            return value
        case Variable(reference):
            return look_up(reference, values)
        case Logic(operator, operands):
            return _logic(operator, operands, values)
        case Binary(operator, left, right):
            return _binary(operator, _evaluate(left, values), _evaluate(right, values))
        case Unary("!", operand):
            return not _bool(_evaluate(operand, values), "!")
        case Unary(_, operand):
            return _in_bounds(-_number(_evaluate(operand, values), "-"))
        case Choice(condition, then, otherwise):
            return _evaluate(then if _bool(_evaluate(condition, values), "?") else otherwise, values)
        case ListTree(items):
            return [_evaluate(item, values) for item in items]
        case Part(of, key):
            return _part(_evaluate(of, values), _evaluate(key, values))
        case Function("has", (argument,)):
            return _has(argument, values)
        case Function(name, arguments):
            return _call(name, [_evaluate(one, values) for one in arguments])


def _logic(operator: str, operands: tuple[Tree, ...], values: Mapping[str, Json]) -> bool:
    decides = operator == "||"
    failure: Exception | None = None
    for operand in operands:
        try:
            if _bool(_evaluate(operand, values), operator) is decides:
                return decides
        except (ConditionFailed, ReferenceMissing) as error:
            failure = failure or error
    if failure is not None:
        raise failure
    return not decides


def _binary(operator: str, left: Json, right: Json) -> Json:
    match operator:
        case "==":
            return is_equal(left, right)
        case "!=":
            return not is_equal(left, right)
        case "in":
            return _is_in(left, right)
        case _ if operator in _ORDERINGS:
            return _is_ordered(operator, left, right)
        case "+" if isinstance(left, str) and isinstance(right, str):
            _refuse_long(len(left) + len(right))
            return left + right
        case "+" if isinstance(left, list) and isinstance(right, list):
            _refuse_long(len(left) + len(right))
            return left + right
    return _arithmetic(operator, _number(left, operator), _number(right, operator))


def _refuse_long(length: int) -> None:
    if length > _TEXT_MAX:
        raise ConditionFailed(f"+ makes more than {_TEXT_MAX:,} characters or values")


def is_equal(left: Json, right: Json) -> bool:
    """Return whether two JSON values are the same; 1 is 1.0, and true is not 1."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(map(is_equal, left.values(), map(right.__getitem__, left)))
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(is_equal, left, right))
    return bool(_kind(left) == _kind(right) and left == right)


def _is_in(item: Json, container: Json) -> bool:
    if isinstance(container, dict):
        return isinstance(item, str) and item in container
    if isinstance(container, list | tuple):
        return any(is_equal(item, one) for one in container)
    raise _mismatch("in", item, container, "a list or an object after it; for texts there is contains()")


def _is_ordered(operator: str, left: Json, right: Json) -> bool:
    if not isinstance(left, str | int | float) or _kind(left) != _kind(right):
        raise _mismatch(operator, left, right, "two numbers, two texts or two bools")
    return bool(_ORDERINGS[operator](left, right))


def _arithmetic(operator: str, left: int | float, right: int | float) -> int | float:
    if operator in "/%" and right == 0:
        raise ConditionFailed(f"{short_json(left)} {operator} 0 has no value")
    are_ints = isinstance(left, int) and isinstance(right, int)
    try:
        match operator:
            case "+":
                return _in_bounds(left + right)
            case "-":
                return _in_bounds(left - right)
            case "*":
                return _in_bounds(left * right)
            case "%" if are_ints:  # the sign of the result is that of the left, as in CEL
                return int(math.copysign(1, left)) * (abs(left) % abs(right))
            case "%":
                return math.fmod(left, right)
        if are_ints:
            quotient = abs(left) // abs(right)
            return _in_bounds(quotient if (left < 0) == (right < 0) else -quotient)
        return _in_bounds(left / right)
    except OverflowError:
        raise ConditionFailed(f"the result of {operator} is not a 64-bit number") from None


def _in_bounds(number: int | float) -> int | float:
    if -INT_MAX - 1 <= number <= INT_MAX if isinstance(number, int) else math.isfinite(number):
        return number
    raise ConditionFailed("the result is not a 64-bit number")


def _part(value: Json, key: Json) -> Json:
    if isinstance(value, dict) and isinstance(key, str):
        if key in value:
            return value[key]
        raise ConditionFailed(f"there is no key {short_json(key)}; there are {short_json([*value][:20])}")
    if isinstance(value, list | tuple) and type(key) is int:
        if 0 <= key < len(value):
            return value[key]
        raise ConditionFailed(f"there is no item {key} in a list of {len(value)}")
    raise ConditionFailed(f"[{short_json(key)}] of {type_name(value)} has no value")


def _has(argument: Tree, values: Mapping[str, Json]) -> bool:
    try:
        if isinstance(argument, Variable):
            look_up(Reference(argument.reference.name, argument.reference.path), values)
        else:
            _evaluate(argument, values)
    except (ConditionFailed, ReferenceMissing):
        return False
    return True


def _call(name: str, arguments: list[Json]) -> Json:
    if name == "size":
        (sized,) = arguments
        if not isinstance(sized, str | list | tuple | dict):
            raise ConditionFailed(f"size() of {type_name(sized)} has no value")
        return len(sized)
    text, sought = arguments
    if not isinstance(text, str) or not isinstance(sought, str):
        raise _mismatch(f"{name}()", text, sought, "two texts")
    match name:
        case "startsWith":
            return text.startswith(sought)
        case "endsWith":
            return text.endswith(sought)
        case "contains":
            return sought in text
    return _pattern(sought).is_valid(text)


@lru_cache(_CONDITIONS_CACHED_MAX)
def _pattern(pattern: str) -> "Draft202012Validator":
    # Imported only for a pattern. Its engine is Rust's `regex`, as in output/schema.py.
    from jsonschema_rs import Draft202012Validator, RegexOptions, ValidationError

    if len(pattern) > _PATTERN_MAX:
        limit = f"more than the limit of {_PATTERN_MAX:,}"
        raise ConditionFailed(f"the pattern has {len(pattern):,} characters, {limit}")
    options = RegexOptions(size_limit=_PATTERN_BYTES_MAX)
    try:
        return Draft202012Validator({"pattern": pattern}, pattern_options=options)
    except (ValidationError, ValueError):
        raise ConditionFailed(
            f"{short_json(pattern)} is not a pattern that can be matched in linear time; check for typing errors, "
            "lookaround, back references and large repetitions"
        ) from None


def _bool(value: Json, operator: str) -> bool:
    if not isinstance(value, bool):
        raise ConditionFailed(f"{operator} takes true or false, not {short_json(value)}")
    return value


def _number(value: Json, operator: str) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ConditionFailed(f"{operator} takes numbers, not {short_json(value)}")
    return value


def _kind(value: Json) -> str:
    name = type_name(value)
    return "number" if name in ("int", "float") else name


def _mismatch(operator: str, left: Json, right: Json, takes: str) -> ConditionFailed:
    values = " and ".join(f"{short_json(value)} ({type_name(value)})" for value in (left, right))
    return ConditionFailed(f"{operator} takes {takes}, not {values}")
