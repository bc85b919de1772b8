"""The queries that wait in the queue or for a free slot, read from Redis."""

import asyncio
from collections import Counter

from antiphon_shared.bus.reader import Entry
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.signing import SIGNATURE, require_key
from antiphon_shared.bus.submissions import read_submission
from antiphon_shared.bus.waiting import fields_of_record, query_of, tenant_of
from antiphon_shared.events import AnyEvent
from antiphon_shared.process.clock import utc_now
from antiphon_shared.process.errors import AntiphonError, UnreadableEvent
from antiphon_shared.values import Value

_PAGE = 200
_TENANTS_READ_MAX = 1_000
_TENANTS_LISTED_MAX = 10


class TenantWaiting(Value):
    """The number of waiting queries of one tenant."""

    tenant: str
    queries: int


class Waiting(Value):
    """The number of waiting queries over all partitions, and the tenants with the most of them."""

    queries: int
    tenants: tuple[TenantWaiting, ...] = ()


async def waiting_now(bus: Bus) -> Waiting:
    """Return the number of waiting queries; tenants beyond a bound for each partition are not counted."""
    partitions = await asyncio.gather(*(_of_partition(bus, p) for p in range(bus.keys.partitions)))
    counts = sum((tenants for _, tenants in partitions), Counter[str]())
    most = tuple(TenantWaiting(tenant=name, queries=n) for name, n in counts.most_common(_TENANTS_LISTED_MAX))
    return Waiting(queries=sum(queries for queries, _ in partitions), tenants=most)


async def queries_waiting(bus: Bus, limit: int) -> list[AnyEvent]:
    """Return the newest waiting queries, at most `limit` of the queue and of each partition.

    In a partition, the queries with the latest deadlines count as the newest.
    """
    entries = await bus.batcher.submit("XREVRANGE", bus.keys.queries(), "+", "-", "COUNT", limit)
    in_queue = (_query_in_queue(bus, entry, fields) for entry, fields in entries)
    queries = [query for query in in_queue if query is not None]
    for partition in range(bus.keys.partitions):
        deadlines = bus.keys.waiting_deadlines(partition)
        names = await bus.batcher.submit("ZRANGE", deadlines, 0, limit - 1, "REV")
        waiting = (_admitted_query(bus, name.decode(errors="replace")) for name in names)
        for one in await asyncio.gather(*waiting, return_exceptions=True):
            # An unreadable query becomes a dead letter when its turn comes.
            if isinstance(one, BaseException) and not isinstance(one, UnreadableEvent):
                raise one
            if one is not None and not isinstance(one, BaseException):
                queries.append(one)
    return queries


async def query_waiting(bus: Bus, session_id: str, changes: bool = False) -> AnyEvent | None:
    """Return the query that waits under an id; None if it does not wait.

    Raises BadSignature; for a caller that `changes` it, KeyMissing if it is signed and this process has no key.
    """
    start = "-"
    # The queue first, so that the second read finds a query that moves in between.
    while page := await bus.batcher.submit("XRANGE", bus.keys.queries(), start, "+", "COUNT", _PAGE):
        for entry, fields in page:
            query = _query_in_queue(bus, entry, fields)
            if query is not None and query.subject == session_id:
                if changes:
                    require_key(bus.signer, fields)
                return query
        start = f"({page[-1][0].decode()}"
    return await _admitted_query(bus, session_id, changes)


async def waiting_summary(bus: Bus, session_id: str) -> str:
    """Return the tenant of a waiting query and the tenant's number of waiting queries, in words; else empty."""
    record = await _record(bus, session_id)
    if record is None:
        return ""
    tenant = tenant_of(record)
    count = await bus.batcher.submit("ZCARD", bus.keys.waiting(bus.keys.partition(session_id), tenant))
    return f"one of {count} of tenant {tenant}"


async def _admitted_query(bus: Bus, session_id: str, changes: bool = False) -> AnyEvent | None:
    record = await _record(bus, session_id)
    if record is None:
        return None
    if changes:
        require_key(bus.signer, fields_of_record(record))
    return query_of(record, bus.keys.log(session_id), bus.signer)


def _query_in_queue(bus: Bus, entry: bytes, fields: dict[bytes, bytes]) -> AnyEvent | None:
    """Return the query of an entry of the queue; None for an entry that a coordinator will reject."""
    stream = bus.keys.queries()
    signer = bus.signer if SIGNATURE in fields else None
    own = fields if signer else {name: value for name, value in fields.items() if name != SIGNATURE}
    try:
        bytes_max = bus.settings.max_event_bytes
        return read_submission(Entry(stream, entry.decode(), own), stream, bytes_max, utc_now(), signer)
    except AntiphonError:
        return None


async def _record(bus: Bus, session_id: str) -> bytes | None:
    key = bus.keys.queries_waiting(bus.keys.partition(session_id))
    (record,) = await bus.batcher.submit("HMGET", key, session_id)
    return None if record is None else bytes(record)


async def _of_partition(bus: Bus, partition: int) -> tuple[int, Counter[str]]:
    tenants, queries = await asyncio.gather(
        bus.batcher.submit("ZRANGE", bus.keys.tenants_waiting(partition), 0, _TENANTS_READ_MAX - 1),
        bus.batcher.submit("HLEN", bus.keys.queries_waiting(partition)),
    )
    names = [name.decode(errors="replace") for name in tenants]
    counts = await asyncio.gather(
        *(bus.batcher.submit("ZCARD", bus.keys.waiting(partition, name)) for name in names)
    )
    return queries, Counter(dict(zip(names, counts, strict=True)))
