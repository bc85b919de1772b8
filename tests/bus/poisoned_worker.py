"""A worker process that dies, as by kill -9, of one kind of query: `poisoned_worker URL NAMESPACE LEASE_S`."""

import asyncio
import os
import sys
from secrets import token_hex

from antiphon_shared.bus.connection import Connections
from antiphon_shared.bus.consumer import Consumer
from antiphon_shared.bus.handling import NOTHING, Append, Delivery, Handlers, Outcome, SessionStore
from antiphon_shared.bus.keys import Keys
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import ComponentFailed, QuerySubmitted
from antiphon_shared.process.service import Service
from antiphon_shared.process.settings import BusSettings


async def on_query(delivery: Delivery, session: SessionStore) -> Outcome:
    assert isinstance(delivery.event.data, QuerySubmitted)
    if delivery.event.data.query == "poison":
        await asyncio.sleep(0.05)  # its neighbours have begun
        os._exit(1)
    await asyncio.sleep(0.15)
    return Outcome(writes=(Append("done", 0, b"1"),))


async def on_failed(delivery: Delivery, session: SessionStore) -> Outcome:
    return NOTHING


async def main(url: str, namespace: str, lease_s: str) -> None:
    settings = BusSettings(lease_s=float(lease_s), max_deliveries=5)
    bus = Bus(Connections(url), Keys(namespace, 1), settings)
    await bus.open()
    handlers: Handlers = {QuerySubmitted: on_query, ComponentFailed: on_failed}
    await Consumer(bus, Service("coordinator", handlers, concurrency=16), token_hex(4)).run()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
