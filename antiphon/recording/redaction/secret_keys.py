"""Keys whose values are secret: in JSON, in JSON within text, and in `key=value`. Pure.

A key is compared without regard to capitals, `_`, `-` and spaces: `apikey` means `api_key`, `API-Key` and `apiKey`.
"""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import chain

from shared.native_search import NativeSearch

ALWAYS = (
    "*password*",
    "*passwd*",
    "pwd",
    "*passphrase*",
    "*passcode*",
    "*secret*",
    "token",
    "*token",
    "*apikey*",
    "*accesskey*",
    "*privatekey*",
    "*signingkey*",
    "*encryptionkey*",
    "*authorization",
    "*credential*",
    "*cookie",
    "*sessioncookie*",
    "ssn",
    "*socialsecurity*",
    "iban",
    "*creditcard*",
    "*cardnumber*",
    "cvv",
    "cvc",
    "pin",
    "pincode",
    "otp",
)
"""Patterns that count in every export, unless an operator keeps a key; `*` is any text."""

_WORD = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
_NO_WORD = re.compile(r"[^\w-]")
_KEY_MAX = 200
_QUOTE_IN_KEY = NativeSearch(r'(?s)\\"(?:[^"\\]|\\.)*":')  # in linear time
_REMEMBERED_MAX = 10_000
_BACKSLASHES_MAX = 64
_IN_TEXT = re.compile(
    r"(?<![\w-])(?P<key>[A-Za-z_][\w-]{0,80}+)"
    r"(?:(?P<escape>\\{0,15})(?P<closing>[\"']) ?:\s{0,40}"
    r"(?:(?P<quoted>(?P=escape)[\"'])|(?P<number>-?\d[\d.eE+-]{0,40})|(?P<opened>[\[{]))"
    r"|=(?:(?P<assigned>\\{0,15}[\"'])|(?P<bare>[^\s&;,\"'<>()\[\]{}\\]{1,4096})))"
)
"""`"key": "value"`, `"key": 12`, `"key": [` and `key=value`; of what is in quotes or brackets, only its beginning."""
_BRACKET_OR_QUOTE = re.compile(r"[\[\]{}\"']")
_COLON = re.compile(r"\s{0,40}:")

Found = Callable[[str], str]
"""Told the value of a secret key in a text; returns what stands there instead."""


class SecretKeys:
    """Which keys are secret, by patterns; one with `!` before it takes keys out again."""

    def __init__(self, patterns: Iterable[str]) -> None:
        patterns = tuple(patterns)
        meant = [_squeezed(pattern) for pattern in patterns if not pattern.startswith("!")]
        kept = [_squeezed(pattern[1:]) for pattern in patterns if pattern.startswith("!")]
        self._meant, self._kept = _any_of(meant), _any_of(kept)
        self._harmless: set[bytes] = set()
        self.matches = lru_cache(10_000)(self._matches)

    def suspects(self, raw: bytes) -> bool:
        """Whether such a key may stand in JSON or text; `False` is certain."""
        keys = _keys_in(raw)
        if keys is None:
            return True
        keys -= self._harmless
        if any(self.matches(key.decode("utf-8", "replace")) for key in keys):
            return True
        if len(self._harmless) < _REMEMBERED_MAX:
            self._harmless |= keys
        return False

    def in_text(self, text: str, found: Found) -> str:
        """`text` with what `found` gives in place of the values of secret keys."""
        parts: list[str] = []
        done = at = 0
        while (match := _IN_TEXT.search(text, at)) is not None:
            at = match.end()
            if not self.matches(match["key"]):
                at = match.end("key")
                continue
            spans, at = _texts_inside(text, match) if match["opened"] else _value_span(text, match)
            for start, end in spans:
                instead = found(text[start:end])
                parts += (text[done:start], "0" if match["number"] else instead)
                done = end
        return "".join((*parts, text[done:])) if parts else text

    def _matches(self, key: str) -> bool:
        squeezed = _squeezed(key)
        return bool(self._meant.fullmatch(squeezed)) and not self._kept.fullmatch(squeezed)


def _keys_in(raw: bytes) -> set[bytes] | None:
    """What stands before a colon or `=`; None where that is not easily told. Cutting is quicker than searching."""
    if _QUOTE_IN_KEY.may_match(raw):
        return None
    raw = raw.replace(b'" :', b'":')
    keys = {piece.rpartition(b'"')[2] for piece in raw.split(b'":')[:-1]}
    if b"':" in raw or b"' :" in raw:
        keys |= {piece.rpartition(b"'")[2] for piece in raw.replace(b"' :", b"':").split(b"':")[:-1]}
    keys = {key.rstrip(b"\\")[-_KEY_MAX:] for key in keys}
    ends = {piece[-_KEY_MAX:] for piece in raw.split(b"=")[:-1]}
    return keys.union(chain.from_iterable(map(_last_words, keys | ends)))


def _last_words(text: bytes) -> list[bytes]:
    """What a key at the end of a text may be: a letter before it may be part of JSON's way to write a line's end."""
    before = text.rstrip(_WORD)
    words = [text[len(before) :]]
    if before[-1:] >= b"\x80":  # a letter, or a quotation mark
        words.append(_NO_WORD.split(text.decode("utf-8", "replace"))[-1].encode())
        before = text[: -len(words[-1])] if words[-1] else text
    if before.endswith(b"\\"):
        words += (words[-1][1:], words[-1][5:])
    return words


_Spans = tuple[list[tuple[int, int]], int]
"""Where values stand that are not empty, and from where on to look for others."""


def _value_span(text: str, match: "re.Match[str]") -> _Spans:
    """One whose end was cut off goes to the end of the text."""
    for name in ("number", "bare"):
        if match[name]:
            return [match.span(name)], match.end(name)
    start = match.end()
    end = _end_of(text, start, match["quoted"] or match["assigned"])
    return ([(start, end)] if start < end else []), end


def _texts_inside(text: str, match: "re.Match[str]") -> _Spans:
    """The texts of a list or an object, all of which are secret; its keys are not."""
    quote, depth, at = match["escape"] + match["closing"], 1, match.end()
    spans: list[tuple[int, int]] = []
    while depth and (sign := _BRACKET_OR_QUOTE.search(text, at)) is not None:
        at = sign.end()
        if sign[0] in "[{":
            depth += 1
        elif sign[0] in "]}":
            depth -= 1
        elif text.endswith(quote, match.end(), at):
            start, end = at, _end_of(text, at, quote)
            at = end + len(quote)
            if start < end and _COLON.match(text, at) is None:
                spans.append((start, end))
    return spans, at if not depth else len(text)


def _end_of(text: str, start: int, quote: str) -> int:
    """Where a quoted value ends; one whose end was cut off goes to the end of the text."""
    end = start
    while (end := text.find(quote[-1], end)) >= 0:
        before = text[max(start, end - _BACKSLASHES_MAX) : end]
        backslashes = len(before) - len(before.rstrip("\\"))
        if backslashes >= len(quote) - 1 and (backslashes - len(quote) + 1) // len(quote) % 2 == 0:
            return end - len(quote) + 1
        end += 1
    return len(text)


def _squeezed(key: str) -> str:
    return key.lower().replace("_", "").replace("-", "").replace(" ", "")


def _any_of(patterns: Iterable[str]) -> "re.Pattern[str]":
    """Of squeezed patterns, one expression; of none, one that matches nothing."""
    written = [re.escape(pattern).replace(r"\*", ".*") for pattern in patterns]
    return re.compile("|".join(written) or r"(?!)", re.DOTALL)
