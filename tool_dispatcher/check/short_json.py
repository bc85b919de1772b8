"""Arguments and results as one short line of text. Pure."""

import json

from tool_dispatcher.authoring.failures import readable

LINE_LENGTH_MAX = 400
_TEXT_LENGTH_MAX = 80
_ITEMS_MAX = 8
_DEPTH_MAX = 5
_DIGITS_MAX = 30


def short_json(value: object, length_max: int = LINE_LENGTH_MAX) -> str:
    """Return the value's JSON in short: long texts, lists and integers are cut, and deep nesting is omitted."""
    return readable(_printable(_shorten(value, 0)), length_max)


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
        items = list(value.items())[:_ITEMS_MAX]
        parts = [f"{_text(str(name))}: {_shorten(item, depth + 1)}" for name, item in items]
    else:
        parts = [_shorten(item, depth + 1) for item in value[:_ITEMS_MAX]]
    if len(value) > _ITEMS_MAX:
        parts.append(f"… {len(value)} in all")
    return opened + ", ".join(parts) + closed


def _text(text: str) -> str:
    beginning = json.dumps(text[:_TEXT_LENGTH_MAX], ensure_ascii=False)
    return beginning if len(text) <= _TEXT_LENGTH_MAX else f'{beginning[:-1]}…" ({len(text)} characters)'


def _printable(text: str) -> str:
    """Return the text without characters that are unsafe in a terminal or in UTF-8."""
    return "".join(sign if sign.isprintable() else json.dumps(sign)[1:-1] for sign in text)
