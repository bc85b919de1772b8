"""The life of one message: read it, decode it, handle it, commit what came of it. Start reading here.

    Reader  ->  _deliver  ->  _handle  ->  _commit
                    \\ not an event, or out of deliveries: dead letter
                                 \\ failed: again later, or dead letter
                                               \\ a document has changed: handle again, on fresh state

Whatever kills the process between two of these steps leaves the entry pending; another worker takes it over
when the lease is out, runs the handler again, and commits the same ids. The commit happens once.
"""

import asyncio
from collections.abc import Iterable
from datetime import timedelta

import structlog
from redis.exceptions import RedisError
from structlog.contextvars import bind_contextvars

from shared.bus import committing, scripts
from shared.bus.connection import is_unavailable, patiently
from shared.bus.dead_letters import Letter
from shared.bus.handling import Delivery, Outcome
from shared.bus.leases import Leases
from shared.bus.reader import Entry, Reader
from shared.bus.redis_bus import Bus
from shared.bus.room import Gate, Room
from shared.bus.timers import Chores
from shared.clock import utc_now
from shared.errors import AntiphonError, ErrorInfo, TryLater, UnreadableEvent
from shared.events import decode
from shared.service import Service

_ALONE_FROM_DELIVERY = 3
_CONFLICTS_MAX = 20
_RETRY_DELAY_MAX_S = 60.0


class Consumer:
    """Runs one service on the bus: its readers, its handlers, its leases."""

    def __init__(self, bus: Bus, service: Service, name: str) -> None:
        self.name = name
        self._bus, self._service = bus, service
        partitions = range(bus.keys.partitions)
        self._partitions = {bus.keys.inbox(p, service.name): p for p in partitions}
        self._room = Room(service.concurrency, readers=len(self._partitions))
        self._gate = Gate()
        self._leases = Leases(bus, service.name, name)
        self._readers = [
            Reader(
                bus,
                stream,
                service.name,
                name,
                self._room,
                self._take,
                self._leases.holds,
                Chores(bus, partition, stream, service.name),
            )
            for stream, partition in self._partitions.items()
        ]
        self._log = structlog.get_logger().bind(component=service.name)

    @property
    def in_hand(self) -> int:
        return len(self._leases.tasks)

    async def run(self) -> None:
        """Work until `stop` is called and what is in hand is done."""
        groups = [(stream, self._service.name) for stream in self._partitions]
        await patiently("create groups", lambda: self._bus.ensure_groups(groups))
        keeping = asyncio.create_task(self._leases.keep())
        try:
            await asyncio.gather(*(reader.run() for reader in self._readers))
        finally:
            keeping.cancel()
            await asyncio.gather(keeping, return_exceptions=True)

    async def stop(self, grace_s: float) -> None:
        """Stop reading, finish what is in hand within `grace_s`, hand back the rest, leave the groups."""
        self._room.close()
        await asyncio.gather(*(reader.unblock() for reader in self._readers))
        if tasks := self._leases.tasks:
            await asyncio.wait(tasks, timeout=grace_s)
        try:
            await self._leases.hand_back()
        except (RedisError, OSError):
            self._log.warning("could not hand back what was in hand; it is taken over when its lease is out")
        for task in (unfinished := self._leases.tasks):
            task.cancel()
        await asyncio.gather(*unfinished, return_exceptions=True)
        await self._leave()

    async def _leave(self) -> None:
        for stream in self._partitions:
            try:
                await self._bus.batcher.run(scripts.LEAVE, [stream], [self._service.name, self.name])
            except (RedisError, OSError):
                self._log.debug("could not leave the group; the name stays until somebody cleans up")

    def _take(self, entry: Entry) -> None:
        task = asyncio.create_task(self._deliver(entry))
        self._leases.hold(entry, task)

    async def _deliver(self, entry: Entry) -> None:
        """One message, from hand-over to acknowledgement."""
        try:
            if entry.deliveries > self._bus.settings.max_deliveries:
                await self._bury_lost(entry)
            elif entry.deliveries >= _ALONE_FROM_DELIVERY:
                async with self._gate.alone():
                    await self._handle(entry)
            else:
                async with self._gate.together():
                    await self._handle(entry)
        except Exception:  # noqa: BLE001  # the entry stays pending, and is delivered again when its lease is out
            self._log.exception("a delivery could not be ended", stream=entry.stream, entry=entry.id)
        finally:
            self._leases.drop(entry)
            self._room.release()

    async def _handle(self, entry: Entry) -> None:
        try:
            delivery = _delivery(entry)
        except UnreadableEvent as error:
            await self._bury(entry, None, ErrorInfo.of(error))
            return
        bind_contextvars(session=delivery.event.subject, event=delivery.event.type)
        handler = self._service.handlers.get(type(delivery.event.data))
        if handler is None:
            stray = UnreadableEvent(f"{delivery.event.type} is no event for {self._service.name}.")
            await self._bury(entry, None, ErrorInfo.of(stray))
            return
        session = self._bus.session(delivery.event.subject)
        for _ in range(_CONFLICTS_MAX):
            try:
                outcome = await handler(delivery, session)
                operations = list(self._operations(outcome, delivery))
            except (RedisError, OSError) as error:
                if not is_unavailable(error):
                    await self._fail(entry, delivery, error)
                    return
                await asyncio.sleep(self._bus.settings.retry_delay_s)
                continue
            except Exception as error:  # noqa: BLE001  # the one place where a handler's failure is met
                await self._fail(entry, delivery, error)
                return
            if await self._commit(entry, delivery, operations) != b"conflict":
                return
        await self._fail(entry, delivery, AntiphonError("documents kept changing, or Redis kept failing"))

    async def _fail(self, entry: Entry, delivery: Delivery, error: Exception) -> None:
        """Have the message delivered again later, unless that cannot help or was tried often enough."""
        settings = self._bus.settings
        component = self._service.name
        may_help = not isinstance(error, AntiphonError) or error.retryable
        if isinstance(error, TryLater):
            self._log.info("handed back for later", reason=error.message, attempt=delivery.attempt)
            delay_s = error.delay_s
        elif may_help and delivery.attempt + 1 < settings.max_attempts:
            self._log.warning("handler failed; trying again later", attempt=delivery.attempt, exc_info=error)
            delay_s = min(_RETRY_DELAY_MAX_S, settings.retry_delay_s * 2**delivery.attempt)
        else:
            self._log.error("handler failed; setting the message aside", exc_info=error)
            await self._bury(entry, delivery, ErrorInfo.of(error))
            return
        await self._commit(
            entry, delivery, committing.of_retry(delivery, component, timedelta(seconds=delay_s))
        )

    async def _bury_lost(self, entry: Entry) -> None:
        """Set aside a message whose workers went silent, one after the other."""
        try:
            delivery: Delivery | None = _delivery(entry)
        except UnreadableEvent:
            delivery = None
        message = f"{entry.deliveries - 1} workers in a row stopped while they had it in hand"
        await self._bury(entry, delivery, ErrorInfo(code="workers_lost", message=message))

    async def _bury(self, entry: Entry, delivery: Delivery | None, error: ErrorInfo) -> None:
        self._log.error("dead letter", entry=entry.id, code=error.code, reason=error.message)
        partition = self._partitions[entry.stream]
        raw = entry.fields.get(b"event", b"")
        letter = Letter.of(entry, self._service.name, delivery, error, utc_now())
        operations = committing.of_burial(
            raw,
            letter.model_dump_json().encode(),
            delivery,
            error,
            self._service.name,
            self._bus.keys,
            partition,
            self._bus.settings,
            utc_now(),
        )
        await self._commit(entry, delivery, operations)

    def _operations(self, outcome: Outcome, delivery: Delivery) -> Iterable[committing.Operation]:
        return committing.of_outcome(
            outcome, delivery, self._service.name, self._bus.keys, self._bus.settings, utc_now()
        )

    async def _commit(
        self, entry: Entry, delivery: Delivery | None, operations: Iterable[committing.Operation]
    ) -> bytes:
        """`committed`, `duplicate` or `conflict`. Safe to repeat, and repeated while Redis is unavailable."""
        keys, arguments = committing.arguments(
            operations,
            delivery.event.subject if delivery else "-",
            entry.id,
            self._service.name,
            self._partitions[entry.stream],
            self._bus.keys,
            self._bus.settings,
        )
        result: bytes = await patiently(
            "commit", lambda: self._bus.batcher.run(scripts.COMMIT, keys, arguments)
        )
        if result == b"duplicate":
            self._log.info("somebody else has finished this message", entry=entry.id)
        return result


def _delivery(entry: Entry) -> Delivery:
    """The entry as a delivery. Raises UnreadableEvent."""
    raw, place = entry.fields.get(b"event"), entry.fields.get(b"log")
    if raw is None or place is None:
        raise UnreadableEvent("an entry of an inbox needs the fields `event` and `log`.")
    event = decode(raw)
    attempt = int(entry.fields.get(b"attempt", b"0"))
    return Delivery(event, place.decode(), attempt, redelivered=entry.deliveries > 1 or attempt > 0)
