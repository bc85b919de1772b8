"""Fields of results that may differ from run to run, with their tolerance. Pure.

$..updated_at                  any value
weather:$.temperature=numeric:0.5   of one tool: a number with this tolerance; in texts too
$.items=unordered              the same items in any order
$.title=text                   the same except for case, spacing and markup
$.id=type                      another value of the same type
"""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from antiphon_shared.process.errors import ConfigurationError
from pydantic_core import to_json

from antiphon.recording.redaction.json_paths import Path, UnreadablePath, remaining_paths
from antiphon.replay.compare.matchers import numbers_in, plain, without_numbers
from antiphon.replay.differences import Difference, difference, parts

_RULE_FORM = re.compile(
    r"(?:(?P<tool>[a-zA-Z0-9_-]{1,64}):)?(?P<path>\$.*?)(?:=(?P<matcher>[a-z]+)(?::(?P<bound>.+))?)?"
)
_FORM = (
    "Use PATH, for example $..updated_at, or TOOL:PATH=MATCHER with one of any, type, text, "
    "unordered, numeric:N."
)
Matcher = Callable[[Any, Any], bool]


@dataclass(frozen=True, slots=True)
class Volatile:
    """A field, or several fields, that may differ."""

    tool: str
    """The name of the tool; empty for every tool."""
    path: Path
    matches: Matcher

    @classmethod
    def of(cls, text: str) -> "Volatile":
        """Read a rule from text. Raises ConfigurationError."""
        match = _RULE_FORM.fullmatch(text)
        if match is None:
            raise ConfigurationError(f"{text!r} does not name a field.", hint=_FORM)
        try:
            path = Path.of(match["path"])
        except UnreadablePath as error:
            raise ConfigurationError(f"{text!r}: {error}", hint=_FORM) from None
        return cls(match["tool"] or "", path, _matcher(text, match["matcher"] or "any", match["bound"]))


def differing(expected: object, got: object, volatile: Sequence[Volatile]) -> Iterator[Difference]:
    """Yield the smallest differences of two results that exceed the tolerance."""
    return _walk(expected, got, [(one.path, one.matches) for one in volatile], "")


_Rules = list[tuple[Path, Matcher]]


def _walk(expected: object, got: object, rules: _Rules, path_text: str) -> Iterator[Difference]:
    matchers = [matches for path, matches in rules if path.is_reached]
    if matchers:
        if not any(matches(expected, got) for matches in matchers):
            yield difference(path_text, expected, got)
    elif (inner := parts(expected, got, path_text)) is not None:
        for key, deeper, then, now in inner:
            yield from _walk(then, now, _below(rules, key), deeper)
    elif type(expected) is not type(got) or expected != got:
        yield difference(path_text, expected, got)


def _below(rules: _Rules, key: str | int) -> _Rules:
    return [(left, matches) for path, matches in rules for left in remaining_paths((path,), key)]


def _matcher(text: str, name: str, bound: str | None) -> Matcher:
    if (name == "numeric") != (bound is not None):
        raise ConfigurationError(f"{text!r}: numeric needs a bound; other matchers take none.", hint=_FORM)
    match name:
        case "any":
            return lambda expected, got: True
        case "type":
            return lambda expected, got: type(expected) is type(got)
        case "text":
            return _same_text
        case "unordered":
            return _same_items
        case "numeric":
            return _numeric(text, bound or "")
        case _:
            raise ConfigurationError(f"{text!r}: matcher {name!r} does not exist.", hint=_FORM)


def _same_text(expected: object, got: object) -> bool:
    return isinstance(expected, str) and isinstance(got, str) and plain(expected) == plain(got)


def _same_items(expected: object, got: object) -> bool:
    if not isinstance(expected, list) or not isinstance(got, list):
        return False
    return sorted(map(to_json, expected)) == sorted(map(to_json, got))


def _numeric(text: str, bound: str) -> Matcher:
    try:
        tolerance = float(bound)
    except ValueError:
        tolerance = -1.0
    if not (tolerance >= 0 and math.isfinite(tolerance)):
        raise ConfigurationError(f"{text!r}: {bound!r} is not a bound.", hint=_FORM)

    def matches(expected: Any, got: Any) -> bool:
        if isinstance(expected, str) and isinstance(got, str):
            pairs = (numbers_in(expected), numbers_in(got))
            is_like = without_numbers(expected) == without_numbers(got)
        else:
            pairs, is_like = ([expected], [got]), _is_number(expected) and _is_number(got)
        return is_like and all(
            math.isclose(a, b, rel_tol=1e-9, abs_tol=tolerance) for a, b in zip(*pairs, strict=True)
        )

    return matches


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
