"""The scan of recordings for likely secrets, before they are stored where others can read them.

It reads JSON Lines one line at a time, and other files as text. It finds the secrets of this process; the values that
an export would replace because of their key, an author's mark or their form; and, on request, personal data. It reports
no numbers, no placeholders (`***`, `<token>`) and no sentences about a secret. A finding does not contain the secret:
it has the path, the kind, a masked excerpt, and a fingerprint for the allow-list.
"""

import gzip
import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.redaction.harmless import is_card, is_harmless, looks_secret
from antiphon_shared.redaction.known_values import KnownValues
from antiphon_shared.redaction.redactor import Redactor
from antiphon_shared.redaction.secret_keys import ALWAYS, SecretKeys, secret_keys
from pydantic_core import from_json, to_json

from antiphon.recording.chain import link_of
from antiphon.recording.files import unpacked
from antiphon.recording.lines import CatalogueLine, ContentLine, EventLine, RecordLine, Rules, decode_line
from antiphon.recording.redaction.known_lines import marked_arguments
from antiphon.recording.redaction.redacted_text import RedactedText
from antiphon.recording.redaction.redacted_value import RedactedValue
from antiphon.recording.redaction.shapes import Fields, Open, Shape, shape_of
from antiphon.recording.redaction.unsigned import SIGNATURE

FINDINGS_MAX = 10_000
"""The number of findings reported for one file."""
_LINE_BYTES_MAX = 64_000_000
_EXCERPT_CHARACTERS, _EXCERPT_FROM = 4, 20
"""The characters of a secret that an excerpt shows, and the length of a secret from which it shows them."""
_WORDS_MAX = 2
"""The words of a value that does not look random; a value with more words is a sentence."""
_CACHED_TEXTS_MAX, _CACHED_CHARACTERS_MAX = 10_000, 200
_NUMBER = re.compile(r"[-+]?[\d.,:%]{1,40}")
_CATALOGUE = b'{"line":"catalogue"'
_PLACEHOLDER = re.compile(r"\\{0,15}\[?redacted(?:[ -]\d+)?\\{0,15}\]?")
"""A placeholder, which may be escaped, as in Markdown and JSON within text."""
_PARTS = {CatalogueLine: "catalogue", EventLine: "event", RecordLine: "record", ContentLine: "content"}
"""The part of a line that `shape_of` describes, where it is not the whole line."""
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![\w-])")
_CARD = re.compile(r"(?<![\w.-])\d(?:[ -]?\d){12,18}(?![\w.-])")


@dataclass(frozen=True, slots=True)
class Finding:
    """A likely secret."""

    line: int
    """The line's number, from 1."""
    path: str
    """The path in the line, such as `$.event.data.query`; empty if the line is not JSON."""
    kind: str
    """`known_secret`, `credential`, `private_key`, `signed_token`, `url_password`, `secret_key`, `email`, `card`."""
    excerpt: str
    """The masked secret."""
    fingerprint: str
    """A hash of the kind and the value."""


class _SecretCollector(RedactedText):
    """A redaction that changes no text, and collects the texts that an export would replace whole."""

    def __init__(self, rules: Rules, keys: SecretKeys) -> None:
        super().__init__(rules, KnownValues({}), keys)
        self.values: set[str] = set()

    def text(self, text: str) -> str:
        return text

    def placeholder(self, value: str) -> str:
        self.values.add(value)
        return value


class Scanner:
    """The search for secrets; `keys` are patterns of secret keys, as for an export."""

    def __init__(
        self, secrets: Iterable[str] = (), is_personal: bool = False, keys: Iterable[str] = ALWAYS
    ) -> None:
        self._redactor = Redactor(secrets)
        rules = Rules(keys=tuple(keys))
        self._keys = secret_keys(rules.keys)
        self._text = _SecretCollector(rules, self._keys)
        self._value = RedactedValue(self._text, rules)
        self._marks: set[bytes] = set()
        """The names of tools with secret arguments, as JSON."""
        self._is_personal = is_personal
        self._in_short_text = lru_cache(_CACHED_TEXTS_MAX)(lambda *text: tuple(self._in_text(*text)))
        """Finds the same once for the keys, types and ids that most lines repeat."""

    def file(self, path: Path) -> Iterator[Finding]:
        """Yield the findings in a file while it is read. Raises UnreadableEvent, which names the file, and OSError."""
        try:
            with unpacked(path) as file:
                number = reported = 0
                self._marks.clear()
                self._value.marked.clear()
                while (raw := file.readline(_LINE_BYTES_MAX)) and reported < FINDINGS_MAX:
                    number += 1
                    link = link_of(raw.rstrip(b"\r\n"))  # hashes may look like numbers of cards
                    for finding in self.line(raw if link is None else link.line, number):
                        reported += 1
                        yield finding
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise UnreadableEvent(
                f"{path}: the compressed file is damaged: {error}.", hint="Check that the file is complete."
            ) from None

    def line(self, raw: bytes, number: int) -> Iterator[Finding]:
        """Yield the findings in one line, each path and value once."""
        text = raw.decode("utf-8", "replace")
        if not self._suspects(raw, text):
            return
        self._text.values.clear()
        try:
            line = from_json(raw, allow_inf_nan=True)
            self._value.redacted(line, self._shape(raw))
            strings = _strings(line, "$")
        except ValueError:
            strings = iter([("", text)])
        seen: set[tuple[str, str]] = set()
        for path, value in strings:
            for kind, secret in self._find_secrets(value):
                # A value that several rules find is reported once, for the first rule.
                if _PLACEHOLDER.fullmatch(secret) or (path, secret) in seen:
                    continue
                seen.add((path, secret))
                fingerprint = blake2b(
                    f"{kind} {secret}".encode("utf-8", "replace"), digest_size=8
                ).hexdigest()
                redacted_path = self._redactor.text(path)  # a key may be a secret itself
                yield Finding(number, redacted_path, kind, _masked(secret), fingerprint)

    def _suspects(self, raw: bytes, text: str) -> bool:
        return (
            self._keys.suspects(raw)
            or self._redactor.suspects(text)
            or raw.startswith(_CATALOGUE)
            or any(mark in raw for mark in self._marks)
            or (self._is_personal and any(self._personal(text)))
        )

    def _shape(self, raw: bytes) -> Shape:
        """Return the shape of a line as for an export, or an open shape for other JSON."""
        try:
            line = decode_line(raw.strip())
        except UnreadableEvent:
            return Open()
        if isinstance(line, CatalogueLine):
            marked = marked_arguments(line.catalogue)
            self._value.marked.update(marked)
            self._marks.update(map(to_json, marked))
        part = _PARTS.get(type(line))
        return shape_of(line) if part is None else Fields({part: shape_of(line)})

    def _find_secrets(self, value: str) -> Iterable[tuple[str, str]]:
        """Return kind and value of the secrets in one text."""
        is_assigned = value in self._text.values
        if len(value) <= _CACHED_CHARACTERS_MAX:
            return self._in_short_text(value, is_assigned)
        return self._in_text(value, is_assigned)

    def _in_text(self, value: str, is_assigned: bool) -> Iterator[tuple[str, str]]:
        """Yield the secrets in a text, which may be the value of a secret key."""
        for kind, secret in dict.fromkeys(self._redactor.find_secrets(value)):
            if not secret.endswith(f".{SIGNATURE}"):  # a grant without a valid signature
                yield kind, secret
        assigned = [value] if is_assigned else self._values_of_keys(value)
        yield from (("secret_key", found) for found in assigned if _may_be_secret(found))
        if self._is_personal:
            yield from self._personal(value)

    def _values_of_keys(self, text: str) -> list[str]:
        """Return the values of secret keys within a text, which an export would replace."""
        values: list[str] = []

        def note(value: str) -> str:
            values.append(value)
            return value

        self._keys.in_text(text, note)
        return values

    def _personal(self, text: str) -> Iterator[tuple[str, str]]:
        if "@" in text:
            yield from (("email", match[0]) for match in _EMAIL.finditer(text))
        yield from (("card", match[0]) for match in _CARD.finditer(text) if is_card(match[0]))


def scan(path: Path, secrets: Iterable[str] = (), is_personal: bool = False) -> list[Finding]:
    """Return the likely secrets in a file. Raises UnreadableEvent and OSError."""
    return list(Scanner(secrets, is_personal).file(path))


def _strings(value: object, path: str) -> Iterator[tuple[str, str]]:
    """Yield the path and the content of every text and every key in a JSON value."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield path, name
            yield from _strings(item, f"{path}.{name}" if name.isidentifier() else f"{path}[{name!r}]")
    elif isinstance(value, list):
        for n, item in enumerate(value):
            yield from _strings(item, f"{path}[{n}]")


def _may_be_secret(value: str) -> bool:
    """Return whether a value may be a secret, as it is no number, no placeholder and no sentence."""
    words = value.split()
    if len(words) > _WORDS_MAX:
        return any(map(looks_secret, words))
    return not (is_harmless(value) or _NUMBER.fullmatch(value))


def _masked(secret: str) -> str:
    beginning = secret[:_EXCERPT_CHARACTERS] if len(secret) >= _EXCERPT_FROM else ""
    return f"{beginning}… ({len(secret)} characters)"
