"""Any arguments and results as one short line of text. Pure."""

import json
from typing import TypeVar

LINE_LENGTH_MAX = 400
_TEXT_LENGTH_MAX = 80
_ITEMS_MAX = 8
_DEPTH_MAX = 5
_DIGITS_MAX = 30

T = TypeVar("T")


def short_json(value: object, length_max: int = LINE_LENGTH_MAX) -> str:
    """Return the value's JSON in short; a description replaces long texts, lists and integers, and deep nesting."""
    return _cut(_printable(_shorten(value, 0)), length_max)


def _shorten(value: object, depth: int) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > _DIGITS_MAX * 4:
        return f"(an integer of {value.bit_length()} bits)"
    if not isinstance(value, dict | list):
        return json.dumps(value)
    if depth >= _DEPTH_MAX and value:
        return "(nested deeper)"
    opened, closed = ("{", "}") if isinstance(value, dict) else ("[", "]")
    if isinstance(value, dict):
        parts = [
            f"{_text(str(name))}: {_shorten(item, depth + 1)}" for name, item in _first(list(value.items()))
        ]
    else:
        parts = [_shorten(item, depth + 1) for item in _first(value)]
    if len(value) > _ITEMS_MAX:
        parts.append(f"… {len(value)} in all")
    return opened + ", ".join(parts) + closed


def _first(items: list[T]) -> list[T]:
    return items[:_ITEMS_MAX]


def _text(text: str) -> str:
    kept = json.dumps(text[:_TEXT_LENGTH_MAX], ensure_ascii=False)
    return kept if len(text) <= _TEXT_LENGTH_MAX else f'{kept[:-1]}…" ({len(text)} characters)'


def _printable(text: str) -> str:
    """Return the text without characters that are unsafe in a terminal or in UTF-8."""
    return "".join(sign if sign.isprintable() else json.dumps(sign)[1:-1] for sign in text)


def _cut(text: str, length_max: int) -> str:
    return text if len(text) <= length_max else f"{text[: length_max - 1]}…"
