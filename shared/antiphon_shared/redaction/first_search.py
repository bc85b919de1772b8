"""Expressions for a first search, made from patterns: each matches wherever its pattern does, also in JSON. Pure.

A first search is several times faster than the pattern, as the engine of `NativeSearch` is. It must not have tests of
the surroundings, which the engine lacks, nor many counted repetitions and classes of Unicode, which slow it down.
"""

import re
from collections.abc import Iterator
from itertools import permutations

_TOKEN = re.compile(
    r"(?P<class>\[\^?(?:[^\]\\]|\\.)+\])|(?P<escape>\\.)|(?P<open>\((?:\?(?:P<\w+>|<?[=!]|[a-z]*:))?)|(?P<close>\))"
    r"|(?P<count>\{\d+,\d+\})|(?P<sign>.)",
    re.DOTALL,
)
_ESCAPED = r"\\+[nrt]"
"""A line end or a tab in JSON, and in JSON within JSON."""
_BEYOND_ASCII = r"\x{80}-\x{10FFFF}"
_WORD, _SPACE = "A-Za-z0-9_", r" \t\r\n"
_CLASSES = (r"\w", r"\s", r"\t", r"\r", r"\n")
_ESCAPES = {r"\b": "", r"\Z": "$", r"\S": rf"[^{_SPACE}]"}
_CHARACTERS_MIN = 8
_TRAILING = "[.,:!?*_]*"


def _with_digit(sign: str) -> str:
    """Return an expression for a word of those signs that is long enough and has a digit."""
    ways = (f"{sign}{{{n}}}[0-9]{sign}{{{_CHARACTERS_MIN - 1 - n}}}" for n in range(_CHARACTERS_MIN))
    return f"(?:{'|'.join(ways)}|{sign}{{{_CHARACTERS_MIN},}}[0-9]){sign}*{_TRAILING}"


def _with_kinds(sign: str) -> str:
    """Return an expression for a word of those signs with capitals, small letters and digits."""
    ways = (f"{sign}*".join(way) for way in permutations(("[A-Z]", "[a-z]", "[0-9]")))
    return f"{sign}*(?:{'|'.join(ways)}){sign}*{_TRAILING}"


A_PASSWORD = _with_digit(r"[^ \t\r\n()\[\]{}<>\"'`,;|\\/:=]")
A_TOKEN = _with_digit(r"[A-Za-z0-9_~.+/=%-]")
A_RANDOM_PASSWORD = _with_kinds(r"[^ \t\r\n()\[\]{}<>\"'`,;|\\/:=]")
A_RANDOM_WORD = _with_digit(r"[^ \t\r\n\"\\]")
"""Expressions that match where the tests of those names in harmless.py are true."""


def loosened(pattern: str, value: str = "") -> str:
    """Return an expression that matches wherever the pattern does, in a text and in its JSON.

    `value`, if given, replaces the group of that name: it must match every value that counts. A test of what precedes
    must be at the pattern's beginning, and one of what follows at its end.
    """
    tokens = list(_TOKEN.finditer(pattern))
    return "".join(_loosened(tokens, value))


def _loosened(tokens: list["re.Match[str]"], value: str) -> Iterator[str]:
    at = 0
    while at < len(tokens):
        part, kind = tokens[at][0], tokens[at].lastgroup
        at += 1
        if kind == "open" and part in ("(?!", "(?<!"):
            end = _closing(tokens, at)
            if part == "(?<!" and end == at + 1:
                yield _preceded(tokens[at][0])
            at = end + 1
        elif part == "(?P<value>" and value:
            yield value
            at = _closing(tokens, at) + 1
        elif kind == "class":
            yield _class(part)
        elif kind == "escape":
            yield _class(f"[{part}]") if part in _CLASSES else _ESCAPES.get(part, part)
        elif kind == "open":
            yield part if part.startswith("(?i") else "(?:"
        elif kind == "count":
            least = int(part[1:].partition(",")[0])
            yield "*" if least == 0 else "+" if least == 1 else f"{{{least},}}"
        else:
            yield part


def _closing(tokens: list["re.Match[str]"], at: int) -> int:
    """Return the index of the parenthesis that closes the group in which `at` is."""
    depth = 1
    while True:
        depth += (tokens[at].lastgroup == "open") - (tokens[at].lastgroup == "close")
        if not depth:
            return at
        at += 1


def _class(part: str) -> str:
    """Return a class of ASCII; if it matches spaces or line ends, also their escapes in JSON."""
    if part.startswith("[^"):
        return part.replace(r"\w", _WORD).replace(r"\s", _SPACE)
    has_space = any(sign in part for sign in (r"\s", r"\t", r"\r", r"\n"))
    wide = _BEYOND_ASCII if r"\w" in part or r"\s" in part else ""
    inside = part[1:-1].replace(r"\w", _WORD).replace(r"\s", _SPACE)
    return f"(?:[{wide}{inside}]|{_ESCAPED})" if has_space else f"[{wide}{inside}]"


def _preceded(inside: str) -> str:
    """Return the signs that may precede, from the class of the signs that may not."""
    if inside.startswith("[^"):
        return f"(?:^|{_class('[' + inside[2:])})"
    return f"(?:^|{_class('[^' + inside[1:])}|{_ESCAPED})"
