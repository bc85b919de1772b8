"""From a model's words to the one JSON value in them: read leniently, so that only its content decides. Pure."""

import re
from dataclasses import dataclass
from json import JSONDecodeError, JSONDecoder, dumps
from typing import Any, NoReturn

_FENCE = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)
_BEGINS = re.compile(r"[{\[]")
_BEGINNINGS_MAX = 1_000
"""Brackets in prose that may begin a value."""


@dataclass(frozen=True, slots=True)
class Given:
    """What a reply gives as the answer: a value, or why there is none, as a sentence for the model."""

    value: Any = None
    problem: str = ""


def read_answer(text: str) -> Given:
    """Return the JSON value of a reply; prose and fences around it are let go.

    A reply with two different values gives none, as it does not say which of them counts.
    """
    text = text.strip()
    try:
        return Given(_DECODER.decode(text))
    except _UNREADABLE as error:
        whole = error
    fenced = [given for one in _FENCE.findall(text) if (given := _whole(one)) is not None]
    found = fenced or _inside(text)
    distinct = list({dumps(one.value, sort_keys=True): one for one in found}.values())
    if len(distinct) == 1:
        return distinct[0]
    if distinct:
        return Given(problem=f"It holds {len(distinct)} JSON values; reply with the one that counts, alone.")
    if _BEGINS.match(text):
        return Given(problem=f"It is no whole JSON: {_why(whole)}.")
    return Given(problem="It holds no JSON; reply with the JSON value alone.")


def _whole(text: str) -> Given | None:
    try:
        return Given(_DECODER.decode(text.strip()))
    except _UNREADABLE:
        return None


def _inside(text: str) -> list[Given]:
    """Return the objects and lists that stand in prose, one behind the other."""
    found, at, tried = [], 0, 0
    while (begins := _BEGINS.search(text, at)) and tried < _BEGINNINGS_MAX:
        tried += 1
        try:
            value, at = _DECODER.raw_decode(text, begins.start())
            found.append(Given(value))
        except _UNREADABLE:
            at = begins.end()
    # What is empty, or a list such as [1], is rather prose than an answer when there is an object beside it.
    objects = [one for one in found if isinstance(one.value, dict) and one.value]
    return objects or found


class _NotJson(ValueError):
    """What Python's decoder takes, and JSON has not."""


def _refused(word: str) -> NoReturn:
    raise _NotJson(f"{word} is no number of JSON")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise _NotJson("an object has the same property twice")
    return fields


_DECODER = JSONDecoder(parse_constant=_refused, object_pairs_hook=_object)
_UNREADABLE = (JSONDecodeError, _NotJson, RecursionError)


def _why(error: Exception) -> str:
    if isinstance(error, JSONDecodeError):
        return f"{error.msg[:1].lower()}{error.msg[1:]} at character {error.pos + 1}"
    return str(error) or "it is nested too deeply"
