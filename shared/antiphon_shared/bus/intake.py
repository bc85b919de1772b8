"""The intake: from `antiphon:queries` into a session's partition, in two steps that are safe to repeat.

First the session is opened or queued (once, however often that is tried), then the submission is
acknowledged. A submission that cannot be understood, or that finds too many waiting, is set aside with the
reason (once), then acknowledged. So the queue is drained at once, and sessions wait in their own partitions:
see admission.py.
"""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial

import structlog
from pydantic import TypeAdapter, ValidationError
from redis.exceptions import RedisError

from antiphon_shared import faults
from antiphon_shared.bus import scripts
from antiphon_shared.bus.concurrency import ConcurrencyLimit, ended
from antiphon_shared.bus.connection import retry_while_unavailable
from antiphon_shared.bus.leases import Leases
from antiphon_shared.bus.reader import Entry, Reader
from antiphon_shared.bus.redis_bus import Bus, Published
from antiphon_shared.bus.rejections import fields_of
from antiphon_shared.bus.session_content import SessionContent, conflict
from antiphon_shared.bus.signing import SIGNATURE, KeyMissing, Signer, require_key
from antiphon_shared.bus.timers import CleanUp
from antiphon_shared.events import AnyEvent, QuerySubmitted, decode, encode
from antiphon_shared.events.base import TraceParent
from antiphon_shared.events.codec import ENVELOPES, explain, unknown_field
from antiphon_shared.events.session import QueryOptions
from antiphon_shared.formats import FORMAT, needed_format
from antiphon_shared.process.clock import utc_now
from antiphon_shared.process.errors import AntiphonError, ErrorInfo, UnreadableEvent
from antiphon_shared.process.ids import CHILD, id_of_entry
from antiphon_shared.text.nearest import did_you_mean
from antiphon_shared.values import DEFAULT_TENANT, SessionId, Tenant

GROUP = "intake"
FIELDS = frozenset({"query", "session_id", "options", "grant", "traceparent", "event"})
_SHORTEN = "Shorten the query."
_NAME_LENGTH = 100
_REJECTED_LENGTH = 100_000
_REJECTION_LIFE_MS = 86_400_000
_READS_MAX = 2
"""The limit on deliveries of a submission is this multiple of an inbox message's limit."""
_FAREWELL_S = 1.5
_EARLIEST_MS = 1_000_000_000_000
_CLOCKS_APART_MS = 60_000

_session_id: TypeAdapter[str] = TypeAdapter(SessionId)
_traceparent: TypeAdapter[str] = TypeAdapter(TraceParent)


class Unacceptable(AntiphonError):
    """A submission that cannot be understood."""

    code = "submission_rejected"


class Overloaded(AntiphonError):
    """Too many queries wait already, so one more is refused."""

    code = "overloaded"
    retryable = True


class Intake:
    """The reader of the queue of submissions, for one process."""

    def __init__(
        self,
        bus: Bus,
        consumer: str,
        places: int,
        deadline_s: float = 300.0,
        on_waiting: Callable[[], None] = lambda: None,
        tenant_of: Callable[[AnyEvent], Tenant] = lambda event: DEFAULT_TENANT,
        resolved: Callable[[AnyEvent], AnyEvent] = lambda event: event,
    ) -> None:
        """`deadline_s` is for queries that name none; `on_waiting` is called when a query has to wait for room.

        `tenant_of` returns the tenant of a query, and raises an AntiphonError when the query must not be
        admitted. `resolved` returns a query with its references replaced by their content, and raises an
        AntiphonError for one that does not exist.
        """
        self._bus, self._deadline_s, self._on_waiting = bus, deadline_s, on_waiting
        self._tenant_of, self._resolved = tenant_of, resolved
        self._room = ConcurrencyLimit(places, readers=1)
        self._leases = Leases(bus, GROUP, consumer)
        self._consumer = consumer
        self._stream = bus.keys.queries()
        self._has_told_of_key = False
        self._reader = Reader(
            bus,
            self._stream,
            GROUP,
            consumer,
            self._room,
            self._take,
            self._leases.in_hand,
            CleanUp(bus, self._stream, GROUP),
        )
        self._log = structlog.get_logger()

    async def run(self) -> None:
        """Admit submissions until cancelled; then requeue submissions in flight."""
        keeping = asyncio.create_task(self._leases.keep())
        reading = asyncio.create_task(self._reader.run())
        try:
            await asyncio.shield(reading)
        finally:
            self._room.close()
            await ended([reading, asyncio.create_task(self._reader.unblock())], _FAREWELL_S)
            keeping.cancel()
            await self._let_go()

    async def _let_go(self) -> None:
        try:
            async with asyncio.timeout(_FAREWELL_S):
                await self._leases.hand_back()
                await ended(self._leases.tasks, 0)
                await self._bus.batcher.run(scripts.LEAVE, [self._stream], [GROUP, self._consumer])
        except (RedisError, TimeoutError):
            self._log.warning("submissions_not_handed_back")
        await ended(self._leases.tasks, 0)

    def _take(self, entry: Entry) -> None:
        self._leases.hold(entry, asyncio.create_task(self._let_in(entry)))

    async def _let_in(self, entry: Entry) -> None:
        """Process one submission: open or reject it, then acknowledge it."""
        try:
            await faults.at("submission.open.before")
            try:
                await self._arrive(entry, self._read(entry))
            except AntiphonError as error:
                await self._reject(entry, error)
            except Exception as error:
                if entry.deliveries < self._bus.settings.max_deliveries:
                    raise
                await self._reject(entry, self._not_let_in(error))
            await retry_while_unavailable("acknowledge a submission", lambda: self._acknowledge(entry))
        except Exception:  # noqa: BLE001  # it stays pending, and is delivered again after its lease
            self._log.exception("submission_retried", entry=entry.id)
        finally:
            self._leases.drop(entry)
            self._room.release()

    def _not_let_in(self, error: Exception) -> Unacceptable:
        self._log.error("submission_failed", exc_info=error)
        return Unacceptable(f"the submission failed: {ErrorInfo.of(error, self._bus.redactor).message}")

    def _read(self, entry: Entry) -> AnyEvent:
        """Return the query of an entry. Raises an AntiphonError when it cannot be admitted."""
        signer, settings = self._bus.signer, self._bus.settings
        if entry.deliveries > _READS_MAX * settings.max_deliveries:
            raise Unacceptable(f"{entry.deliveries - 1} coordinators in a row stopped while they handled it.")
        self._require_key(entry)
        if settings.unsigned_queries and SIGNATURE not in entry.fields:
            signer = None
        event = self._resolved(
            read_submission(entry, self._stream, settings.max_event_bytes, utc_now(), signer)
        )
        if len(encode(event)) > settings.max_event_bytes:
            raise Unacceptable(f"the query with its steps is larger than {settings.max_event_bytes} bytes.")
        return event

    async def _in_live_format(self, event: AnyEvent) -> AnyEvent:
        """Return the query in the format of its session, which every worker reads. Raises Unacceptable."""
        format = await self._bus.formats.of_new_session()
        needed, field = needed_format(event.data) if format < FORMAT else (format, "")
        if needed > format:
            raise Unacceptable(
                f"{field}: needs format {needed}, but a running worker of an earlier release reads "
                f"only format {format}.",
                hint="Omit it, or submit the query again when every worker has been replaced.",
            )
        return event.model_copy(update={"format": format})

    def _require_key(self, entry: Entry) -> None:
        """Raise KeyMissing, and log it once as an error, because the operator may have made a mistake."""
        try:
            require_key(self._bus.signer, entry.fields)
        except KeyMissing as error:
            if not self._has_told_of_key:
                self._log.error("signed_queries_rejected", reason=error.message, hint=error.hint)
            self._has_told_of_key = True
            raise

    async def _arrive(self, entry: Entry, event: AnyEvent) -> None:
        """Open the session, or queue it. Raises an AntiphonError when it must not be admitted."""
        if entry.is_taken_over and await retry_while_unavailable(
            "look for its end", lambda: self._has_ended(entry, event)
        ):
            return  # a worker died before it could acknowledge it
        tenant = self._tenant_of(event)
        result = await self._publish(await self._in_live_format(event), tenant)
        if result == "waiting":
            self._on_waiting()
        elif result == "overloaded":
            await self._reject(
                entry,
                await retry_while_unavailable("count who waits", lambda: self._overloaded(event, tenant)),
            )

    async def _publish(self, event: AnyEvent, tenant: Tenant) -> Published:
        """Open or queue the session; an existing session must have the same content. Raises SessionConflict."""
        attempt = partial(self._bus.publish, event, "open", self._deadline_s, tenant)
        while (result := await retry_while_unavailable("open a session", attempt)) == "known":
            first = await retry_while_unavailable(
                "read a session's query", lambda: self._first(event.subject)
            )
            if first is not None:
                SessionContent.of(event).refuse_other(first, event.subject)
                break
            # It has expired in between, and its id is free again.
        return result

    async def _first(self, session_id: str) -> AnyEvent | None:
        try:
            return await self._bus.query_of(session_id)
        except UnreadableEvent:
            raise conflict(session_id, "and its opening event is unreadable") from None

    async def _has_ended(self, entry: Entry, event: AnyEvent) -> bool:
        """Return whether the submission was rejected, or has opened its session."""
        if await self._bus.batcher.submit("EXISTS", self._bus.keys.rejection(entry.id)):
            return True
        try:
            first = await self._bus.query_of(event.subject)
        except UnreadableEvent:
            return False
        return first is not None and first.id == event.id and first.data == event.data

    async def _overloaded(self, event: AnyEvent, tenant: Tenant) -> Overloaded:
        keys, partition = self._bus.keys, self._bus.keys.partition(event.subject)
        waiting, mine = await asyncio.gather(
            self._bus.batcher.submit("HLEN", keys.queries_waiting(partition)),
            self._bus.batcher.submit("ZCARD", keys.waiting(partition, tenant)),
        )
        return Overloaded(
            f"{waiting} queries are already waiting, {mine} of them from tenant {tenant}.",
            hint="Submit it again later, submit fewer queries, or add engines: `antiphon status` "
            "shows the waiting tenants.",
        )

    async def _acknowledge(self, entry: Entry) -> None:
        await faults.at("submission.acknowledge.before")
        await asyncio.gather(
            self._bus.batcher.submit("XACK", self._stream, GROUP, entry.id),
            self._bus.batcher.submit("XDEL", self._stream, entry.id),
        )
        await faults.at("submission.acknowledge.after")
        if _milliseconds(entry) > utc_now().timestamp() * 1000 + _CLOCKS_APART_MS:
            self._log.warning("queue_id_reset")
            await self._bus.batcher.run(scripts.RENEW_QUEUE, [self._stream], [GROUP])

    async def _reject(self, entry: Entry, error: AntiphonError) -> None:
        self._log.warning("submission_rejected", entry=entry.id, reason=str(error))
        fields = fields_of(entry, error, self._bus.settings.max_event_bytes)
        keys = [self._bus.keys.rejected(), self._bus.keys.rejection(entry.id)]
        await retry_while_unavailable(
            "reject a submission",
            lambda: self._bus.batcher.run(
                scripts.REJECT, keys, [_REJECTION_LIFE_MS, _REJECTED_LENGTH, *fields]
            ),
        )


def read_submission(
    entry: Entry, stream: str, bytes_max: int, now: datetime, signer: Signer | None = None
) -> AnyEvent:
    """Return the query.submitted event of an entry of the queue. Pure.

    Ids and time come from the entry's id, so that reading it again gives the same event, and a client's clock
    has no influence: a time in the future counts as `now`. With a `signer` the entry has to hold a signed
    event. Raises Unacceptable, or UnreadableEvent, which name the field.

    Args:
        stream: the key of the queue, part of the event's id and of its signature.
        bytes_max: the size of a submission, and of its event as JSON.
        now: the latest time that the event may have.
        signer: verifies the event; None where submissions need no signature.
    """
    if sum(len(name) + len(value) for name, value in entry.fields.items()) > bytes_max:
        raise Unacceptable(f"the submission is larger than {bytes_max} bytes.", hint=_SHORTEN)
    given = dict(entry.fields)
    if signer is not None:
        signer.verify(stream, given.get(b"event", b""), given.pop(SIGNATURE, None))
    fields = {name.decode("utf-8", "replace"): value for name, value in given.items()}
    if unknown := sorted(fields.keys() - FIELDS):
        name = unknown[0][:_NAME_LENGTH]
        raise Unacceptable(f"{name}: unknown field.", hint=did_you_mean(name, sorted(FIELDS)))
    submitted_ms = min(_milliseconds(entry), int(now.timestamp() * 1000))
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


def _milliseconds(entry: Entry) -> int:
    return int(entry.id.partition("-")[0])


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
        said, hint = unknown_field(error, QueryOptions.model_fields)
        raise Unacceptable(f"options.{said}", hint=hint or "Options must be a JSON object.") from None
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
