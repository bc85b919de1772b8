"""A fast test whether JSON or text may contain secret keys at all. Pure.

It is looser than `secret_keys.py` in everything but the letters, so that it matches any way to write a key
and its value: it ignores quotes, colons and brackets, and only requires that a key is a word, or part of one,
as in its pattern.
"""

import re
from functools import lru_cache

from antiphon_shared.text.native_search import NativeSearch

_BETWEEN = r"(?:[-_\s]|\\+t)*"
"""Signs that are ignored within a key."""
_WORD_BEGINS = r"(?:^|[^a-z0-9]|\\[bfnrt]|\\u[0-9a-f]{4}|%[0-9a-f]{2}|%(?:25)+[0-9a-f]{2})"
"""The beginning of a word; a letter before it may be part of JSON's escape of a line end, or a URL's of a quote."""
_LISTED = r"[^a-z0-9]{0,10}[:=]\s{0,4}(?:\\*[\"'\[]|\\+n|\s*-)"
"""The text after `tokens`, which often precedes a number."""
_KEY_BEGINS = _WORD_BEGINS.replace("[^a-z0-9]", "[^a-z0-9_-]", 1)
"""The beginning of `tokens`, but not of `input_tokens`."""
_WORD_ENDS = r"(?:[^a-z0-9]|$)"
_ASSIGNED = r"(?:[^a-z0-9]{0,10}(?:[:=,;|\t\r\n%]|\\+[nrt]|$)| [^ ]*[0-9])"
"""The text after a key with several meanings, when it is a key."""
_WRITTEN_OTHERWISE = r"\\u00[2-7c-f]|%(?:25)*(?:2[0d]|3[0-9]|[46][1-9a-f]|[57][0-9a]|5f)"
"""Escapes of letters in JSON within text, and of any character of a key in a URL."""


@lru_cache(16)
def key_hint(patterns: tuple[str, ...]) -> NativeSearch:
    """Return a search for keys by patterns, in which `*` is any text; those that begin with `!` are skipped."""
    meant = [_loosely(pattern) for pattern in patterns if not pattern.startswith("!")]
    return NativeSearch("(?i)" + "|".join((*meant, _WRITTEN_OTHERWISE)))


def _loosely(pattern: str) -> str:
    """Return an expression that matches wherever the longest part of the pattern occurs."""
    parts = pattern.removeprefix("?").split("*")
    longest = max(range(len(parts)), key=lambda n: len(parts[n]))
    letters = [_letter(letter) for letter in parts[longest].lower() if letter not in "-_ "]
    is_perhaps = pattern.startswith("?")
    begins = (_KEY_BEGINS if is_perhaps else _WORD_BEGINS) + _BETWEEN if longest == 0 else ""
    behind = _LISTED if pattern.endswith("tokens") else _ASSIGNED
    ends = _BETWEEN + (behind if is_perhaps else _WORD_ENDS) if longest == len(parts) - 1 else ""
    name = _BETWEEN.join(letters)
    return begins + name + ends + (f"|<{name}" if is_perhaps else "")


def _letter(letter: str) -> str:
    """Return an expression for a letter in either case; one beyond ASCII may be escaped as in ASCII JSON."""
    if letter == "i":
        return "[iİ]"  # the lower case of İ is two characters, of which the first is an i
    if letter.isascii():
        return re.escape(letter)
    return "|".join(("(?:" + letter, *(rf"\\+u{ord(one):04x}" for one in (letter, letter.upper()[0])))) + ")"
