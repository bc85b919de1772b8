"""The redaction of a recording, line by line, as it is written. Pure.

    redaction = Redaction.of(rules, secrets)
    for line in lines:              # in a first pass, so that a value found late is replaced in early lines too
        redaction.learn(line)
    for line in lines:
        write(redaction.line(line))

It finds known secrets, texts in the form of a credential (see `credentials.py`), the values of secret keys in JSON and
in text, the values at JSON paths, the arguments that a tool's author has marked secret, and matches of a pattern. A
found value of 6 characters or more is replaced everywhere.

The placeholder of a text is `[redacted 3]`, with the same number for the same value in the whole recording, so that
different values stay different; that of a known secret, or of a text in the form of a credential, is `[redacted]`. A
number becomes 0; true, false and null stay. A grant keeps its claims and loses its signature. A line without secrets is
searched as bytes, and stays the same object.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import orjson
from antiphon_shared.events import decode, encode
from antiphon_shared.events.step_records import ExchangeRecord, decode_record, encode_record
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.redaction.credentials import credentials_hint
from antiphon_shared.redaction.known_values import KnownValues
from antiphon_shared.redaction.redactor import REDACTED
from antiphon_shared.redaction.secret_keys import SecretKeys, secret_keys
from antiphon_shared.text.native_search import NativeSearch
from antiphon_shared.tools.calls import Catalogue
from pydantic_core import from_json, to_json

from antiphon.recording.lines import (
    CatalogueLine,
    ContentLine,
    EncodedLine,
    End,
    EventLine,
    Header,
    Line,
    RecordLine,
    Rules,
    encode_line,
)
from antiphon.recording.redaction.known_lines import KnownLines
from antiphon.recording.redaction.redacted_text import RedactedText
from antiphon.recording.redaction.redacted_value import RedactedValue
from antiphon.recording.redaction.shapes import shape_of

_UNNAMED_MAX = 50_000
_HAS_GRANT = NativeSearch('"grant":"[^"]')


class Redaction:
    """The rules for one recording, and the values that they have found."""

    def __init__(
        self,
        rules: Rules,
        secrets: KnownValues,
        keys: SecretKeys,
        known: KnownLines | None = None,
        is_always_suspect: bool | None = None,
    ) -> None:
        """Prepare the rules; `is_always_suspect` is whether they suspect every line, or None to determine that."""
        self.rules = rules
        self._secrets = secrets
        self._known = known or KnownLines()
        self._text = RedactedText(rules, secrets, keys)
        self._value = RedactedValue(self._text, rules)
        self._unnamed: set[int] = set()
        """The hashes of lines from the first pass in which no rule names a value."""
        self._learned_catalogues: set[str] = set()
        names = [path.last_name for path in self._value.paths]
        self._marks = [orjson.dumps(name) + b":" for name in names if name is not None]
        if is_always_suspect is None:
            rules_json = rules.model_dump_json()  # every header contains the rules
            is_always_suspect = bool(rules.patterns) or None in names or self._text.suspects(rules_json)
        self._is_always_suspect = is_always_suspect

    @classmethod
    def of(cls, rules: Rules, secrets: Iterable[str]) -> "Redaction":
        """Return a redaction with these rules and secrets. Raises UnreadablePath and re.error."""
        known = KnownValues(dict.fromkeys(secrets, REDACTED))
        return cls(rules, known, secret_keys(rules.keys))

    def anew(self) -> "Redaction":
        """Return the same rules for another recording, without the values found in this one."""
        return Redaction(self.rules, self._secrets, self._text.keys, self._known, self._is_always_suspect)

    @property
    def count(self) -> int:
        """Return the number of values that were replaced in lines."""
        return self._text.count

    def header(self, header: Header) -> Header:
        """Return the header with the rules, but without the patterns."""
        public_rules = self.rules.model_copy(update={"patterns": (REDACTED,) * len(self.rules.patterns)})
        return header.model_copy(update={"redaction": public_rules})

    def passes(self, lines: Sequence[EncodedLine]) -> bool:
        """Return whether these lines need no redaction; only `True` is certain.

        Call it before `learn`. It searches all lines at once, which is fast for recordings without secrets.
        """
        if self._is_always_suspect:
            return False
        for line, raw in lines:
            if isinstance(line, CatalogueLine):
                self._learn_catalogue(line, raw)
            elif isinstance(line, RecordLine) and self._has_other_headers(line):
                return False
        pairs = [
            # A header with its rules contains every secret key.
            (line, encode_line(line) if isinstance(line, Header) else raw)
            for line, raw in lines
        ]
        # If arguments are marked, lines that were harmless before may contain secrets.
        new, shared = (pairs, []) if self._value.marked else self._known.without_harmless(pairs)
        # One search for all, as few lines are suspect.
        if self._is_suspect(b"\n".join(raw for _, raw in new)):
            suspects = ((line, raw) for line, raw in new if self._is_suspect(raw))
            if not all(self._stays_unchanged(line, raw) for line, raw in suspects):
                return False
        self._known.add_harmless(shared)
        return True

    def learn(self, line: Line) -> None:
        """Collect the line's secret values. Raises TooManySecrets and UnreadableEvent."""
        if isinstance(line, End):
            return
        raw = _inner(line)
        if isinstance(line, CatalogueLine):
            self._learn_catalogue(line, raw)
        if self._may_match_rule(raw):
            self._learn(raw, line)
        elif len(self._unnamed) < _UNNAMED_MAX:
            self._unnamed.add(hash(raw))

    def line(self, line: Line) -> Line:
        """Return the redacted line, which need not have been learned. Raises as `learn` does."""
        if isinstance(line, End):
            return line.model_copy(update={"redactions": line.redactions + self.count})
        if isinstance(line, Header):
            line = self.header(line)
        raw = _inner(line)
        if isinstance(line, CatalogueLine):
            self._learn_catalogue(line, raw)
        if hash(raw) not in self._unnamed and self._may_match_rule(raw):
            self._learn(raw, line)
        elif not self._may_hold_more(raw, line):
            return line
        value = _parsed(raw)
        clean = self._value.redacted(value, shape_of(line))
        return line if clean == value else _rebuilt(line, to_json(clean))

    def _learn_catalogue(self, line: CatalogueLine, raw: bytes) -> None:
        """Collect the names of a catalogue's tools, which are not secret, and the arguments that are marked secret."""
        if line.hash not in self._learned_catalogues:
            self._learned_catalogues.add(line.hash)
            self._text.ordinary.update(tool.name for tool in line.catalogue.tools)
            for name, paths in self._known.marked(line.catalogue, raw).items():
                self._value.marked[name] = paths
                self._marks.append(orjson.dumps(name))

    def _learn(self, raw: bytes, line: Line) -> None:
        with self._text.learning():
            self._value.redacted(_parsed(raw), shape_of(line))

    def _may_match_rule(self, raw: bytes) -> bool:
        """Return whether a rule may name a value in the line; only `False` is certain."""
        return (
            self._is_always_suspect
            or any(mark in raw for mark in self._marks)
            or self._text.keys.suspects(raw)
        )

    def _is_suspect(self, raw: bytes) -> bool:
        """Return whether a line may need redaction beyond a model server's headers; only `False` is certain."""
        if self._is_always_suspect or any(mark in raw for mark in self._marks):
            return True
        text = raw.decode()
        return self._text.may_contain_secret(text) or _hint(self._text.keys).may_match(text)

    def _stays_unchanged(self, line: Line, raw: bytes) -> bool:
        """Return whether a line needs no redaction; then its values are not secrets in other lines either.

        `raw` must equal the line's encoded form, as another stored form may contain more.
        """
        self.learn(line)
        is_same = self.line(line) == (self.header(line) if isinstance(line, Header) else line)
        return is_same and raw == encode_line(line)

    def _may_hold_more(self, raw: bytes, line: Line) -> bool:
        """Return whether a line may contain a secret that no rule names; only `False` is certain."""
        text = raw.decode()
        return (
            self._text.suspects(text)
            or _HAS_GRANT.may_match(text)
            or (isinstance(line, RecordLine) and self._has_other_headers(line))
        )

    def _has_other_headers(self, line: RecordLine) -> bool:
        if not isinstance(line.record, ExchangeRecord):
            return False
        names = {
            name
            for call in line.record.calls
            for headers in (call.headers, call.error.headers if call.error else {})
            for name in headers
        }
        return not all(map(self._value.keeps_header, names))


@lru_cache(8)
def _hint(keys: SecretKeys) -> NativeSearch:
    return NativeSearch.of_any((keys.hint, credentials_hint(), _HAS_GRANT))


def _inner(line: Line) -> bytes:
    """Return the part of a line that may need redaction, as JSON."""
    match line:
        case EventLine(event=event):
            return encode(event)
        case RecordLine(record=record):
            return encode_record(record, record.outputs)
        case CatalogueLine(catalogue=catalogue):
            return catalogue.__pydantic_serializer__.to_json(catalogue)
        case ContentLine(content=content):
            return to_json(content)
        case _:
            return line.__pydantic_serializer__.to_json(line)


def _parsed(raw: bytes) -> Any:
    try:
        return from_json(raw)
    except ValueError as error:  # nested too deeply to be read again
        raise UnreadableEvent(f"the line cannot be redacted, because it is unreadable: {error}.") from None


def _rebuilt(line: Line, raw: bytes) -> Line:
    """Return the line with its redacted part."""
    match line:
        case EventLine():
            return replace(line, event=decode(raw))
        case RecordLine():
            return line.model_copy(update={"record": decode_record(raw)})
        case CatalogueLine():
            return line.model_copy(update={"catalogue": Catalogue.model_validate_json(raw)})
        case ContentLine():
            return line.model_copy(update={"content": from_json(raw)})
        case _:
            return type(line).model_validate_json(raw)
