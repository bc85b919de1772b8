"""The intake of submissions from `antiphon:queries` into the partitions, in two steps that are safe to repeat.

First the session is opened or queued, or the submission is rejected with the reason, if it is invalid or too many
queries wait. Then the submission is acknowledged. The first step has its effect once, even if it is repeated. So
the queue is drained at once, and sessions wait in their own partitions: see admission.py.
"""

import asyncio
from collections.abc import Callable
from functools import partial

import structlog

from antiphon_shared import faults
from antiphon_shared.bus import scripts
from antiphon_shared.bus.concurrency import ConcurrencyLimit
from antiphon_shared.bus.connection import retry_while_unavailable
from antiphon_shared.bus.group_member import GroupMember
from antiphon_shared.bus.reader import Entry
from antiphon_shared.bus.redis_bus import Bus, Published
from antiphon_shared.bus.rejections import fields_of
from antiphon_shared.bus.session_content import SessionContent, conflict
from antiphon_shared.bus.signing import SIGNATURE, KeyMissing, require_key
from antiphon_shared.bus.submissions import Unacceptable, read_submission
from antiphon_shared.bus.timers import CleanUp
from antiphon_shared.events import AnyEvent, encode
from antiphon_shared.formats import FORMAT, needed_format
from antiphon_shared.process.clock import utc_now
from antiphon_shared.process.errors import AntiphonError, ErrorInfo, UnreadableEvent
from antiphon_shared.process.stream_ids import milliseconds_of
from antiphon_shared.values import DEFAULT_TENANT, Tenant

GROUP = "intake"
_REJECTED_LENGTH = 100_000
_REJECTION_LIFE_MS = 86_400_000
_SESSION_ID_BYTES = 128
"""The part of a rejected session id that names a marker; a valid id is not longer."""
_DELIVERIES_FACTOR = 2
"""The limit on deliveries of a submission is this multiple of an inbox message's limit."""
_CLOCK_DIFFERENCE_MAX_MS = 60_000


class Overloaded(AntiphonError):
    """The rejection of a query because too many queries wait."""

    code = "overloaded"
    retryable = True


class Intake:
    """The reader of the queue of submissions, for one process."""

    def __init__(
        self,
        bus: Bus,
        consumer: str,
        slots: int,
        *,
        deadline_s: float = 300.0,
        on_waiting: Callable[[], None] = lambda: None,
        tenant_of: Callable[[AnyEvent], Tenant] = lambda event: DEFAULT_TENANT,
        resolved: Callable[[AnyEvent], AnyEvent] = lambda event: event,
    ) -> None:
        """Take the bus, the consumer's name and the maximum number of submissions in flight.

        Args:
            deadline_s: The deadline of queries that name none.
            on_waiting: Called when a query has to wait.
            tenant_of: Returns the tenant of a query. Raises an AntiphonError for a query that must not be admitted.
            resolved: Returns a query with its references replaced by their content. Raises an AntiphonError for a
                reference to missing content.
        """
        self._bus, self._deadline_s, self._on_waiting = bus, deadline_s, on_waiting
        self._tenant_of, self._resolved = tenant_of, resolved
        self._stream = bus.keys.queries()
        self._has_warned_of_key = False
        duties = {self._stream: CleanUp(bus, self._stream, GROUP)}
        limit = ConcurrencyLimit(slots, readers=1)
        self._member = GroupMember(bus, GROUP, consumer, limit, self._process, duties)
        self._log = structlog.get_logger()

    async def run(self) -> None:
        """Admit submissions until cancelled; then requeue submissions in flight."""
        working = asyncio.create_task(self._member.run())
        try:
            await asyncio.shield(working)
        finally:
            await self._member.stop(grace_s=0)
            await working

    async def _process(self, entry: Entry) -> None:
        """Process one submission: open or reject it, then acknowledge it."""
        await faults.pass_point("submission.open.before")
        try:
            await self._arrive(entry, self._read(entry))
        except AntiphonError as error:
            await self._reject(entry, error)
        except Exception as error:
            if entry.deliveries < self._bus.settings.max_deliveries:
                raise
            await self._reject(entry, self._failure(error))
        await retry_while_unavailable("acknowledge a submission", lambda: self._acknowledge(entry))

    def _failure(self, error: Exception) -> Unacceptable:
        self._log.error("submission_failed", exc_info=error)
        return Unacceptable(f"the submission failed: {ErrorInfo.of(error, self._bus.redactor).message}")

    def _read(self, entry: Entry) -> AnyEvent:
        """Return the query of an entry. Raises an AntiphonError when it cannot be admitted."""
        signer, settings = self._bus.signer, self._bus.settings
        if entry.deliveries > _DELIVERIES_FACTOR * settings.max_deliveries:
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
        """Return the query in the format of new sessions, which every worker reads. Raises Unacceptable."""
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
        """Raise KeyMissing if a key is needed; log it once as an error, as the settings may be wrong."""
        try:
            require_key(self._bus.signer, entry.fields)
        except KeyMissing:
            error = KeyMissing(
                "the submission is signed, but the coordinator that read it has no key.",
                hint="Set ANTIPHON_SIGNING_KEY to the same keys for every process of the pipeline and every client, or "
                "for none.",
            )
            if not self._has_warned_of_key:
                self._log.error("signed_queries_rejected", reason=error.message, hint=error.hint)
            self._has_warned_of_key = True
            raise error from None

    async def _arrive(self, entry: Entry, event: AnyEvent) -> None:
        """Open the session, or queue it. Raises an AntiphonError when it must not be admitted."""
        if entry.is_taken_over and await retry_while_unavailable(
            "check whether a submission was handled", lambda: self._has_ended(entry, event)
        ):
            return  # a worker died before it acknowledged the submission
        tenant = self._tenant_of(event)
        result = await self._publish(await self._in_live_format(event), tenant)
        if result == "waiting":
            self._on_waiting()
        elif result == "overloaded":
            await self._reject(
                entry,
                await retry_while_unavailable("count queries", lambda: self._overloaded(event, tenant)),
            )

    async def _publish(self, event: AnyEvent, tenant: Tenant) -> Published:
        """Open or queue the session; an existing session must have the same content. Raises SessionConflict."""
        attempt = partial(self._bus.publish, event, "open", self._deadline_s, tenant)
        while (result := await retry_while_unavailable("open a session", attempt)) == "known":
            first = await retry_while_unavailable(
                "read a session's query", lambda: self._first_event(event.subject)
            )
            if first is not None:
                SessionContent.of(event).refuse_other(first, event.subject)
                break
            # The existing session has expired in between, so that its id is free again.
        return result

    async def _first_event(self, session_id: str) -> AnyEvent | None:
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
        waiting, of_tenant = await asyncio.gather(
            self._bus.batcher.submit("HLEN", keys.queries_waiting(partition)),
            self._bus.batcher.submit("ZCARD", keys.waiting(partition, tenant)),
        )
        return Overloaded(
            f"{waiting} queries are already waiting, {of_tenant} of them from tenant {tenant}.",
            hint="Submit it again later, submit fewer queries, or add engines: `antiphon status` "
            "shows the waiting tenants.",
        )

    async def _acknowledge(self, entry: Entry) -> None:
        await faults.pass_point("submission.acknowledge.before")
        await asyncio.gather(
            self._bus.batcher.submit("XACK", self._stream, GROUP, entry.id),
            self._bus.batcher.submit("XDEL", self._stream, entry.id),
        )
        await faults.pass_point("submission.acknowledge.after")
        if milliseconds_of(entry.id) > utc_now().timestamp() * 1000 + _CLOCK_DIFFERENCE_MAX_MS:
            self._log.warning("queue_id_reset")
            await self._bus.batcher.run(scripts.RENEW_QUEUE, [self._stream], [GROUP])

    async def _reject(self, entry: Entry, error: AntiphonError) -> None:
        self._log.warning("submission_rejected", entry=entry.id, reason=str(error))
        fields = fields_of(entry, error, self._bus.settings.max_event_bytes)
        keys = [self._bus.keys.rejected(), self._bus.keys.rejection(entry.id)]
        if session_id := entry.fields.get(b"session_id", b"")[:_SESSION_ID_BYTES]:
            keys.append(self._bus.keys.rejection_of_session(session_id.decode(errors="replace")))
        await retry_while_unavailable(
            "reject a submission",
            lambda: self._bus.batcher.run(
                scripts.REJECT, keys, [_REJECTION_LIFE_MS, _REJECTED_LENGTH, *fields]
            ),
        )
