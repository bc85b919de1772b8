"""The prose within a structured value: texts of sentences, apart from names, codes and numbers. Pure."""

import re
from collections.abc import Iterator
from typing import Any

from antiphon_shared.memory.filing.pieces import DEPTH_MAX, PATH_MAX, TEXT_KEYS, member
from antiphon_shared.text.sentences import UNSPACED

PROSE_MIN = 60
_PROSE_WITHOUT_END = 200
_TEXT_MIN = 25
_SENTENCE_END = re.compile(r"[.!?…。！？؟।](?:[\"'”’)\]]?(?:\s|$)|(?<=[。！？]))")
REMOVED = object()
_NESTED = (dict, list)


def without_prose(
    value: object, path: str, key: str = "", depth: int = 0
) -> tuple[Any, list[tuple[str, str]]]:
    """Return the value without its prose and the members that this leaves empty; and the prose with its paths."""
    if isinstance(value, str) and len(path) <= PATH_MAX and _is_prose(value, key):
        return REMOVED, [(path, value)]
    if not isinstance(value, _NESTED) or not value or depth > DEPTH_MAX or len(path) > PATH_MAX:
        return value, []
    remaining: dict[Any, Any] = {}
    prose: list[tuple[str, str]] = []
    for name, inner, inner_path, inner_key in _members(value, path, key):
        rest, inner_prose = without_prose(inner, inner_path, inner_key, depth + 1)
        prose += inner_prose
        if rest is not REMOVED:
            remaining[name] = rest
    if not prose:
        return value, []
    if not remaining:
        return REMOVED, prose
    return (remaining if isinstance(value, dict) else list(remaining.values())), prose


def has_prose(value: object, path: str, key: str = "", depth: int = 0) -> bool:
    """Return whether `without_prose` finds prose in the value; it stops at the first text."""
    if isinstance(value, str):
        return len(path) <= PATH_MAX and _is_prose(value, key)
    if not isinstance(value, _NESTED) or depth > DEPTH_MAX or len(path) > PATH_MAX:
        return False
    return any(
        has_prose(inner, inner_path, inner_key, depth + 1)
        for _, inner, inner_path, inner_key in _members(value, path, key)
    )


def _members(
    value: dict[str, Any] | list[Any], path: str, key: str
) -> Iterator[tuple[str | int, Any, str, str]]:
    """Yield each member by its name or index, with its path and its key; an item has the key of its list."""
    if isinstance(value, dict):
        yield from ((name, inner, path + member(name), name) for name, inner in value.items())
    else:
        yield from ((n, inner, f"{path}[{n}]", key) for n, inner in enumerate(value))


def _is_prose(text: str, key: str) -> bool:
    if len(text) < _TEXT_MIN:
        return False
    has_text_key = key.lower() in TEXT_KEYS
    if len(text) < PROSE_MIN and not has_text_key:
        return False
    if len(text.split(None, 1)) < 2 and not UNSPACED.search(text):
        return False
    is_long = len(text) > (PROSE_MIN if has_text_key else _PROSE_WITHOUT_END)
    return is_long or _SENTENCE_END.search(text) is not None
