"""Known or found secret values, and their repetitions in any form. Pure."""

import json
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from urllib.parse import quote, quote_plus

SECRET_CHARACTERS_MIN = 6
"""The least length of a searched value: a shorter one would match in many words."""
CHARACTERS_MAX = 10_000
"""Bound on the searched part of a found value; a longer one is found by its beginning."""
_WORD_CHARACTERS_MAX = 12
"""The length up to which an alphanumeric value is only found as a word, as ids and hashes contain such parts
by chance.
"""
_BASE64_PART_BYTES_MIN = 8
_MARKS_MAX = 60
_PREFIX = 6
"""The depth to which an expression shares the beginnings of its alternatives."""
_REDACTED = "[redacted]"


class KnownValues:
    """A search for values in text. `placeholders` maps each value to its replacement.

    With `as_words`, for values that were found, short ones only match as whole words.
    """

    def __init__(
        self,
        placeholders: Mapping[str, str],
        as_words: bool = False,
        characters_min: int = SECRET_CHARACTERS_MIN,
    ) -> None:
        self._by_form: dict[str, str] = {}
        words: list[str] = []
        others: list[str] = []
        for value, placeholder in placeholders.items():
            is_word = as_words and len(value) <= _WORD_CHARACTERS_MAX and value.isalnum()
            for form in _forms(value[:CHARACTERS_MAX] if as_words else value, characters_min):
                self._by_form.setdefault(form, placeholder)
                (words if is_word and form == value else others).append(form)
        self._marks = tuple(self._by_form) if len(self._by_form) <= _MARKS_MAX else ()
        as_word = f"(?<![A-Za-z0-9])(?:{_any_of(words)})(?![A-Za-z0-9])"
        parts = ([_any_of(others)] if others else []) + ([as_word] if words else [])
        self._expression = "|".join(parts)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        """Return the compiled expression: most texts hold none of the forms and need no expression."""
        return re.compile(self._expression)

    def suspects(self, text: str) -> bool:
        """Return whether a text, or the text of JSON, may contain a value; False is certain."""
        if not self._expression or (self._marks and not any(mark in text for mark in self._marks)):
            return False
        return self._pattern.search(text) is not None

    def find_in(self, text: str) -> Iterator[str]:
        """Yield the values in a text, as they are written there."""
        if self.suspects(text):
            yield from (match[0] for match in self._pattern.finditer(text))

    def replaced(self, text: str, replaced: Callable[[str], str] = str) -> str:
        """Return `text` with `replaced(placeholder)` in place of each value."""
        if not self.suspects(text):
            return text
        return self._pattern.sub(lambda match: replaced(self._by_form[match[0]]), text)


def _forms(value: str, characters_min: int) -> Iterable[str]:
    """Return the written forms of a value, also in JSON within JSON within JSON, and inside base64.

    The result is empty for a value that is too short.
    """
    value = value.strip()
    if len(value) < characters_min or value in _REDACTED:
        return ()
    forms = _written(value) | _base64_parts(value)
    for _ in range(3):
        forms |= {json.dumps(form, ensure_ascii=False)[1:-1] for form in forms}
    return forms


def _written(value: str) -> set[str]:
    """Return the value as it is, in a URL, in JSON, and in base64."""
    raw = value.encode("utf-8", "surrogateescape" if _is_from_bytes(value) else "replace")
    plain = raw.decode("utf-8", "replace")
    encoded = {b64encode(raw).decode().rstrip("="), urlsafe_b64encode(raw).decode().rstrip("=")}
    in_json = {json.dumps(plain)[1:-1], json.dumps(plain, ensure_ascii=False)[1:-1]}
    in_json |= {form.replace("/", "\\/") for form in in_json}  # the escape of PHP
    return {value, quote(raw, safe=""), quote(raw), quote_plus(raw), *in_json, *encoded}


def _is_from_bytes(value: str) -> bool:
    """Return whether every lone surrogate is a byte, as in an environment variable that is not UTF-8."""
    return all("\udc80" <= sign <= "\udcff" for sign in value if "\ud800" <= sign <= "\udfff")


def _base64_parts(value: str) -> set[str]:
    """Return the parts of base64 that depend on the value alone, for any position in a longer text."""
    raw = value.encode("utf-8", "replace")
    if len(raw) < _BASE64_PART_BYTES_MIN:
        return set()
    forms = set()
    for before in range(3):
        encoded = b64encode(bytes(before) + raw).decode()
        first = -(-before * 8 // 6)
        last = (before + len(raw)) * 8 // 6
        forms.add(encoded[first:last])
    return forms | {form.replace("+", "-").replace("/", "_") for form in forms}


def _any_of(forms: Sequence[str], depth: int = 0) -> str:
    """Return one expression for many texts, with longer ones first among those of the same beginning."""
    if len(forms) < 3 or depth == _PREFIX or not all(forms):
        return "|".join(map(re.escape, sorted(forms, key=len, reverse=True)))
    by_first: dict[str, list[str]] = {}
    for form in forms:
        by_first.setdefault(form[0], []).append(form[1:])
    return "|".join(f"{re.escape(first)}(?:{_any_of(rest, depth + 1)})" for first, rest in by_first.items())
