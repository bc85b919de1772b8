"""The lines of a recording: each is a JSON object, and its field `line` is its kind.

    header          the session, the writing version and the redaction; always first
    catalogue       a tool catalogue, before the event that names it
    specification   the workflows that decide a run, before the event that names them
    content         a content that many exchanges share, before the first record that names it
    event           an event of the session's log, with its number and log entry
    record          the record of a step, after the step's last event
    end             the number of lines; a recording without it is incomplete

Events and records are in the order of their commits. In a file each line is bound to the line before: see `chain.py`.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, Self, TypeVar

import orjson
from antiphon_shared.events import AnyEvent, EventData, decode, encode
from antiphon_shared.events.codec import explain
from antiphon_shared.events.step_records import AnyRecord, StepRecord, decode_record, encode_record
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.tools.calls import Catalogue
from antiphon_shared.values import JsonObject, LogEntry, SessionId, Value
from pydantic import AwareDatetime, Field, ValidationError
from pydantic_core import from_json, to_json

DataT = TypeVar("DataT", bound=EventData)
RecordT = TypeVar("RecordT", bound=StepRecord)
FORMAT = 2
"""The format that is written; every earlier format can be read: see `upcast.py`."""


class Rules(Value):
    """The rules by which a recording was redacted, without the replaced values."""

    headers: tuple[str, ...] = Field(default=(), description="Names that were kept; `x-*` matches a prefix.")
    keys: tuple[str, ...] = Field(
        default=(), description="Patterns of keys whose values were replaced, or with a leading `!` kept."
    )
    paths: tuple[str, ...] = Field(default=(), description="JSON paths whose values were replaced.")
    patterns: tuple[str, ...] = Field(
        default=(),
        description="Regular expressions whose matches were replaced in texts; not stored in a header.",
    )


class Parent(Value):
    """The recording that was forked, and the changes of the fork."""

    session_id: SessionId
    digest: str = Field(description="Digest of the parent's lines.")
    event: int = Field(ge=1, description="Number of the last event copied from the parent.")
    changes: dict[str, str] = Field(default={}, description="Changes from that point on, by option.")


class Header(Value):
    """The first line."""

    line: Literal["header"] = "header"
    format: int = FORMAT
    antiphon: str = Field(description="Version that wrote it.")
    session_id: SessionId
    submitted: AwareDatetime
    schemas: str = Field(description="Hash of the schemas of all events.")
    prompts: dict[str, str] = Field(default={}, description="Hash of each prompt's fixed part, by its name.")
    catalogues: tuple[str, ...] = Field(default=(), description="Hashes of the tool catalogues.")
    models: tuple[str, ...] = Field(default=(), description="Ids of the models, in order of first use.")
    redaction: Rules = Rules()
    parent: Parent | None = None


class CatalogueLine(Value):
    """A tool catalogue."""

    line: Literal["catalogue"] = "catalogue"
    hash: str
    catalogue: Catalogue


class SpecificationLine(Value):
    """A specification of workflows in its stored form, which may be invalid after redaction."""

    line: Literal["specification"] = "specification"
    hash: str
    specification: dict[str, Any]


class ContentLine(Value):
    """A content that many exchanges share, such as a system prompt."""

    line: Literal["content"] = "content"
    hash: str
    content: Any


@dataclass(frozen=True, slots=True)
class EventLine:
    """An event of the session's log."""

    n: int
    """The number of the event, from 1."""
    entry: LogEntry
    event: AnyEvent


class RecordLine(Value):
    """The record of a step."""

    line: Literal["record"] = "record"
    record: AnyRecord

    @classmethod
    def of(cls, record: AnyRecord) -> Self:
        """Return the line of a record, which has already been validated."""
        return cls.trusted(line="record", record=record)


class End(Value):
    """The last line."""

    line: Literal["end"] = "end"
    events: int = Field(ge=0)
    records: int = Field(ge=0)
    redactions: int = Field(default=0, ge=0, description="Values that were replaced.")


Line = Header | CatalogueLine | SpecificationLine | ContentLine | EventLine | RecordLine | End
EncodedLine = tuple[Line, bytes]
"""A line, and its encoded form."""
_MODELS: dict[str, type[Header | CatalogueLine | SpecificationLine | ContentLine | RecordLine | End]] = {
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
"""The beginning of an event's line as it is written, by which the event is decoded without parsing the line."""
_RECORD = b'{"line":"record","record":'
_REPEATED = (b'{"line":"catalogue"', b'{"line":"content"', b'{"line":"specification"')
_REPEATED_BYTES_MAX = 200_000


def encode_line(line: Line, logged: bytes | None = None) -> bytes:
    """Return one line, without its line feed.

    `logged` is the stored form of the event, record or content in Redis. It is reused if it has no line feeds and no
    escaped characters, as it then equals the form written here.
    """
    if logged is not None and (b"\\u" in logged or b"\\/" in logged or b"\n" in logged or b"\r" in logged):
        logged = None
    if isinstance(line, EventLine):
        beginning = b'{"line":"event","n":%d,"entry":"%s","event":' % (line.n, line.entry.encode())
        return beginning + (logged or encode(line.event)) + b"}"
    if isinstance(line, RecordLine):
        return _RECORD + (logged or encode_record(line.record, line.record.outputs)) + b"}"
    if isinstance(line, ContentLine) and logged is not None:
        return b'{"line":"content","hash":%s,"content":%s}' % (orjson.dumps(line.hash), logged)
    return line.__pydantic_serializer__.to_json(line)


def decode_line(raw: bytes) -> Line:
    """Return the line in `raw`, of the current format. Raises UnreadableEvent."""
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
    """Return the line, from a cache: many recordings share their catalogues and contents."""
    return _any_line(raw)


def _any_line(raw: bytes) -> Line:
    try:
        fields = from_json(raw, allow_inf_nan=False)
        kind = fields.get("line") if isinstance(fields, dict) else None
        if kind == "event":
            return _event_line(fields)
        if not isinstance(kind, str) or kind not in _MODELS:
            message = "not a line of a recording: its field `line` is missing or unknown to this version."
            raise UnreadableEvent(message, hint="`antiphon recording export` writes recordings.")
        return _MODELS[kind].model_validate_json(raw)
    except ValidationError as error:
        raise UnreadableEvent(explain(error)) from None
    except ValueError as error:
        raise UnreadableEvent(f"not JSON: {str(error).replace('at line 1 column', 'at column')}") from None


def _event_line(fields: JsonObject) -> EventLine:
    """Return the line of an event in a form that another program has written."""
    n, entry = fields.get("n"), fields.get("entry")
    if type(n) is not int or not isinstance(entry, str) or not _LOG_ID.fullmatch(entry):
        raise UnreadableEvent("the line of an event must contain a number `n` and a log id `entry`.")
    return EventLine(n, entry, decode(to_json(fields.get("event"))))


_LOG_ID = re.compile(r"\d{1,20}-\d{1,20}")


def data_in(lines: Iterable[Line], kind: type[DataT]) -> Iterator[DataT]:
    """Yield the data of the events of one kind."""
    return (
        one.event.data for one in lines if isinstance(one, EventLine) and isinstance(one.event.data, kind)
    )


def records_in(lines: Iterable[Line], kind: type[RecordT]) -> Iterator[RecordT]:
    """Yield the records of one kind."""
    return (one.record for one in lines if isinstance(one, RecordLine) and isinstance(one.record, kind))
