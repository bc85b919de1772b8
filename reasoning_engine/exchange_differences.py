"""The newest exchange record of each session, so that the record of its next round can be stored as a difference.

It is remembered when it has been committed, until the connection to Redis breaks: a Redis that comes back may have lost
the commit. If none is remembered, or another process handled the round before, it is read from Redis.
"""

from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from uuid import UUID

from antiphon_shared.bus.handling import RECORDS, SessionStore
from antiphon_shared.events import AnyEvent
from antiphon_shared.events.record_differences import (
    RECORD_BYTES_MIN,
    SINCE_FORMAT,
    Base,
    bases_in,
    difference,
)
from antiphon_shared.events.step_records import ExchangeRecord, StepRecord, encode_record
from redis.exceptions import RedisClusterException, RedisError

_REMEMBERED_BYTES_MAX = 4_000_000
_READ_BACK = 120
"""The number of newest records that are read: enough rounds, of about six records, to contain a complete one."""
_OUTPUTS = 1
"""The number of events that a step of the engine emits."""

_Session = tuple[str, UUID]
"""A session's id, which a later session may reuse, and the id of the query that opened this one."""
Remember = Callable[[], None]
"""Called when the record has been committed."""


class ExchangeDifferences:
    """A converter of exchange records into differences from the record of the session's previous round."""

    def __init__(self, record_bytes_max: int, interruptions: Callable[[], int] = int) -> None:
        """`record_bytes_max`: the bus omits larger records.

        `interruptions`: returns how often the connection failed.
        """
        self._record_bytes_max, self._interruptions = record_bytes_max, interruptions
        self._newest: OrderedDict[_Session, tuple[int, Base]] = OrderedDict()
        """The newest round and its record by session, the most recently stored last."""
        self._bytes = 0
        self._since = interruptions()
        """The number of interruptions of the connection when the records were last cleared."""

    async def stored(
        self, record: ExchangeRecord, event: AnyEvent, round: int, session: SessionStore
    ) -> tuple[StepRecord, Remember | None]:
        """Return the record of a round in the form to store, and a function to call when it has been committed."""
        if event.format < SINCE_FORMAT or not record.calls:
            return record, None
        raw = encode_record(record, _OUTPUTS, event.format)
        if len(raw) > self._record_bytes_max:
            return record, None
        base = None if len(raw) < RECORD_BYTES_MIN else await self._base(record, event, round, session)
        shortened = None if base is None else difference(record.of, raw, base)
        remember = partial(self._remember, (event.subject, event.correlationid), round)
        if base is None or shortened is None:
            return record, partial(remember, Base.of_record(record, raw))
        short, size = shortened
        return short, partial(remember, base.following(record, raw, size))

    async def _base(
        self, record: ExchangeRecord, event: AnyEvent, round: int, session: SessionStore
    ) -> Base | None:
        """Return the record of the previous round; None for the first round, or if the record is too far back."""
        if round <= 1:
            return None
        self._forget_if_interrupted()
        remembered_round, base = self._newest.get((event.subject, event.correlationid), (0, None))
        if base is not None and remembered_round == round - 1:
            return base
        try:
            bases = bases_in(await session.items(RECORDS, -_READ_BACK))
        except (RedisError, RedisClusterException):
            return None  # a retry of the round would ask the model again
        # Summaries are exchanges too, and have another system prompt.
        return next((one for one in reversed(bases) if one.contents[:1] == record.contents[:1]), None)

    def _forget_if_interrupted(self) -> None:
        if self._since != self._interruptions():
            self._since, self._bytes = self._interruptions(), 0
            self._newest.clear()

    def _remember(self, session: _Session, round: int, base: Base) -> None:
        self._forget_if_interrupted()
        _, before = self._newest.pop(session, (0, None))
        self._newest[session] = round, base
        self._bytes += len(base.raw) - (0 if before is None else len(before.raw))
        while self._bytes > _REMEMBERED_BYTES_MAX:
            _, (_, oldest) = self._newest.popitem(last=False)
            self._bytes -= len(oldest.raw)
