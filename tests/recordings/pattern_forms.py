"""Texts in which each part of a regular expression decides once: every alternative, character and bound."""

import re
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from itertools import islice
from typing import Any

from tests.recordings.pure_modules import pure_modules

_FORMS_MAX = 120
"""The most forms of one pattern."""
_CHARACTERS_MAX = 300
_CATEGORIES = {"CATEGORY_DIGIT": "7", "CATEGORY_SPACE": " ", "CATEGORY_WORD": "w"}
_OTHER = "x~7 "
"""Characters of which one is outside of nearly every set."""


def forms_in(*packages: str) -> list[str]:
    """Return the distinct forms of all module-level patterns in the pure modules of some packages."""
    found: dict[str, None] = {}
    for name in sorted(pure_modules()):
        if name.startswith(packages):
            module = import_module(name.removeprefix("shared/").replace("/", "."))
            patterns = [one for one in vars(module).values() if isinstance(one, re.Pattern)]
            for pattern in patterns:
                if isinstance(pattern.pattern, str):
                    found |= dict.fromkeys(islice(forms(pattern), _FORMS_MAX))
    return [form for form in found if form.strip() and len(form) <= _CHARACTERS_MAX]


def forms(pattern: re.Pattern[str]) -> Iterator[str]:
    """Yield a text that the pattern matches, and one for each part in which only that part differs."""
    nodes = import_module("re._parser").parse(pattern.pattern, pattern.flags)  # typeshed leaves it out
    yield _plain(nodes)
    yield from _others(nodes)


def _plain(nodes: Sequence[Any]) -> str:
    return "".join(map(_plain_node, nodes))


def _others(nodes: Sequence[Any]) -> Iterator[str]:
    texts = [_plain_node(node) for node in nodes]
    for place, node in enumerate(nodes):
        before, after = "".join(texts[:place]), "".join(texts[place + 1 :])
        yield from (before + other + after for other in _other_nodes(node))


def _plain_node(node: Any) -> str:
    kind: str = str(node[0])
    value: Any = node[1]
    match kind:
        case "LITERAL":
            return chr(value)
        case "NOT_LITERAL":
            return "x" if value != ord("x") else "y"
        case "ANY":
            return "x"
        case "IN":
            return _member(value)
        case "BRANCH":
            return _plain(value[1][0])
        case "SUBPATTERN":
            return _plain(value[3])
        case "ATOMIC_GROUP":
            return _plain(value)
        case "ASSERT":
            return _plain(value[1])
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            least, _, inner = value
            return _plain(inner) * int(least)
        case _:
            return ""


def _other_nodes(node: Any) -> Iterator[str]:
    kind, value = str(node[0]), node[1]
    match kind:
        case "IN":
            yield from _members(value)
        case "BRANCH":
            for branch in value[1]:
                yield _plain(branch)
                yield from _others(branch)
        case "SUBPATTERN":
            yield from _others(value[3])
        case "ATOMIC_GROUP":
            yield from _others(value)
        case "ASSERT":
            yield from _others(value[1])
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            least, most, inner = value
            counts = {least - 1, least + 1, int(most), int(most) + 1}
            yield from (_plain(inner) * count for count in sorted(counts) if 0 <= count <= _CHARACTERS_MAX)
            yield from (_plain(inner) * (least - 1) + other for other in _others(inner))


def _member(items: Sequence[Any]) -> str:
    """Return a character of a set: its first, or one outside of its excluded characters."""
    if str(items[0][0]) != "NEGATE":
        return next(_members(items))
    left_out = set(_members(items[1:]))
    return next(sign for sign in _OTHER + "#" if sign not in left_out)


def _members(items: Sequence[Any]) -> Iterator[str]:
    """Yield the characters of a set; for a range its ends, and the characters next to them."""
    for kind, value in items:
        match str(kind):
            case "LITERAL":
                yield chr(value)
            case "RANGE":
                low, high = value
                yield from (chr(one) for one in (low, high, low - 1, high + 1) if 0 <= one <= sys.maxunicode)
            case "CATEGORY":
                yield _CATEGORIES.get(str(value), "-")
