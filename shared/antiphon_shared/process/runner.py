"""The life of a process: connect, work; on SIGTERM stop reading, finish or hand back deliveries, and exit 0.

A process runs one component, or several in one event loop, which share its connections.
"""

import asyncio
import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence

import structlog
from structlog.contextvars import bind_contextvars

from antiphon_shared import faults
from antiphon_shared.bus.consumer import Consumer
from antiphon_shared.bus.local_inboxes import LocalInboxes
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.faults.plan import read_faults
from antiphon_shared.process import health, logs
from antiphon_shared.process.clock import utc_now
from antiphon_shared.process.collector import freeze_program_objects
from antiphon_shared.process.errors import AntiphonError, ConfigurationError
from antiphon_shared.process.ids import new_consumer_name
from antiphon_shared.process.service import Service
from antiphon_shared.process.settings import PipelineSettings, load
from antiphon_shared.process.watchdog import Watchdog
from antiphon_shared.redaction.redactor import Redactor
from antiphon_shared.redaction.secret_values import secret_values

GRACE_S = 8.0
"""The time that a stopping process has for deliveries in flight."""
FAULTS_ALLOWED = "yes-this-is-no-production"
EXIT_USAGE = 2
EXIT_REDIS = 3
_STUCK_LEASES, _STUCK_S_MIN = 3, 5.0
"""The number of leases, and the least time, after which an event loop that does not run counts as stuck."""

Build = Callable[[Bus], Service]


def main(name: str, *builds: Build, grace_s: float = GRACE_S, description: str | None = None) -> None:
    """Run one component, or several in one event loop, until SIGTERM or SIGINT.

    The exit code is 0; 2 for a wrong configuration, and 3 without Redis.

    Args:
        name: the name of the process, for logs and errors.
        builds: each builds a component's service on a bus that is not open yet.
        grace_s: the seconds for deliveries in flight after the signal.
        description: the docstring of a program without arguments, for its `--help`.
    """
    if description and len(sys.argv) > 1:
        from antiphon_shared.process.usage import refuse_arguments  # argparse would cost each start

        refuse_arguments(description)
    try:
        settings = load(PipelineSettings)
        logs.configure(settings.log_level, name, secret_values(settings), settings.log_format)
        _arm_faults(settings)
        asyncio.run(_serve(Bus.from_settings(settings), builds, grace_s))
    except AntiphonError as error:
        message = Redactor(secret_values()).text(str(error))
        print(f"{name}: {message}", file=sys.stderr)  # noqa: T201  # for the person who starts the process
        sys.exit(EXIT_USAGE if isinstance(error, ConfigurationError) else EXIT_REDIS)


def _arm_faults(settings: PipelineSettings) -> None:
    """Arm the faults of ANTIPHON_FAULTS. Raises ConfigurationError."""
    planned = read_faults(settings.faults)
    if not planned:
        return
    if settings.faults_allowed != FAULTS_ALLOWED:
        raise ConfigurationError(
            "ANTIPHON_FAULTS injects faults into this process, and is for development only.",
            hint=f"Unset it, or set ANTIPHON_FAULTS_ALLOWED={FAULTS_ALLOWED} as well.",
        )
    faults.arm(planned)
    structlog.get_logger().warning("fault_injection_enabled", faults=[fault.text for fault in planned])


async def _serve(bus: Bus, builds: Sequence[Build], grace_s: float) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    services = [build(bus) for build in builds]
    gc.collect()  # frees the garbage of the start before the remaining objects are frozen
    freeze_program_objects()
    opening = asyncio.create_task(bus.open())
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait({opening, stopping}, return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    if not opening.done():
        opening.cancel()
        await asyncio.gather(opening, return_exceptions=True)
        return
    await opening
    try:
        with Watchdog(max(_STUCK_S_MIN, _STUCK_LEASES * bus.settings.lease_s)):
            await run_services(bus, services, stop, grace_s)
    finally:
        await bus.close()
    if threading.active_count() > 1:
        # All deliveries are committed or handed back. A tool's thread that never ends would keep the process alive.
        os._exit(0)


async def run_services(
    bus: Bus, services: Sequence[Service], stop: asyncio.Event, grace_s: float = GRACE_S
) -> None:
    """Run built services on an open bus until `stop` is set or one of them ends; then all end.

    Raises the first error that ended one of them; see `run_service`.
    """

    async def run(service: Service) -> None:
        bind_contextvars(component=service.name)  # a task has its own context
        try:
            await run_service(bus, service, stop, grace_s)
        finally:
            stop.set()

    if len(services) > 1 and not bus.connections.is_fake:  # fakeredis gives another reply to the script
        bus.local_inboxes = LocalInboxes()
    ends = await asyncio.gather(*map(run, services), return_exceptions=True)
    for error in ends:
        if isinstance(error, BaseException):
            raise error


async def _beat(bus: Bus, service: Service, consumer: Consumer) -> None:
    if service.is_ready is not None:
        await service.is_ready()
    await health.beat(bus, service.name, consumer.name, utc_now(), lambda: consumer.in_flight)


async def run_service(bus: Bus, service: Service, stop: asyncio.Event, grace_s: float = GRACE_S) -> None:
    """Run a built service on an open bus until `stop` is set. Raises the error that ends a background duty.

    Raises ConfigurationError if the deployment holds sessions that this release cannot read, or if it signs its
    messages and this process has no key.
    """
    log = structlog.get_logger()
    await bus.formats.check()
    await health.check_key(bus)
    consumer = Consumer(bus, service, new_consumer_name())
    working = [
        asyncio.create_task(consumer.run()),
        asyncio.create_task(_beat(bus, service, consumer)),
        *(asyncio.ensure_future(duty()) for duty in service.background),
    ]
    waiting = asyncio.create_task(stop.wait())
    log.info("ready", component=service.name, consumer=consumer.name, partitions=bus.keys.partitions)
    try:
        pending = {waiting, *working}
        while not stop.is_set():
            done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
    finally:
        log.info("stopping", component=service.name, in_flight=consumer.in_flight)
        for duty in working[1:]:
            duty.cancel()
        waiting.cancel()
        await consumer.stop(grace_s)
        await asyncio.gather(*working, waiting, return_exceptions=True)
        await health.sign_off(bus, service.name, consumer.name)
        if service.close is not None:
            await service.close()
        log.info("stopped", component=service.name)
