"""The life of one message: read it, decode it, handle it, commit the outcome. Start reading here.

    Reader  ->  _deliver  ->  _handle  ->  _commit
                    \\ unreadable, or out of deliveries: dead letter
                                 \\ failed: retry later, or dead letter
                                               \\ a document has changed: handle again, on fresh state

If a process dies between two of these steps, the entry stays pending. When the lease has expired, another worker
takes it over, runs the handler again, and commits events with the same ids. The commit happens once.
"""

import asyncio
from collections.abc import Awaitable, Iterable
from datetime import timedelta
from functools import partial
from typing import Any

import structlog
from redis.exceptions import ResponseError
from structlog.contextvars import bind_contextvars

from antiphon_shared import faults
from antiphon_shared.bus import committing, scripts
from antiphon_shared.bus.cancellations import Cancellations
from antiphon_shared.bus.concurrency import ConcurrencyLimit, Gate
from antiphon_shared.bus.connection import retry_while_unavailable
from antiphon_shared.bus.dead_letters import LETTER, Letter
from antiphon_shared.bus.deliveries import read_delivery
from antiphon_shared.bus.group_member import GroupMember
from antiphon_shared.bus.handling import Delivery, Handler, Outcome, SessionStore
from antiphon_shared.bus.reader import EXCLUSIVE_FROM_DELIVERY, Entry
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.signing import KeyMissing, require_key
from antiphon_shared.bus.timers import Chore, Chores, CleanUp
from antiphon_shared.bus.wire import Argument
from antiphon_shared.formats import FORMAT
from antiphon_shared.process.clock import utc_now
from antiphon_shared.process.errors import AntiphonError, ErrorInfo, TryLater, UnreadableEvent
from antiphon_shared.process.service import Service

_CONFLICTS_MAX = 20
_RETRY_DELAY_MAX_S = 60.0


class Contended(AntiphonError):
    """The error after too many conflicts, as other workers kept changing the session before the commit."""

    code = "contended"
    retryable = True


class Consumer:
    """One service on the bus, with its readers, handlers and leases."""

    def __init__(self, bus: Bus, service: Service, name: str) -> None:
        self.name = name
        self._bus, self._service = bus, service
        partitions = range(bus.keys.partitions)
        self._partitions = {bus.keys.inbox(p, service.name): p for p in partitions}
        # The commits of other components in this process share the slots as one more reader.
        self._local = bus.local_inboxes
        limit = ConcurrencyLimit(service.concurrency, len(self._partitions) + (self._local is not None))
        self._gate = Gate() if self._local is None else self._local.gate
        self._stops = Cancellations(bus) if service.stops_with_session else None
        duties = {stream: self._duties(stream, partition) for stream, partition in self._partitions.items()}
        self._member = GroupMember(bus, service.name, name, limit, self._deliver, duties)
        self._log = structlog.get_logger().bind(component=service.name)

    def _duties(self, stream: str, partition: int) -> Chore:
        clean_up = CleanUp(self._bus, stream, self._service.name)
        return Chores(self._bus, partition, clean_up) if self._service.keeps_partitions else clean_up

    @property
    def in_flight(self) -> int:
        return len(self._member.leases.tasks)

    async def run(self) -> None:
        """Work until `stop` is called and deliveries in flight are finished or handed back."""
        watching = None
        if self._stops is not None:
            await self._stops.look()  # before any work begins for a session that was stopped
            watching = asyncio.create_task(self._stops.watch())
        if self._local is not None:
            self._local.add(self._member.readers)
        try:
            await self._member.run()
        finally:
            if watching is not None:
                watching.cancel()
                await asyncio.gather(watching, return_exceptions=True)

    async def stop(self, grace_s: float) -> None:
        """Stop reading, finish deliveries in flight within `grace_s`, hand back the rest, leave the groups."""
        await self._member.stop(grace_s)

    async def _deliver(self, entry: Entry) -> None:
        """Process one message, from hand-over to acknowledgement."""
        if entry.deliveries > self._bus.settings.max_deliveries:
            await self._dead_letter_lost(entry)
        elif entry.deliveries >= EXCLUSIVE_FROM_DELIVERY:
            async with self._gate.exclusive():
                if await retry_while_unavailable("begin", lambda: self._member.leases.begin(entry)):
                    await self._handle(entry)
        else:
            await self._gate.enter()
            try:
                await self._handle(entry)
            finally:
                self._gate.leave()

    async def _handle(self, entry: Entry) -> None:
        try:
            delivery = self._delivery(entry)
            handler = self._handler(delivery)
        except KeyMissing as error:
            await self._dead_letter(entry, self._unverified(entry), ErrorInfo.of(error), is_reported=False)
            return
        except Exception as error:  # noqa: BLE001  # any unreadable entry becomes a dead letter
            await self._dead_letter(entry, None, ErrorInfo.of(error, self._bus.redactor))
            return
        bind_contextvars(session=delivery.event.subject, event=delivery.event.type)
        session = self._bus.session(delivery.event.subject)
        await faults.pass_point("delivery.decoded")
        for _ in range(_CONFLICTS_MAX):
            try:
                outcome = await self._outcome(handler, delivery, session)
                result = await self._commit(entry, delivery, self._operations(outcome, delivery))
            except (Exception, SystemExit) as error:  # noqa: BLE001  # the one place that catches a handler's failure
                await self._fail(entry, delivery, error)
                return
            if result == b"committed" and outcome.after_commit is not None:
                outcome.after_commit()
            if result != b"conflict":
                return
        await self._fail(entry, delivery, Contended("the session's documents kept changing."))

    def _outcome(self, handler: Handler, delivery: Delivery, session: SessionStore) -> Awaitable[Outcome]:
        """Return the handler's outcome; NOTHING if the session was stopped and the service stops with its sessions.

        The handler is retried while Redis is unavailable.
        """
        work = partial(retry_while_unavailable, "handle", partial(_handled, handler, delivery, session))
        return work() if self._stops is None else self._stops.unless_stopped(delivery, work)

    async def _fail(self, entry: Entry, delivery: Delivery, error: BaseException) -> None:
        """Schedule a retry of the message; dead-letter it if a retry cannot help or the attempts are used up."""
        settings = self._bus.settings
        component = self._service.name
        is_retry_useful = not isinstance(error, AntiphonError) or error.retryable
        if isinstance(error, TryLater):
            self._log.info("delivery_postponed", reason=error.message, attempt=delivery.attempt)
            delay_s = error.delay_s
        elif is_retry_useful and delivery.attempt + 1 < settings.max_attempts:
            self._log.warning("handler_retried", attempt=delivery.attempt, exc_info=error)
            delay_s = min(_RETRY_DELAY_MAX_S, settings.retry_delay_s * 2**delivery.attempt)
        else:
            self._log.error("handler_failed", exc_info=error)
            await self._dead_letter(entry, delivery, ErrorInfo.of(error, self._bus.redactor))
            return
        raw, delay = entry.fields[b"event"], timedelta(seconds=delay_s)
        await self._commit(entry, delivery, committing.retry_operations(delivery, raw, component, delay))

    async def _dead_letter_lost(self, entry: Entry) -> None:
        """Dead-letter a message whose workers disappeared, one after the other."""
        try:
            delivery: Delivery | None = self._delivery(entry)
        except Exception:  # noqa: BLE001  # the entry is unreadable
            delivery = None
        message = f"{entry.deliveries - 1} workers in a row stopped while they processed it"
        await self._dead_letter(entry, delivery, ErrorInfo(code="workers_lost", message=message))

    async def _dead_letter(
        self, entry: Entry, delivery: Delivery | None, error: ErrorInfo, is_reported: bool = True
    ) -> None:
        """Move a message to the dead letters; report it to its session unless the message may be forged."""
        self._log.error("dead_letter", entry=entry.id, code=error.code, reason=error.message)
        letter = Letter.of(entry, self._service.name, delivery, error, utc_now())
        reported = delivery if is_reported else None
        try:
            await self._commit(entry, reported, self._dead_letter_operations(entry, letter, reported))
        except ResponseError as refusal:
            if reported is None:
                raise
            # Without a report to the session, as one of its keys holds foreign content.
            self._log.error("failure_not_reported", exc_info=refusal)
            await self._commit(entry, None, self._dead_letter_operations(entry, letter, None))

    def _dead_letter_operations(
        self, entry: Entry, letter: Letter, delivery: Delivery | None
    ) -> Iterable[committing.Operation]:
        # Cut to the size of an event, as the letter adds fields to an entry that may have the maximum size.
        return committing.dead_letter_operations(
            entry.content[: self._bus.settings.max_event_bytes],
            LETTER.write(letter, delivery.event.format if delivery else FORMAT),
            delivery,
            letter.error,
            component=self._service.name,
            keys=self._bus.keys,
            partition=self._partitions[entry.stream],
            settings=self._bus.settings,
            now=utc_now(),
        )

    def _operations(self, outcome: Outcome, delivery: Delivery) -> Iterable[committing.Operation]:
        return committing.outcome_operations(
            outcome, delivery, self._service.name, self._bus.keys, self._bus.settings, utc_now()
        )

    async def _commit(
        self, entry: Entry, delivery: Delivery | None, operations: Iterable[committing.Operation]
    ) -> bytes:
        """Return `committed`, `duplicate` or `conflict`; see `_send_commit`."""
        if self._local is None:
            result: bytes = await self._send_commit(entry, delivery, operations)
            return result
        operations = [*operations]
        with self._local.taking(operations) as taking:
            reply = await self._send_commit(entry, delivery, [*operations, *taking.operations])
            return taking.result(reply)

    async def _send_commit(
        self, entry: Entry, delivery: Delivery | None, operations: Iterable[committing.Operation]
    ) -> Any:
        """Return the reply of the commit script, retried while Redis is unavailable, which is safe."""
        keys, arguments = committing.script_arguments(
            operations,
            delivery.event.subject if delivery else None,
            entry.id,
            self._service.name,
            partition=self._partitions[entry.stream],
            keys=self._bus.keys,
            settings=self._bus.settings,
            signer=self._bus.signer,
        )

        result = await retry_while_unavailable("commit", partial(self._run_commit, keys, arguments))
        if result == b"duplicate":
            self._log.info("delivery_already_finished", entry=entry.id)
        return result

    async def _run_commit(self, keys: list[str], arguments: list[Argument]) -> Any:
        await faults.pass_point("commit.before")
        result = await self._bus.batcher.run(scripts.COMMIT, keys, arguments)
        await faults.pass_point("commit.after")
        return result

    def _delivery(self, entry: Entry) -> Delivery:
        """Return the entry as a delivery. Raises UnreadableEvent, KeyMissing."""
        require_key(self._bus.signer, entry.fields)
        delivery = read_delivery(entry, self._bus.settings.max_event_bytes, self._bus.signer)
        own_partition = self._partitions[entry.stream]
        event_partition = self._bus.keys.partition(delivery.event.subject)
        if own_partition != event_partition:
            raise UnreadableEvent(
                f"session {delivery.event.subject} belongs to partition {event_partition}, not {own_partition}.",
                hint="ANTIPHON_PARTITIONS must be the same for all processes, and never change.",
            )
        return delivery

    def _unverified(self, entry: Entry) -> Delivery | None:
        """Return the delivery of an unverified entry, for its letter; None if it cannot be read."""
        try:
            return read_delivery(entry, self._bus.settings.max_event_bytes)
        except Exception:  # noqa: BLE001  # see _handle
            return None

    def _handler(self, delivery: Delivery) -> Handler:
        handler = self._service.handlers.get(type(delivery.event.data))
        if handler is None:
            raise UnreadableEvent(f"{self._service.name} does not handle {delivery.event.type}.")
        return handler


async def _handled(handler: Handler, delivery: Delivery, session: SessionStore) -> Outcome:
    """Return the handler's outcome. A cancellation from within the handler counts as a failure."""
    try:
        await faults.pass_point("handler.before")
        outcome = await handler(delivery, session)
        await faults.pass_point("handler.after")
        return outcome
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        raise RuntimeError("the handler was cancelled from within") from None
