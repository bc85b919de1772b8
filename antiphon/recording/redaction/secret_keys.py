"""Keys whose values are secret: in JSON, in JSON within text, and in `key=value`. Pure.

A key is compared without regard to capitals, `_`, `-` and spaces: `apikey` means `api_key`, `API-Key` and `apiKey`.
"""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from urllib.parse import quote

from antiphon.recording.redaction.escapes import unescaped
from antiphon.recording.redaction.key_hint import key_hint
from antiphon.recording.redaction.url_encoded import as_meant
from antiphon.recording.redaction.values_in_text import spans

ALWAYS = (
    "*password*",
    "*passwd*",
    "pwd",
    "*passphrase*",
    "*passcode*",
    "*secret*",
    "!*secretar*",
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
"""Patterns that count in every export, unless an operator keeps a key; `*` is any text, `!` takes out again."""

Found = Callable[[str], str]
"""Told the value of a secret key in a text; returns what stands there instead."""


class SecretKeys:
    """Which keys are secret, by patterns; one with `!` before it takes keys out again."""

    def __init__(self, patterns: Iterable[str]) -> None:
        patterns = tuple(patterns)
        meant = [_squeezed(pattern) for pattern in patterns if not pattern.startswith("!")]
        kept = [_squeezed(pattern[1:]) for pattern in patterns if pattern.startswith("!")]
        self._meant, self._kept = _any_of(meant), _any_of(kept)
        self._hint = key_hint(patterns)
        self.matches = lru_cache(10_000)(self._matches)

    def suspects(self, text: str | bytes) -> bool:
        """Whether such a key may stand in JSON or text; `False` is certain."""
        return self._hint.may_match(text)

    def in_text(self, text: str, found: Found) -> str:
        """`text` with what `found` gives in place of the values of secret keys."""
        parts: list[str] = []
        done = 0
        for start, end, form, levels in spans(text, self.matches):
            value = unescaped(text[start:end], levels)
            instead = found(as_meant(value) if form in ("url", "encoded") else value)
            if form == "number":
                instead = "0"
            elif form == "encoded":
                instead = quote(instead, safe="")
            parts += (text[done:start], instead)
            done = end
        return "".join((*parts, text[done:])) if parts else text

    def _matches(self, key: str) -> bool:
        squeezed = _squeezed(key)
        return bool(self._meant.fullmatch(squeezed)) and not self._kept.fullmatch(squeezed)


def _squeezed(key: str) -> str:
    return key.lower().replace("_", "").replace("-", "").replace(" ", "")


def _any_of(patterns: Iterable[str]) -> "re.Pattern[str]":
    """Of squeezed patterns, one expression; of none, one that matches nothing."""
    written = [re.escape(pattern).replace(r"\*", ".*") for pattern in patterns]
    return re.compile("|".join(written) or r"(?!)", re.DOTALL)
