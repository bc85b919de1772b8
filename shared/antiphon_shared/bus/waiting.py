"""Waiting queries: their tenant, submission and deadline. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from math import inf

from antiphon_shared.bus.signing import SIGNATURE, Signer, verified_event
from antiphon_shared.events import AnyEvent, QuerySubmitted, decode
from antiphon_shared.values import Tenant

TURN = 1_000_000
"""The virtual time that a turn costs a tenant of weight 1; an integer, so that sums are exact."""


@dataclass(frozen=True, slots=True)
class QueuePosition:
    """The position of a query among the waiting queries."""

    tenant: Tenant
    submitted_ms: int
    deadline_ms: int
    """When the query is opened without a free slot, in Unix milliseconds."""


def position_of(
    event: AnyEvent, tenant: Tenant, deadline_s: float, deadline_max_s: float = inf
) -> QueuePosition:
    """Return the position of a query.submitted.

    `deadline_s` is for a query that names none; `deadline_max_s` bounds every deadline.
    """
    query = event.data
    assert isinstance(query, QuerySubmitted)
    due = event.time + timedelta(seconds=min(query.options.deadline_s or deadline_s, deadline_max_s))
    return QueuePosition(tenant, _unix_ms(event.time.timestamp()), _unix_ms(due.timestamp()))


def turn_costs(weights: Mapping[Tenant, float]) -> list[str | int]:
    """Return each tenant that has a weight, followed by the cost of its turn, as arguments of admit.lua."""
    return [word for tenant, weight in weights.items() for word in (tenant, round(TURN / weight))]


def tenant_of(record: bytes) -> Tenant:
    """Return the tenant of a waiting query, from its record."""
    return record.partition(b" ")[0].decode(errors="replace")


def query_of(record: bytes, log: str, signer: Signer | None) -> AnyEvent:
    """Return the waiting query in a record, verified for that log. Raises UnreadableEvent, BadSignature."""
    return decode(verified_event(signer, log, fields_of_record(record)))


def fields_of_record(record: bytes) -> dict[bytes, bytes]:
    """Return the fields of a waiting query's log entry, from its record."""
    header, _, event = record.partition(b"\n")
    signature = header.split(b" ")[2:3]
    return {b"event": event} | ({SIGNATURE: signature[0]} if signature and signature != [b"-"] else {})


def _unix_ms(seconds: float) -> int:
    return round(seconds * 1000)
