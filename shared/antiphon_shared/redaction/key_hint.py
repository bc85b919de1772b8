"""A quick look for secret keys: whether one may stand in JSON or text at all. Pure.

Looser than `secret_keys.py` in everything but the letters, so that it holds for any way to write a key and its value:
it knows no quotes, colons and brackets, only that a key is a word, or part of one, as its pattern says.
"""

import re
from functools import lru_cache

from antiphon_shared.redaction.lines_of_files import HINT
from antiphon_shared.text.native_search import NativeSearch

_BETWEEN = r"(?:[-_\s]|\\+t)*"
"""Signs that do not matter in a key."""
_LETTER = {"i": "[iİ]"}
"""In small letters that is two signs, of which the first is an `i`."""
_WORD_BEGINS = r"(?:^|[^a-z0-9]|\\[bfnrt]|\\u[0-9a-f]{4}|%[0-9a-f]{2}|%(?:25)+[0-9a-f]{2})"
"""A letter before it may be part of how JSON writes a line's end, or a URL a quote."""
_LISTED = r"[^a-z0-9]{0,10}[:=]\s{0,4}(?:\\*[\"'\[]|\\+n|\s*-)"
"""Behind `tokens`, which often stands before a number."""
_KEY_BEGINS = _WORD_BEGINS.replace("[^a-z0-9]", "[^a-z0-9_-]", 1)
"""`tokens`, and not `input_tokens`."""
_WORD_ENDS = r"(?:[^a-z0-9]|$)"
_ASSIGNED = r"[^a-z0-9]{0,10}(?:[:=,;|\t\r\n%]|\\+[nrt]|$)"
"""What stands behind a key that often means something else, where it is one."""
_WRITTEN_OTHERWISE = r"\\u00[2-7c-f]|%(?:25)*(?:2[0d]|3[0-9]|[46][1-9a-f]|[57][0-9a]|5f)"
"""JSON within text may write any letter so; and a URL any sign of a key."""


@lru_cache(16)
def key_hint(patterns: tuple[str, ...]) -> NativeSearch:
    """Looks for keys by those patterns, in which `*` is any text; those that begin with `!` do not count."""
    meant = [_loosely(pattern) for pattern in patterns if not pattern.startswith("!")]
    return NativeSearch("(?i)" + "|".join((*meant, _WRITTEN_OTHERWISE, f"(?-i:{HINT})")))


def _loosely(pattern: str) -> str:
    """An expression for whatever holds the longest part of the pattern."""
    parts = pattern.removeprefix("?").split("*")
    longest = max(range(len(parts)), key=lambda n: len(parts[n]))
    letters = [
        _LETTER.get(letter, re.escape(letter)) for letter in parts[longest].lower() if letter not in "-_ "
    ]
    is_perhaps = pattern.startswith("?")
    begins = (_KEY_BEGINS if is_perhaps else _WORD_BEGINS) + _BETWEEN if longest == 0 else ""
    behind = _LISTED if pattern.endswith("tokens") else _ASSIGNED
    ends = _BETWEEN + (behind if is_perhaps else _WORD_ENDS) if longest == len(parts) - 1 else ""
    name = _BETWEEN.join(letters)
    return begins + name + ends + (f"|<{name}" if is_perhaps else "")
