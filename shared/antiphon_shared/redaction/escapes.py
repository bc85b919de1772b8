"""Backslash escapes of JSON and of literals in programs, and their meaning. Pure."""

import re

_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|([bfnrt\"'\\/]))")
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def unescaped(value: str, levels: int) -> str:
    """Return a text without the escapes of that many levels of quotes; other backslashes stay."""
    for _ in range(levels):
        if "\\" not in value:
            break
        value = _ESCAPE.sub(_unescape, value)
    # JSON escapes a character beyond U+FFFF as two.
    return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _unescape(match: "re.Match[str]") -> str:
    return chr(int(match[1], 16)) if match[1] else _ESCAPES.get(match[2], match[2])
