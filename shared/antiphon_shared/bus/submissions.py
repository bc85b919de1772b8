"""Submissions, read from the entries of the queue as query.submitted events."""

from datetime import UTC, datetime

from pydantic import TypeAdapter, ValidationError

from antiphon_shared.bus.reader import Entry
from antiphon_shared.bus.signing import SIGNATURE, Signer
from antiphon_shared.events import AnyEvent, QuerySubmitted, decode, encode
from antiphon_shared.events.base import TraceParent
from antiphon_shared.events.codec import ENVELOPES, explain, unknown_field
from antiphon_shared.events.session import QueryOptions
from antiphon_shared.formats import FORMAT
from antiphon_shared.process.errors import AntiphonError
from antiphon_shared.process.ids import CHILD, id_of_entry
from antiphon_shared.process.stream_ids import milliseconds_of
from antiphon_shared.text.nearest import did_you_mean
from antiphon_shared.values import SessionId

FIELDS = frozenset({"query", "session_id", "options", "grant", "traceparent", "event"})
_SHORTEN = "Shorten the query."
_NAME_LENGTH = 100
_EARLIEST_MS = 1_000_000_000_000

_session_id: TypeAdapter[str] = TypeAdapter(SessionId)
_traceparent: TypeAdapter[str] = TypeAdapter(TraceParent)


class Unacceptable(AntiphonError):
    """The rejection of an invalid submission."""

    code = "submission_rejected"


def read_submission(
    entry: Entry, stream: str, bytes_max: int, now: datetime, signer: Signer | None = None
) -> AnyEvent:
    """Return the query.submitted event of an entry of the queue. Pure.

    Ids and time come from the entry's id, so that another read gives the same event, and a client's clock has no
    influence. Raises Unacceptable or UnreadableEvent, which name the field.

    Args:
        stream: the key of the queue, from which the event's id and its signature are made.
        bytes_max: the maximum size of a submission, and of its event as JSON.
        now: the latest time that the event may have.
        signer: verifies the event; None if submissions need no signature.
    """
    if sum(len(name) + len(value) for name, value in entry.fields.items()) > bytes_max:
        raise Unacceptable(f"the submission is larger than {bytes_max} bytes.", hint=_SHORTEN)
    entry_fields = dict(entry.fields)
    if signer is not None:
        signer.verify(stream, entry_fields.get(b"event", b""), entry_fields.pop(SIGNATURE, None))
    fields = {name.decode("utf-8", "replace"): value for name, value in entry_fields.items()}
    if unknown := sorted(fields.keys() - FIELDS):
        name = unknown[0][:_NAME_LENGTH]
        raise Unacceptable(f"{name}: unknown field.", hint=did_you_mean(name, sorted(FIELDS)))
    submitted_ms = min(milliseconds_of(entry.id), int(now.timestamp() * 1000))
    if submitted_ms < _EARLIEST_MS:
        raise Unacceptable(
            f"entry: the time of the id {entry.id} is out of range.",
            hint="Let Redis choose the id: XADD KEY *",
        )
    time = datetime.fromtimestamp(submitted_ms / 1000, UTC)
    if "event" in fields:
        event = _from_event(fields, time)
    else:
        event = _from_fields(fields, id_of_entry(stream, entry.id), time)
    if CHILD in event.subject:
        raise Unacceptable(
            f"session_id: {CHILD} is reserved for sessions that another session starts.", hint="Omit it."
        )
    if len(encode(event)) > bytes_max:
        raise Unacceptable(f"the submission is larger than {bytes_max} bytes as JSON.", hint=_SHORTEN)
    return event


def _from_event(fields: dict[str, bytes], time: datetime) -> AnyEvent:
    if len(fields) > 1:
        raise Unacceptable(
            "event: cannot be combined with other fields.", hint="Put the other fields into the event."
        )
    event = decode(fields["event"])
    if not isinstance(event.data, QuerySubmitted):
        raise Unacceptable(
            f"event: {event.type} cannot be submitted.", hint=f"Submit an {QuerySubmitted.type}."
        )
    if event.data.parent is not None:
        raise Unacceptable("parent: only another session can set it.", hint="Omit it.")
    return event.model_copy(update={"time": time, "correlationid": event.id, "causationid": None})


def _from_fields(fields: dict[str, bytes], event_id: object, time: datetime) -> AnyEvent:
    if "query" not in fields:
        raise Unacceptable("query: missing.", hint='XADD antiphon:queries * query "..."')
    text = {name: _text(name, value) for name, value in fields.items()}
    try:
        options = QueryOptions.model_validate_json(text.get("options") or "{}", strict=True)
    except ValidationError as error:
        message, hint = unknown_field(error, QueryOptions.model_fields, "options")
        is_object = any(fault["loc"] for fault in error.errors(include_url=False))
        raise Unacceptable(
            message, hint=hint or ("" if is_object else "Options must be a JSON object.")
        ) from None
    try:
        data = QuerySubmitted(query=text["query"], options=options, grant=text.get("grant", ""))
    except ValidationError as error:
        raise Unacceptable(f"{explain(error)}.") from None
    event: AnyEvent = ENVELOPES[QuerySubmitted](
        id=event_id,
        source="client",
        type=data.type,
        subject=_valid("session_id", text.get("session_id") or str(event_id), _session_id),
        time=time,
        correlationid=event_id,
        traceparent=_valid("traceparent", text["traceparent"], _traceparent)
        if text.get("traceparent")
        else None,
        format=FORMAT,
        data=data,
    )
    return event


def _text(name: str, value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise Unacceptable(f"{name}: not UTF-8 text.") from None


def _valid(name: str, value: str, kind: TypeAdapter[str]) -> str:
    try:
        return kind.validate_python(value)
    except ValidationError as error:
        raise Unacceptable(f"{name}: {error.errors()[0]['msg']}.") from None
