"""The search for values in the words of a question, and in a result. Pure.

Only a distinctive value is recognised, so that a coincidence does not become a rule:

    text      3 characters or more, and no common word such as `name`, `open` or `the`
    number    3 digits or more, or a fraction
    list, object   one with such a value
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from antiphon_shared.text.dates import dates_in
from antiphon_shared.text.words import plain_words, words

ValuePath = tuple[str | int, ...]
"""The keys and indexes that lead to a value within another one."""

_CHARACTERS_MIN = 3
_NUMBER_MIN = 100
_NUMBER_CHARACTERS_MAX = 40
_VALUES_MAX = 500_000
"""The limit of values in a result; later ones are not examined."""
_PATHS_MAX = 20
"""The limit for one value in one result."""
_COMMON = frozenset((
    "asc", "auto", "back", "book", "cancel", "check", "close", "code", "create", "data", "date", "default", "delete",
    "desc", "email", "error", "false", "file", "find", "first", "get", "high", "info", "item", "items", "json", "key",
    "last", "list", "low", "medium", "message", "name", "new", "next", "none", "normal", "null", "number", "off", "old",
    "open", "order", "other", "page", "put", "read", "result", "search", "send", "set", "status", "success", "text",
    "time", "title", "true", "type", "unknown", "update", "user", "value", "yes",
))  # fmt: skip  # a text, not a column
"""Words that are common in results, in addition to those that text/words.py leaves out."""
_NUMBER = re.compile(r"(?<![\w.,-])-?\d[\d,]*(?:\.\d+)?(?![\w-]|[.,]\d)")
_WORD = re.compile(r"\d{4}-\d{2}-\d{2}|\w+")
_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_NO_SPACES_FROM = "\u2e80"
"""The first of the scripts that put no space between words."""


def identity(value: object) -> str:
    """Return a text that is equal only for equal JSON values; 3, 3.0 and "3" differ."""
    return json.dumps(value, sort_keys=True)


def is_distinctive(value: object) -> bool:
    """Return whether a value is distinctive enough to show its source."""
    match value:
        case bool() | None:
            return False
        case str():
            text = value.strip()
            return len(text) >= _CHARACTERS_MIN and text.casefold() not in _COMMON and _says_something(text)
        case int():
            return abs(value) >= _NUMBER_MIN
        case float():
            return abs(value) >= _NUMBER_MIN or not value.is_integer()
    return any(is_distinctive(one) for one in scalars(value))


def _says_something(text: str) -> bool:
    return not text.isalpha() or not text.isascii() or bool(words(text))


def scalars(value: object) -> Iterator[Any]:
    """Yield the plain values within lists and objects, in order."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting += reversed(one.values())
        elif isinstance(one, list | tuple):
            waiting += reversed(one)
        else:
            yield one


def texts_in(value: object) -> list[str]:
    """Return the texts in a value."""
    return [one for one in scalars(value) if isinstance(one, str)]


def is_alike(argument: str, key: str) -> bool:
    """Return whether a key has an argument's name, or one of the two is part of the other: `id` and `flight_id`."""
    one, other = _stems(argument), _stems(key)
    return bool(one and other) and (one <= other or other <= one)


@lru_cache(4_096)
def _stems(name: str) -> frozenset[str]:
    return frozenset(word.removesuffix("s") for word in plain_words(name))


class Question:
    """The words of a question, in a searchable form."""

    def __init__(self, text: str) -> None:
        self._text = text.casefold()
        self._dates = {match.date for match in dates_in(_WORD.findall(self._text))}
        numbers = [match[0] for match in _NUMBER.finditer(text)]
        self._numbers = [_number(one) for one in numbers if len(one) <= _NUMBER_CHARACTERS_MAX]

    def contains(self, value: object) -> bool:
        """Return whether the question holds a value: a distinctive text as whole words, a date, a number."""
        match value:
            case bool() | None:
                return False
            case int() | float():
                return value in self._numbers
            case str() if date := _DATE.fullmatch(value):
                return tuple(map(int, date.groups())) in self._dates
            case str() if len(value.casefold()) <= len(self._text) and is_distinctive(value):
                return re.search(_as_words(value), self._text) is not None
        return False

    def times(self, number: float) -> int:
        """Return how often the question contains a number."""
        return self._numbers.count(number)


def _number(text: str) -> float | int:
    plain = text.replace(",", "")
    return float(plain) if "." in plain else int(plain)


def _as_words(text: str) -> str:
    """Return a pattern that matches a text as whole words."""
    folded = text.casefold().strip()
    before = "" if folded[0] >= _NO_SPACES_FROM else r"(?<!\w)"
    behind = "" if folded[-1] >= _NO_SPACES_FROM else r"(?!\w)"
    return before + r"\s+".join(map(re.escape, folded.split())) + behind


def with_names(text: str, names: Mapping[str, str]) -> str:
    """Return a text with `<name>` in place of each distinctive value that `names` maps to a name."""
    for value in sorted(filter(is_distinctive, names), key=len, reverse=True):
        text = re.sub(_as_words(value), lambda _, name=names[value]: f"<{name}>", text, flags=re.I)  # type: ignore[misc]  # a lambda with a default
    return text


class SearchedValues:
    """Values that are searched for in results."""

    def __init__(self, values: Iterable[Any]) -> None:
        self._identities = set[str]()
        self._shapes = set[tuple[type, int]]()
        for value in values:
            self._identities.add(identity(value))
            if isinstance(value, dict | list):
                self._shapes.add((type(value), len(value)))

    def paths(self, result: object) -> dict[str, list[ValuePath]]:
        """Return the paths of each searched value in a result, by its identity; paths in the order of the result."""
        paths_by_value: dict[str, list[ValuePath]] = {}
        waiting: list[tuple[ValuePath, Any]] = [((), result)]
        for _ in range(_VALUES_MAX):
            if not waiting:
                break
            path, value = waiting.pop()
            if self._may_be(value) and (name := identity(value)) in self._identities:
                paths = paths_by_value.setdefault(name, [])
                if len(paths) < _PATHS_MAX:
                    paths.append(path)
            if isinstance(value, dict):
                waiting += [((*path, key), inner) for key, inner in reversed(value.items())]
            elif isinstance(value, list):
                waiting += [((*path, n), value[n]) for n in reversed(range(len(value)))]
        return paths_by_value

    def _may_be(self, value: object) -> bool:
        return not isinstance(value, dict | list) or (type(value), len(value)) in self._shapes
