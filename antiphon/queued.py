"""Queries that wait for room, for an observer: how many, whose, and which. Reads Redis, changes nothing."""

import asyncio
from collections import Counter

from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.waiting import query_of, tenant_of
from antiphon_shared.events import AnyEvent
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.values import Value

_TENANTS_LOOKED_AT = 1_000
_TENANTS_SHOWN = 10


class TenantWaiting(Value):
    """The number of waiting queries of one tenant."""

    tenant: str
    queries: int


class Waiting(Value):
    """The waiting queries over all partitions, and a few tenants, those with the most queries first."""

    queries: int
    tenants: tuple[TenantWaiting, ...] = ()


async def waiting_now(bus: Bus) -> Waiting:
    """Return the waiting queries; in a partition with very many tenants, only some tenants are counted."""
    found = await asyncio.gather(*(_of_partition(bus, p) for p in range(bus.keys.partitions)))
    counts = sum((tenants for _, tenants in found), Counter[str]())
    most = tuple(TenantWaiting(tenant=name, queries=n) for name, n in counts.most_common(_TENANTS_SHOWN))
    return Waiting(queries=sum(queries for queries, _ in found), tenants=most)


async def queries_waiting(bus: Bus, limit: int) -> list[AnyEvent]:
    """Return waiting queries, at most `limit` of each partition: those with the latest deadlines."""
    found: list[AnyEvent] = []
    for partition in range(bus.keys.partitions):
        deadlines = bus.keys.waiting_deadlines(partition)
        names = await bus.batcher.submit("ZRANGE", deadlines, 0, limit - 1, "REV")
        waiting = (query_waiting(bus, name.decode(errors="replace")) for name in names)
        queries = await asyncio.gather(*waiting, return_exceptions=True)
        for query in queries:
            # An unreadable one becomes a dead letter when its turn comes.
            if isinstance(query, BaseException) and not isinstance(query, UnreadableEvent):
                raise query
            if query is not None and not isinstance(query, BaseException):
                found.append(query)
    return found


async def query_waiting(bus: Bus, session_id: str) -> AnyEvent | None:
    """Return the query of a waiting session; None if it does not wait. Raises BadSignature."""
    record = await _record(bus, session_id)
    return None if record is None else query_of(record, bus.keys.log(session_id), bus.signer)


async def waiting_summary(bus: Bus, session_id: str) -> str:
    """Return the tenant of a waiting query and its number of waiting queries, in words; empty if it does not wait."""
    record = await _record(bus, session_id)
    if record is None:
        return ""
    tenant = tenant_of(record)
    mine = await bus.batcher.submit("ZCARD", bus.keys.waiting(bus.keys.partition(session_id), tenant))
    return f"one of {mine} of tenant {tenant}"


async def _record(bus: Bus, session_id: str) -> bytes | None:
    key = bus.keys.queries_waiting(bus.keys.partition(session_id))
    (record,) = await bus.batcher.submit("HMGET", key, session_id)
    return None if record is None else bytes(record)


async def _of_partition(bus: Bus, partition: int) -> tuple[int, Counter[str]]:
    tenants, queries = await asyncio.gather(
        bus.batcher.submit("ZRANGE", bus.keys.tenants_waiting(partition), 0, _TENANTS_LOOKED_AT - 1),
        bus.batcher.submit("HLEN", bus.keys.queries_waiting(partition)),
    )
    names = [name.decode(errors="replace") for name in tenants]
    counts = await asyncio.gather(
        *(bus.batcher.submit("ZCARD", bus.keys.waiting(partition, name)) for name in names)
    )
    return queries, Counter(dict(zip(names, counts, strict=True)))
