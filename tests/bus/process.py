"""A component as a process of its own, for tests of the runner: `process MODE`."""

import asyncio
import sys
import threading

from antiphon_shared.bus import group_member
from antiphon_shared.bus.handling import NOTHING, Delivery, Outcome, SessionStore
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import QuerySubmitted
from antiphon_shared.process.errors import ConfigurationError, RedisUnavailable
from antiphon_shared.process.runner import main
from antiphon_shared.process.service import Service

MODE = sys.argv[1]
FAREWELL_S = 60.0
"""It hands back, however busy the machine is."""


async def on_query(delivery: Delivery, session: SessionStore) -> Outcome:
    sys.stdout.write("begun\n")
    sys.stdout.flush()
    if MODE == "stuck-thread":
        await asyncio.to_thread(threading.Event().wait)
    if MODE == "stuck-loop":
        threading.Event().wait()
    await asyncio.sleep(3600 if MODE == "slow" else 0)
    return NOTHING


async def duty() -> None:
    if MODE == "duty-fails":
        raise RedisUnavailable("the duty gave up.")
    if MODE == "duty-ends":
        return
    await asyncio.Event().wait()


def build(bus: Bus) -> Service:
    if MODE == "misconfigured":
        raise ConfigurationError("ANTIPHON_X: nonsense.")
    return Service("coordinator", {QuerySubmitted: on_query}, 4, background=(duty,), keeps_partitions=True)


if __name__ == "__main__":
    group_member._LEAVE_TIMEOUT_S = FAREWELL_S
    main("coordinator", build)
