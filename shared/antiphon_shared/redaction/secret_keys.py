"""Keys whose values are secret: in JSON, in JSON within text, and in `key=value`. Pure.

A key is compared without regard to capitals, `_`, `-` and spaces: `apikey` means `api_key`, `API-Key` and `apiKey`.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable
from functools import lru_cache
from operator import itemgetter
from urllib.parse import quote

from antiphon_shared.redaction import lines_of_files, unnamed_values
from antiphon_shared.redaction.escapes import unescaped
from antiphon_shared.redaction.harmless import looks_random
from antiphon_shared.redaction.key_hint import key_hint
from antiphon_shared.redaction.lines_of_files import in_lines
from antiphon_shared.redaction.span import Span, merge_overlapping
from antiphon_shared.redaction.unnamed_values import unnamed
from antiphon_shared.redaction.url_encoded import as_meant
from antiphon_shared.redaction.values_in_text import spans
from antiphon_shared.text.native_search import NativeSearch

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
    "psk",
    "pw",
    "bindpw",
    "*presharedkey",
    "*accountkey*",
    "*storagekey",
    "authkey",
    "*authtok",
    "requirepass",
    "*passwort*",
    "*kennwort*",
    "*contraseña*",
    "*motdepasse*",
    "*senha",
    "*wachtwoord*",
    "*hasło*",
    "*пароль*",
    "*lösenord*",
    "*adgangskode*",
    "*salasana*",
    "*heslo*",
    "*jelszó*",
    "*şifre*",
    "*密码",
    "*パスワード",
    "*비밀번호",
    "?pass",
    "?*pass",
    "?*pw",
    "?*auth",
    "?authkey",
    "?tokens",
    "?apitokens",
    "?authtokens",
    "?accesstokens",
    "?refreshtokens",
    "?sig",
    "?*signature",
    "?*signature256",
    "?appkey",
    "?*applicationkey",
    "?*subscriptionkey",
    "?*functionkey",
    "?*functionskey",
    "?*routingkey",
    "?*integrationkey",
    "?*servicekey",
    "?*licensekey",
    "?*masterkey",
    "?*sharedkey",
    "?*webhookkey",
    "?encrypt",
    "?*salt",
    "?*pepper",
    "?*sign",
    "?*signer",
    "?*jwt",
    "?*bearer",
    "?*hmac",
    "?*license",
    "?*privkey",
    "?*passkey",
    "?*creds",
    "?sid",
    "?*crumb",
    "?*csrf",
    "?*xsrf",
    "?xsessionid",
    "?jsessionid",
    "?*sessid",
    "?connectsid",
    "?*pwd",
    "*dockerconfigjson",
    "*recoverycode*",
    "*backupcode*",
    "?*streamkey",
    "?*streamname",
    "*seedphrase*",
    "stringdata",
)
"""Patterns that apply to every export, unless an operator keeps a key.

`*` is any text; `!` excludes; `?` marks a key with several meanings: its value is secret only if it is random
letters and digits.
"""

_ESCAPED_LETTER = re.compile(r"\\+u([0-9a-fA-F]{4})")
_SEPARATOR = re.compile(r"[\s:=|<>(%\"'\\/-]")
"""One of the separators between a key or a name and its value."""
_WITHOUT_KEYS = NativeSearch(f"{lines_of_files.HINT}|{unnamed_values.BY_WORDS}", unnamed_values.BY_SIGNS)
_DIGIT = re.compile(r"[0-9]")
"""A part of every value that no key names."""
Replacement = Callable[[str], str]
"""A function from the value of a secret key in a text to its replacement."""


class SecretKeys:
    """Secret keys, by patterns."""

    def __init__(self, patterns: Iterable[str]) -> None:
        patterns = tuple(patterns)
        self._meant, self._perhaps, self._exempt = (_any_of(patterns, mark) for mark in ("", "?", "!"))
        self._key_hint = key_hint(patterns)
        self.hint = NativeSearch.of_any((self._key_hint, _WITHOUT_KEYS))
        """A search for possible secret keys in JSON or text, and for secrets in a fixed form or without a key."""
        self._perhaps_hint = key_hint(tuple(pattern for pattern in patterns if _mark(pattern) == "?"))
        self.matches = lru_cache(10_000)(self._matches)
        self.may_match = lru_cache(10_000)(self._may_match)

    def suspects(self, text: str | bytes) -> bool:
        """Return whether JSON or text may contain such a key; False is certain."""
        return self.hint.may_match(text)

    def in_text(self, text: str, replacement: Replacement) -> str:
        """Return `text` with the results of `replacement` in place of the values of secret keys."""
        parts: list[str] = []
        done = 0
        for start, end, form, levels in self._spans(text):
            value = unescaped(text[start:end], levels)
            instead = replacement(as_meant(value) if form in ("url", "encoded") else value)
            if form == "number":
                instead = "0"
            elif form == "encoded":
                instead = quote(instead, safe="")
            parts += (text[done:start], instead)
            done = end
        return "".join((*parts, text[done:])) if parts else text

    def _spans(self, text: str) -> list[Span]:
        has_separator = _SEPARATOR.search(text) is not None
        candidates = [*spans(text, self.matches)] if has_separator and self._key_hint.may_match(text) else []
        candidates += in_lines(text)
        if has_separator and self._perhaps_hint.may_match(text):
            perhaps = spans(text, self.may_match)
            candidates += (one for one in perhaps if looks_random(text[one.start : one.end]))
        keyed = merge_overlapping(candidates)
        if not has_separator or _DIGIT.search(text) is None:
            return keyed
        return merge_overlapping((*keyed, *(one for one in unnamed(text) if not _overlaps(one, keyed))))

    def hides(self, key: str, value: str) -> bool:
        """Return whether a text is secret as the value of that key."""
        return bool(value) and (self.matches(key) or (self.may_match(key) and looks_random(value)))

    def _matches(self, key: str) -> bool:
        squeezed = _squeezed(key)
        return bool(self._meant.fullmatch(squeezed)) and not self._exempt.fullmatch(squeezed)

    def _may_match(self, key: str) -> bool:
        squeezed = _squeezed(key)
        return bool(self._perhaps.fullmatch(squeezed)) and not self._exempt.fullmatch(squeezed)


def _overlaps(one: Span, spans: list[Span]) -> bool:
    """Return whether a span overlaps one of some ordered spans; their keys mark the end of a value better."""
    before = bisect_left(spans, one.end, key=itemgetter(0)) - 1
    return before >= 0 and spans[before].end > one.start


@lru_cache(8)
def secret_keys(patterns: tuple[str, ...]) -> SecretKeys:
    """Return the keys by those patterns, cached."""
    return SecretKeys(patterns)


def _squeezed(key: str) -> str:
    if "\\" in key:
        key = _ESCAPED_LETTER.sub(lambda match: chr(int(match[1], 16)), key)
    return key.lower().replace("_", "").replace("-", "").replace(" ", "")


def _any_of(patterns: Iterable[str], mark: str) -> "re.Pattern[str]":
    """Return one expression for the patterns with that mark; without any, one that never matches."""
    meant = (pattern.lstrip("!?") for pattern in patterns if _mark(pattern) == mark)
    written = [re.escape(_squeezed(pattern)).replace(r"\*", ".*") for pattern in meant]
    return re.compile("|".join(written) or r"(?!)", re.DOTALL)


def _mark(pattern: str) -> str:
    return pattern[0] if pattern[:1] in ("!", "?") else ""
