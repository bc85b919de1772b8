"""The addition of a query to the queue of the pipeline."""

from functools import partial

from antiphon_shared.bus.connection import retry_while_unavailable
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.signing import SIGNATURE
from antiphon_shared.events import AnyEvent, encode

from antiphon.tail import PATIENCE_S


async def enqueue(bus: Bus, event: AnyEvent) -> str:
    """Add a `query.submitted`, signed if there is a key, to the queue; return the id of its entry.

    Raises RedisUnavailable.
    """
    fields: list[str | bytes] = ["event", encode(event)]
    if bus.signer is not None:
        fields += [SIGNATURE, bus.signer.sign(bus.keys.queries(), encode(event))]
    # Safe to repeat after a lost reply, as two entries of the same query open one session.
    add = partial(bus.batcher.submit, "XADD", bus.keys.queries(), "*", *fields)
    entry: bytes = await retry_while_unavailable("submit", add, PATIENCE_S)
    return entry.decode()
