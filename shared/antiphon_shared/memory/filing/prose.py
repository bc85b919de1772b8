"""The prose within a structured value: texts of sentences, apart from names, codes and numbers. Pure."""

import re
from collections.abc import Iterable
from typing import Any

from antiphon_shared.memory.filing.pieces import DEPTH_MAX, PATH_MAX, TEXT_KEYS, member

PROSE_MIN = 60
_PROSE_WITHOUT_END = 200
_TEXT_MIN = 25
_SENTENCE_END = re.compile(r"[.!?…。！？؟।](?:[\"'”’)\]]?(?:\s|$)|(?<=[。！？]))")
_WIDE = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]")
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
    is_dict = isinstance(value, dict)
    members: Iterable[tuple[Any, Any]] = value.items() if isinstance(value, dict) else enumerate(value)
    remaining: dict[Any, Any] = {}
    prose: list[tuple[str, str]] = []
    for name, inner in members:
        inner_path = path + (member(str(name)) if is_dict else f"[{name}]")
        rest, inner_prose = without_prose(inner, inner_path, str(name) if is_dict else key, depth + 1)
        prose += inner_prose
        if rest is not REMOVED:
            remaining[name] = rest
    if not prose:
        return value, []
    if not remaining:
        return REMOVED, prose
    return (remaining if is_dict else list(remaining.values())), prose


def has_prose(value: object, path: str, key: str = "", depth: int = 0) -> bool:
    """Return whether `without_prose` finds prose in the value; it stops at the first text."""
    if isinstance(value, str):
        return len(path) <= PATH_MAX and _is_prose(value, key)
    if not isinstance(value, _NESTED) or depth > DEPTH_MAX or len(path) > PATH_MAX:
        return False
    is_dict = isinstance(value, dict)
    for name, inner in value.items() if isinstance(value, dict) else enumerate(value):
        inner_path = path + (member(str(name)) if is_dict else f"[{name}]")
        if has_prose(inner, inner_path, str(name) if is_dict else key, depth + 1):
            return True
    return False


def _is_prose(text: str, key: str) -> bool:
    if len(text) < _TEXT_MIN:
        return False
    has_text_key = key.lower() in TEXT_KEYS
    if len(text) < PROSE_MIN and not has_text_key:
        return False
    if len(text.split(None, 1)) < 2 and not _WIDE.search(text):
        return False
    is_long = len(text) > (PROSE_MIN if has_text_key else _PROSE_WITHOUT_END)
    return is_long or _SENTENCE_END.search(text) is not None
