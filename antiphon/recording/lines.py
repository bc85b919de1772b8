"""The lines of a recording: one JSON object each, told apart by `line`.

    header          what was recorded, by what, and how it was redacted; always first
    catalogue       a tool catalogue, before the event that names it
    specification   the workflows that a run is decided by, before the event that names them
    content         what many exchanges share, before the first record that names it
    event           one event of the session's log, with its number and its place there
    record          how a step came about; behind the step's last event
    end             how many lines there were; without it a recording has been cut off

Events and records stand in the order in which they were committed. In a file each line is bound to the one before: see
`chain.py`.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, Self

import orjson
from antiphon_shared.events import AnyEvent, decode, encode
from antiphon_shared.events.codec import explain
from antiphon_shared.events.step_records import AnyRecord, decode_record, encode_record
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.tools.calls import Catalogue
from antiphon_shared.values import LogEntry, SessionId, Value
from pydantic import AwareDatetime, Field, ValidationError

FORMAT = 2
"""The version that is written. Every version that was ever written is read: see `upcast.py`."""


class Rules(Value):
    """How a recording was redacted, as far as that may be told: never what was replaced."""

    headers: tuple[str, ...] = Field(default=(), description="Names that were kept; `x-*` for a beginning.")
    keys: tuple[str, ...] = Field(
        default=(), description="Patterns of keys whose values were replaced; with a `!` before, were not."
    )
    paths: tuple[str, ...] = Field(default=(), description="JSON paths whose values were replaced.")
    patterns: tuple[str, ...] = Field(
        default=(), description="Regular expressions that were replaced in text; not told in a header."
    )


class Parent(Value):
    """The recording that a fork went on from, and what was changed."""

    session_id: SessionId
    digest: str = Field(description="Of the parent's lines.")
    event: int = Field(ge=1, description="Number of the last event that was taken over.")
    changes: dict[str, str] = Field(default={}, description="What is different from there on, by option.")


class Header(Value):
    """What stands first."""

    line: Literal["header"] = "header"
    format: int = FORMAT
    antiphon: str = Field(description="Version that wrote it.")
    session_id: SessionId
    submitted: AwareDatetime
    schemas: str = Field(description="Hash of the schemas of all events.")
    prompts: dict[str, str] = Field(default={}, description="Hash of each prompt's fixed part, by its name.")
    catalogues: tuple[str, ...] = Field(default=(), description="Hashes of the tool catalogues.")
    models: tuple[str, ...] = Field(default=(), description="Ids of the models, the first one's first.")
    redaction: Rules = Rules()
    parent: Parent | None = None


class CatalogueLine(Value):
    """A tool catalogue."""

    line: Literal["catalogue"] = "catalogue"
    hash: str
    catalogue: Catalogue


class SpecificationLine(Value):
    """A specification of workflows, as it is kept: redacted, it need not be one any more."""

    line: Literal["specification"] = "specification"
    hash: str
    specification: dict[str, Any]


class ContentLine(Value):
    """What many exchanges share, such as a system prompt."""

    line: Literal["content"] = "content"
    hash: str
    content: Any


@dataclass(frozen=True, slots=True)
class EventLine:
    """One event of the session's log."""

    n: int
    """Its number; counts from 1."""
    entry: LogEntry
    event: AnyEvent


class RecordLine(Value):
    """How a step came about."""

    line: Literal["record"] = "record"
    record: AnyRecord

    @classmethod
    def of(cls, record: AnyRecord) -> Self:
        """Return the line of a record, which was validated when it was read."""
        return cls.trusted(line="record", record=record)


class End(Value):
    """What stands last."""

    line: Literal["end"] = "end"
    events: int = Field(ge=0)
    records: int = Field(ge=0)
    redactions: int = Field(default=0, ge=0, description="Values that were replaced.")


Line = Header | CatalogueLine | SpecificationLine | ContentLine | EventLine | RecordLine | End
_PLAIN: dict[str, type[Header | CatalogueLine | SpecificationLine | ContentLine | RecordLine | End]] = {
    "header": Header,
    "catalogue": CatalogueLine,
    "specification": SpecificationLine,
    "content": ContentLine,
    "record": RecordLine,
    "end": End,
}
_EVENT_LINE = re.compile(
    rb'\{"line":"event","n":(\d{1,18}),"entry":"(\d{1,20}-\d{1,20})","event":(?=\{.*\}\}$)', re.DOTALL
)
"""How an event's line is written; one that was written so is not read twice."""
_RECORD = b'{"line":"record","record":'
_REPEATED = (b'{"line":"catalogue"', b'{"line":"content"', b'{"line":"specification"')
_REPEATED_BYTES_MAX = 200_000


def encode_line(line: Line, logged: bytes | None = None) -> bytes:
    """Return one line, without its line feed.

    `logged` is the event, the record or the content as it stands in Redis. It is taken over, and not written anew,
    where it has no other form than what is written here: no line feeds, and no letters as numbers.
    """
    if logged is not None and (b"\\u" in logged or b"\\/" in logged or b"\n" in logged or b"\r" in logged):
        logged = None
    if isinstance(line, EventLine):
        place = b'{"line":"event","n":%d,"entry":"%s","event":' % (line.n, line.entry.encode())
        return place + (logged or encode(line.event)) + b"}"
    if isinstance(line, RecordLine):
        return _RECORD + (logged or encode_record(line.record, line.record.outputs)) + b"}"
    if isinstance(line, ContentLine) and logged is not None:
        return b'{"line":"content","hash":%s,"content":%s}' % (orjson.dumps(line.hash), logged)
    return line.__pydantic_serializer__.to_json(line)


def decode_line(raw: bytes) -> Line:
    """The line in `raw`, of the current format. Raises UnreadableEvent."""
    as_written = _EVENT_LINE.match(raw)
    if as_written is not None:
        event = decode(raw[as_written.end() : -1])
        return EventLine(n=int(as_written[1]), entry=as_written[2].decode(), event=event)
    if raw.startswith(_RECORD) and raw.endswith(b"}}"):
        return RecordLine.of(decode_record(raw[len(_RECORD) : -1]))
    if raw.startswith(_REPEATED) and len(raw) <= _REPEATED_BYTES_MAX:
        return _repeated(raw)
    return _any_line(raw)


@lru_cache(64)
def _repeated(raw: bytes) -> Line:
    """Catalogues and contents are the same in one recording after another."""
    return _any_line(raw)


def _any_line(raw: bytes) -> Line:
    try:
        fields = orjson.loads(raw)
        kind = fields.get("line") if isinstance(fields, dict) else None
        if kind == "event":
            return _event_line(fields)
        if not isinstance(kind, str) or kind not in _PLAIN:
            said = "no line of a recording: its field `line` is missing, or names what this version does not know."
            raise UnreadableEvent(said, hint="Recordings are made by `antiphon recording export`.")
        return _PLAIN[kind].model_validate_json(raw)
    except orjson.JSONDecodeError as error:
        raise UnreadableEvent(f"not JSON: {error}") from None
    except ValidationError as error:
        raise UnreadableEvent(explain(error)) from None


def _event_line(fields: dict[str, Any]) -> EventLine:
    """An event's line that somebody else has written."""
    n, entry = fields.get("n"), fields.get("entry")
    if type(n) is not int or not isinstance(entry, str) or not _PLACE.fullmatch(entry):
        raise UnreadableEvent("an event's line has a number `n` and a place in the log `entry`.")
    try:
        event = orjson.dumps(fields.get("event"))
    except orjson.JSONEncodeError as error:  # it reads deeper than it writes
        raise UnreadableEvent(f"event: {error}") from None
    return EventLine(n, entry, decode(event))


_PLACE = re.compile(r"\d{1,20}-\d{1,20}")
