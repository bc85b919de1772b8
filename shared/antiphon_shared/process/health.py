"""Heartbeats, with which each worker reports that it is alive to `antiphon health` and `antiphon status`."""

import asyncio
import os
import socket
from collections.abc import Callable
from datetime import datetime

import structlog
from pydantic import Field
from redis.exceptions import RedisError, ResponseError

from antiphon_shared import faults
from antiphon_shared.bus import scripts
from antiphon_shared.bus.connection import retry_while_unavailable
from antiphon_shared.bus.live_format import FORGET_MS
from antiphon_shared.bus.reads import redis_time_ms, together
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import COMPONENTS, Component
from antiphon_shared.formats import FORMAT
from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.values import Value

HEARTBEAT_S = 2.0
SILENT_S = 10.0
"""The time without a heartbeat after which a worker counts as gone."""
_SIGN_OFF_TIMEOUT_S = 0.5


class Heartbeat(Value):
    """A worker's report about itself."""

    host: str
    pid: int
    started: datetime
    in_hand: int
    format: int = Field(default=1, ge=1, description="Newest format that the worker reads.")
    signs: bool = Field(default=False, description="True if the worker has a key to sign messages.")


class Worker(Heartbeat):
    """A worker's last heartbeat, with its age."""

    name: str
    silent_s: float

    @property
    def is_alive(self) -> bool:
        return self.silent_s < SILENT_S


async def beat(
    bus: Bus, component: Component, consumer: str, started: datetime, in_flight: Callable[[], int]
) -> None:
    """Send a heartbeat at every interval, until cancelled."""
    while True:
        heartbeat = Heartbeat(
            host=socket.gethostname(),
            pid=os.getpid(),
            started=started,
            in_hand=in_flight(),
            format=FORMAT,
            signs=bus.signer is not None,
        )
        try:
            await faults.pass_point("heartbeat.before")
            await bus.batcher.run(
                scripts.HEARTBEAT,
                [bus.keys.workers(component)],
                [consumer, heartbeat.model_dump_json(), FORGET_MS],
            )
        except RedisError as error:
            structlog.get_logger().debug("heartbeat_failed", error=str(error))
        await asyncio.sleep(HEARTBEAT_S)


async def sign_off(bus: Bus, component: Component, consumer: str) -> None:
    """Remove the worker's name from the list."""
    try:
        async with asyncio.timeout(_SIGN_OFF_TIMEOUT_S):
            await bus.batcher.submit("HDEL", bus.keys.workers(component), consumer)
    except (RedisError, TimeoutError):
        structlog.get_logger().debug("heartbeat_not_removed")


async def workers(bus: Bus, component: Component) -> list[Worker]:
    """Return the workers of a component with a heartbeat in the last minute, by name."""
    heartbeats, now_ms = await together(
        bus.batcher.submit("HGETALL", bus.keys.workers(component)), redis_time_ms(bus.batcher)
    )
    alive = []
    for name, line in heartbeats.items():
        at_ms, _, content = line.partition(b" ")
        try:
            heartbeat = Heartbeat.model_validate_json(content)
            silent_s = max(0.0, (now_ms - int(at_ms)) / 1000)
            alive.append(Worker(name=name.decode(), silent_s=silent_s, **heartbeat.model_dump()))
        except ValueError:  # a foreign entry is not a worker; a heartbeat removes it
            continue
    return sorted(alive, key=lambda worker: worker.name)


async def check_key(bus: Bus, limit_s: float | None = None) -> None:
    """Raise ConfigurationError if other processes sign their messages and this one has no key.

    A component calls it only at its start: entries written to Redis later must not be able to end a process. Raises
    RedisUnavailable if Redis is unavailable for longer than `limit_s`.
    """
    if bus.signer is not None:
        return
    try:
        groups = await retry_while_unavailable(
            "read which workers sign",
            lambda: asyncio.gather(*(workers(bus, name) for name in COMPONENTS)),
            limit_s,
        )
    except ResponseError as error:  # a foreign key, or no permission to read it
        structlog.get_logger().debug("signing_check_failed", error=str(error))
        return
    signing = [worker.name for group in groups for worker in group if worker.signs and worker.is_alive]
    if signing:
        raise ConfigurationError(
            f"the messages of this pipeline are signed (by {signing[0]}), but this process has no key.",
            hint="Set ANTIPHON_SIGNING_KEY to the same keys for every process and client.",
        )
