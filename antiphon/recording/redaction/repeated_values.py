"""Secret values that have been seen, and where else they are repeated, in whatever form. Pure."""

import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence

from antiphon_shared.process.errors import AntiphonError
from antiphon_shared.text.redaction import SECRET_CHARACTERS_MIN, written_forms

VALUES_MAX = 10_000
CHARACTERS_MAX = 10_000
"""Of a value that is looked for elsewhere; a longer one is found by its beginning."""
_WORD_CHARACTERS_MAX = 12
"""A value so short and without other signs is found as a word: ids and hashes hold such parts by chance."""
_WITHIN_BASE64_BYTES_MIN = 8
_MARKS_MAX = 60
_PREFIX = 6
"""Beginnings that an expression shares among its alternatives, one sign after the other."""


class TooManySecrets(AntiphonError):
    """More different values would have to be replaced than can be looked for."""

    code = "too_many_secrets"


class RepeatedValues:
    """Finds values in text. `placeholders` are the values, each with what stands in its place.

    With `as_words`, short ones are found as words of their own only.
    """

    def __init__(self, placeholders: Mapping[str, str], as_words: bool) -> None:
        self._by_form: dict[str, str] = {}
        words: list[str] = []
        others: list[str] = []
        for value, placeholder in placeholders.items():
            is_word = as_words and len(value) <= _WORD_CHARACTERS_MAX and value.isalnum()
            for form in _forms(value[:CHARACTERS_MAX]):
                self._by_form.setdefault(form, placeholder)
                (words if is_word and form == value else others).append(form)
        self._marks = tuple(self._by_form) if len(self._by_form) <= _MARKS_MAX else ()
        whole_word = f"(?<![A-Za-z0-9])(?:{_any_of(words)})(?![A-Za-z0-9])"
        parts = ([_any_of(others)] if others else []) + ([whole_word] if words else [])
        self._pattern = re.compile("|".join(parts)) if parts else None

    def suspects(self, text: str) -> bool:
        """Whether one may stand in a text, or in the text of JSON; `False` is certain."""
        if self._pattern is None or (self._marks and not any(mark in text for mark in self._marks)):
            return False
        return self._pattern.search(text) is not None

    def replaced(self, text: str, replaced: Callable[[str], str]) -> str:
        """`text` with `replaced(placeholder)` in place of each value."""
        if self._pattern is None or not self.suspects(text):
            return text
        return self._pattern.sub(lambda match: replaced(self._by_form[match[0]]), text)


def _forms(value: str) -> Iterable[str]:
    """How a value may be written, also in JSON within JSON within JSON, and in the midst of base64."""
    forms = written_forms(value, SECRET_CHARACTERS_MIN)
    forms |= _within_base64(value) if forms else set()
    for _ in range(3):
        forms |= {json.dumps(form, ensure_ascii=False)[1:-1] for form in forms}
    return forms


def _within_base64(value: str) -> set[str]:
    """The signs of base64 that the value alone determines, wherever in a longer text it begins."""
    raw = value.encode("utf-8", "replace")
    if len(raw) < _WITHIN_BASE64_BYTES_MIN:
        return set()
    found = set()
    for before in range(3):
        encoded = b64encode(bytes(before) + raw).decode()
        first = -(-before * 8 // 6)
        last = (before + len(raw)) * 8 // 6
        found.add(encoded[first:last])
    return found | {form.replace("+", "-").replace("/", "_") for form in found}


def _any_of(forms: Sequence[str], depth: int = 0) -> str:
    """One expression for many texts, the longest of those with the same beginning first."""
    if len(forms) < 3 or depth == _PREFIX or not all(forms):
        return "|".join(map(re.escape, sorted(forms, key=len, reverse=True)))
    by_first: dict[str, list[str]] = {}
    for form in forms:
        by_first.setdefault(form[0], []).append(form[1:])
    return "|".join(f"{re.escape(first)}(?:{_any_of(rest, depth + 1)})" for first, rest in by_first.items())
