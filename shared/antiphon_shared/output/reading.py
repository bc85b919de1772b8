"""From a model's text to the one JSON value in it: parsed leniently, so that only its content decides. Pure."""

import re
from dataclasses import dataclass
from json import JSONDecodeError, JSONDecoder, dumps
from math import isfinite
from typing import Any, NoReturn

from pydantic_core import PydanticSerializationError, to_json

from antiphon_shared.values import members

LEVELS_MAX = 64
"""The depth of a value: not every reader and writer of JSON supports deeper ones."""
_FENCE = re.compile(r"```(?:json)?[^\S\n]*\n(.*?)```", re.DOTALL)
_BEGINS = re.compile(r"[{\[]")
_READ_MAX = 4_096
"""Characters of a text before the next value is searched for in a copy of the rest."""


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """The answer in a reply: a value, or a sentence for the model on why it is missing."""

    value: Any = None
    problem: str = ""


def read_answer(text: str) -> ReadAnswer:
    """Return the JSON value of a reply; prose and fences around it are ignored.

    A reply with two different values has no answer, because it is unclear which one counts. A part of a broken or
    truncated value is not an answer either. The time is linear in the length of the text.
    """
    text = text.strip()
    try:
        return ReadAnswer(_value(text))
    except JSONDecodeError as error:
        problem = error
    except _UNREADABLE as error:
        return _broken(error)
    try:
        values = _fenced(text) or _inside(text)
    except _UNREADABLE as error:
        return _broken(error)
    distinct = list({dumps(one, sort_keys=True): one for one in values}.values())
    if len(distinct) == 1:
        return ReadAnswer(distinct[0])
    if distinct:
        return ReadAnswer(
            problem=f"It holds {len(distinct)} JSON values; reply with the one that counts, alone."
        )
    if _BEGINS.match(text):
        return _broken(problem)
    return ReadAnswer(problem="It holds no JSON; reply with the JSON value alone.")


def value_of(text: str) -> ReadAnswer:
    """Return the JSON value of a text, or why it is missing; line breaks within its strings are kept."""
    try:
        return ReadAnswer(_portable(_LENIENT.decode(text)))
    except _UNREADABLE as error:
        return _broken(error)


def _fenced(text: str) -> list[Any]:
    """Return the values of the fences that hold one each."""
    values = []
    for one in _FENCE.findall(text):
        try:
            values.append(_value(one.strip()))
        except JSONDecodeError:
            continue
    return values


def _inside(text: str) -> list[Any]:
    """Return the objects and lists in prose, one after the other.

    Raises one of _UNREADABLE for a truncated value, or for one that only Python's decoder accepts.
    """
    values, at, rest, offset = [], 0, text, 0
    while begins := _BEGINS.search(rest, at):
        if (
            begins.start() >= _READ_MAX
        ):  # an error counts the lines before it, from the start of what is decoded
            rest, offset, at = rest[begins.start() :], offset + begins.start(), 0
            continue
        try:
            value, at = _DECODER.raw_decode(rest, begins.start())
        except JSONDecodeError as error:
            if error.pos >= len(rest) or error.msg.startswith("Unterminated"):
                raise JSONDecodeError(error.msg, text, offset + error.pos) from None
            at = max(begins.end(), error.pos)
        else:
            values.append(_portable(value))
    # Next to an object, an empty value or a list such as [1] is likely prose, not an answer.
    objects = [one for one in values if isinstance(one, dict) and one]
    return objects or values


class _NotJson(ValueError):
    """A value that Python's decoder accepts, while JSON or another reader of it does not."""


def _value(text: str) -> Any:
    """Return the value of a text. Raises one of _UNREADABLE."""
    return _portable(_DECODER.decode(text))


def _portable(value: object) -> Any:
    """Return a value that every reader and writer of JSON accepts unchanged. Raises _NotJson."""
    parts = [value]
    for _ in range(LEVELS_MAX):
        parts = [inner for part in parts for inner in members(part)]
    if any(isinstance(part, dict | list) for part in parts):
        raise _NotJson(f"it has more than {LEVELS_MAX} levels")
    try:
        to_json(value)
    except (PydanticSerializationError, UnicodeError):
        raise _NotJson("a text holds half a character, as \\ud83d without its other half") from None
    return value


def _refused(word: str) -> NoReturn:
    raise _NotJson(f"{word} is not a number in JSON")


def _integer(digits: str) -> int:
    # Longer ones exceed 64 bits anyway, and Python refuses some of them.
    if len(digits) > 20 or not -(2**63) <= (number := int(digits)) < 2**64:
        raise _NotJson(f"the integer {digits[:20]}... needs more than 64 bits")
    return number


def _decimal(digits: str) -> float:
    if not isfinite(number := float(digits)):
        raise _NotJson(f"the number {digits[:20]} is too large")
    return number


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise _NotJson("an object has the same property twice")
    return fields


_DECODER, _LENIENT = (
    JSONDecoder(
        parse_constant=_refused,
        parse_int=_integer,
        parse_float=_decimal,
        object_pairs_hook=_object,
        strict=is_strict,
    )
    for is_strict in (True, False)
)
_UNREADABLE = (JSONDecodeError, _NotJson, RecursionError)


def _broken(error: Exception) -> ReadAnswer:
    return ReadAnswer(problem=f"It is not complete JSON: {_why(error)}.")


def _why(error: Exception) -> str:
    if isinstance(error, JSONDecodeError):
        return f"{error.msg[:1].lower()}{error.msg[1:]} at character {error.pos + 1}"
    if isinstance(error, RecursionError):
        return f"it has more than {LEVELS_MAX} levels"
    return str(error)
