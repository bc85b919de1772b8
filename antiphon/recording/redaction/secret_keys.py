"""Keys whose values are secret: in JSON, in JSON within text, and in `key=value`. Pure.

A key is compared without regard to capitals, `_`, `-` and spaces: `apikey` means `api_key`, `API-Key` and `apiKey`.
"""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from urllib.parse import quote

from antiphon.recording.redaction.url_encoded import as_meant
from antiphon.recording.redaction.values_in_text import SECOND_WORDS, spans

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
_BETWEEN = b" \t\"'`*\\:"
"""What may stand between a key and what tells that it is one."""
_KEY_MAX = 200
_QUOTE_IN_KEY = re.compile(rb'\\"[^"\\]*":')
_AS_COLONS = bytes.maketrans(b"=|>&", b"::::")
"""Of what stands behind a key, signs are looked for as one."""
_ESCAPED_SPACES = (b"\\t", b"\\n", b"\\r")
_BEHIND_KEYS = (b":", b" is ", b" to ")
_OPTION = re.compile(rb"[A-Za-z][\w-]*")
_ENCODED = re.compile(rb"%(?:25){0,8}(?:22|27|3[AaDd])")
_ENCODED_BYTE = re.compile(rb"%(?:25){0,8}([0-9A-Fa-f]{2})")
_REMEMBERED_MAX = 10_000
_NOT_ALONE = frozenset((b"", *(word.encode() for word in SECOND_WORDS)))
"""Last words that tell of a key only together with those before them."""

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
        if self._any_matches(key.rstrip(b"\\") for key in keys) or self._may_stand_in_text(raw):
            return True
        self._remember(keys)
        return False

    def in_text(self, text: str, found: Found) -> str:
        """`text` with what `found` gives in place of the values of secret keys."""
        parts: list[str] = []
        done = 0
        for start, end, form in spans(text, self.matches):
            value = text[start:end]
            instead = found(as_meant(value) if form in ("url", "encoded") else value)
            if form == "number":
                instead = "0"
            elif form == "encoded":
                instead = quote(instead, safe="")
            parts += (text[done:start], instead)
            done = end
        return "".join((*parts, text[done:])) if parts else text

    def _may_stand_in_text(self, raw: bytes) -> bool:
        """The same for what is not written as a key of JSON."""
        if b"%" in raw and _ENCODED.search(raw):
            raw = _ENCODED_BYTE.sub(lambda match: bytes((int(match[1], 16),)), raw)
        else:
            raw = raw.replace(b'":', b'"')
        raw = raw.translate(_AS_COLONS)
        for mark in _BEHIND_KEYS:
            tails = [piece[-_KEY_MAX:] for piece in raw.split(mark)[:-1]]
            ends = {tail.rpartition(b" ")[2] for tail in tails} - self._harmless
            if not ends:
                continue
            of_more = {end for end in ends if _last_word(end)[0].lower() in _NOT_ALONE}
            if any(self._any_matches(_last_word(end)) for end in ends) or any(
                self._any_matches(_last_words(tail))
                for tail in tails
                if of_more and tail.endswith(tuple(of_more))
            ):
                return True
            self._remember(ends - of_more)
        if b"--" not in raw:
            return False
        options = (_OPTION.match(piece[:_KEY_MAX]) for piece in raw.split(b"--")[1:])
        return self._any_matches(option[0] for option in options if option)

    def _any_matches(self, keys: Iterable[bytes]) -> bool:
        return any(self.matches(key.decode("utf-8", "replace")) for key in keys)

    def _remember(self, harmless: set[bytes]) -> None:
        if len(self._harmless) < _REMEMBERED_MAX:
            self._harmless |= harmless

    def _matches(self, key: str) -> bool:
        squeezed = _squeezed(key)
        return bool(self._meant.fullmatch(squeezed)) and not self._kept.fullmatch(squeezed)


def _keys_in(raw: bytes) -> set[bytes] | None:
    """What may be a key of JSON, or of text; None where that is not easily told. Cutting is quicker than searching."""
    if _QUOTE_IN_KEY.search(raw) is not None:
        return None
    raw = raw.replace(b'" :', b'":')
    keys = {piece[-_KEY_MAX:].rpartition(b'"')[2] for piece in raw.split(b'":')[:-1]}
    if b"':" in raw or b"' :" in raw:
        keys |= {
            piece.rpartition(b"'")[2][-_KEY_MAX:] for piece in raw.replace(b"' :", b"':").split(b"':")[:-1]
        }
    return keys


def _last_word(end: bytes) -> tuple[bytes, ...]:
    """The word at the end of what stands before a colon, as a key may be written there."""
    end = end.rstrip(_BETWEEN)
    if end.endswith(_ESCAPED_SPACES):
        end = end[:-2].rstrip(_BETWEEN)
    before = end.rstrip(_WORD)
    word = end[len(before) :]
    # A line's end in JSON is written with a letter.
    return (word, word[1:]) if before.endswith(b"\\") else (word,)


def _last_words(tail: bytes) -> tuple[bytes, ...]:
    """The last word, and with it those before it."""
    words = tail.rstrip(_BETWEEN).split()[-3:]
    return (*_last_word(tail), b" ".join(words[-2:]), b" ".join(words))


def _squeezed(key: str) -> str:
    return key.lower().replace("_", "").replace("-", "").replace(" ", "")


def _any_of(patterns: Iterable[str]) -> "re.Pattern[str]":
    """Of squeezed patterns, one expression; of none, one that matches nothing."""
    written = [re.escape(pattern).replace(r"\*", ".*") for pattern in patterns]
    return re.compile("|".join(written) or r"(?!)", re.DOTALL)
