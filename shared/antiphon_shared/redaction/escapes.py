"""What JSON and literals of programs write with backslashes, and what was meant by it. Pure."""

import re

_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|([bfnrt\"'\\/]))")
_MEANT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def unescaped(value: str, levels: int) -> str:
    """A text as it was before it was written in quotes so many times; what is no escape stays."""
    for _ in range(levels):
        if "\\" not in value:
            break
        value = _ESCAPE.sub(_meant, value)
    # JSON writes a sign beyond U+FFFF as two.
    return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _meant(match: "re.Match[str]") -> str:
    return chr(int(match[1], 16)) if match[1] else _MEANT.get(match[2], match[2])
