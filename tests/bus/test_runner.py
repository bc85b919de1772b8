"""A component as a process: how it ends."""

import asyncio
import os
import signal
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import QuerySubmitted
from antiphon_shared.process import health
from antiphon_shared.process.runner import FAULTS_ALLOWED, run_services
from antiphon_shared.process.service import Service
from antiphon_shared.process.settings import BusSettings
from antiphon_shared.process.watchdog import EXIT_STUCK

from tests.bus.builders import Seen, a_bus, a_query, inbox_of, pending, until_done, working
from tests.flows.starting import ROOT, Forked, Program
from tests.redis_server import RedisServer, free_port

LIMIT_S = 60.0


class Component:
    """A component started by the fork server, with its output."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._process = Forked(program)

    def send_signal(self, number: int) -> None:
        self._process.send_signal(number)

    @property
    def returncode(self) -> int | None:
        return self._process.poll()

    async def has_printed(self, words: bytes) -> None:
        def is_there() -> bool:
            return words in self._program.errors.read_bytes()

        await self._wait_for(lambda: is_there() or self.returncode is not None, words)
        assert is_there(), self._program.errors.read_bytes()

    async def has_begun(self) -> None:
        await self._wait_for(lambda: self._program.output.read_bytes() == b"begun\n", b"begun")

    async def exit(self) -> tuple[int, bytes]:
        """Return the exit code and the log."""
        code = await asyncio.to_thread(self._process.wait, LIMIT_S)
        return code, self._program.errors.read_bytes()

    def end(self) -> None:
        self._process.kill()
        self._process.wait(LIMIT_S)

    async def _wait_for(self, condition: Callable[[], bool], what: bytes) -> None:
        deadline_s = time.monotonic() + LIMIT_S
        while not condition():
            assert time.monotonic() < deadline_s, what
            await asyncio.sleep(0.01)


@asynccontextmanager
async def a_process(mode: str, url: str, namespace: str, **environment: str) -> AsyncIterator[Component]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("ANTIPHON_")}
    settings = {**inherited, "ANTIPHON_REDIS_URL": url, "ANTIPHON_NAMESPACE": namespace, **environment}
    with tempfile.TemporaryDirectory(prefix="antiphon-runner-") as name:
        output, errors = Path(name) / "output", Path(name) / "errors"
        output.touch()
        errors.touch()
        process = Component(Program("tests.bus.process", settings, ROOT, output, errors, arguments=(mode,)))
        try:
            yield process
        finally:
            process.end()


async def test_sigterm_ends_an_idle_process_with_0(redis_server: RedisServer, namespace: str) -> None:
    async with a_process("idle", redis_server.url, namespace) as process:
        await process.has_printed(b'"ready"')
        process.send_signal(signal.SIGTERM)
        assert (await process.exit())[0] == 0


async def test_work_that_exceeds_the_grace_period_is_handed_back_and_reclaimed_at_once(
    redis_server: RedisServer, namespace: str
) -> None:
    """The work may be a thread that cannot be ended."""
    await asyncio.gather(
        *(_is_handed_back(redis_server.url, f"{namespace}-{mode}", mode) for mode in ("slow", "stuck-thread"))
    )


async def _is_handed_back(url: str, namespace: str, mode: str) -> None:
    settings = BusSettings(lease_s=600)  # waiting for a lease to expire takes longer than this test
    async with (
        a_bus(url, namespace, settings) as bus,
        a_process(mode, url, namespace, ANTIPHON_BUS_LEASE_S="600") as process,
    ):
        await bus.publish(a_query(), "open")
        await process.has_begun()
        process.send_signal(signal.SIGTERM)
        code, output = await process.exit()
        assert code == 0, output
        assert [count for _, _, _, count in await pending(bus, inbox_of(bus))] == [0]
        seen = Seen()
        async with working(bus, {QuerySubmitted: seen}):
            await until_done(bus)
        assert len(seen.deliveries) == 1


async def test_sigterm_while_redis_is_not_there_ends_with_0(namespace: str) -> None:
    async with a_process("idle", f"redis://127.0.0.1:{free_port()}/0", namespace) as process:
        await process.has_printed(b"redis_unavailable")
        process.send_signal(signal.SIGTERM)
        assert (await process.exit())[0] == 0


@pytest.mark.parametrize(
    ("mode", "environment", "code", "words"),
    [
        ("misconfigured", {}, 2, b"ANTIPHON_X"),
        ("idle", {"ANTIPHON_PARTITIONS": "many"}, 2, b"ANTIPHON_PARTITIONS"),
        ("idle", {"ANTIPHON_BUS_LEASE_S": "-1"}, 2, b"ANTIPHON_BUS_LEASE_S"),
        ("idle", {"ANTIPHON_REDIS_URL": "http://localhost"}, 2, b"ANTIPHON_REDIS_URL"),
        ("duty-fails", {}, 3, b"the duty gave up"),
        ("idle", {"ANTIPHON_FAULTS": "heartbeat.before:kill"}, 2, b"ANTIPHON_FAULTS_ALLOWED=yes-this-is"),
        (
            "idle",
            {"ANTIPHON_FAULTS": "heartbeat.before:kill", "ANTIPHON_FAULTS_ALLOWED": "yes"},
            2,
            b"ANTIPHON_FAULTS_ALLOWED=yes-this-is",
        ),
        ("idle", {"ANTIPHON_FAULTS": "heartbeat:kill"}, 2, b"There are reader.read.before"),
    ],
)
async def test_a_process_that_cannot_work_exits_with_the_reason(
    redis_server: RedisServer, namespace: str, mode: str, environment: dict[str, str], code: int, words: bytes
) -> None:
    async with a_process(mode, redis_server.url, namespace, **environment) as process:
        ended, output = await process.exit()
        assert (ended, words in output) == (code, True), output


async def test_a_process_with_injected_faults_logs_a_warning(
    redis_server: RedisServer, namespace: str
) -> None:
    faults = {"ANTIPHON_FAULTS": "heartbeat.before:kill", "ANTIPHON_FAULTS_ALLOWED": FAULTS_ALLOWED}
    async with a_process("idle", redis_server.url, namespace, **faults) as process:
        code, output = await process.exit()
        assert code == -signal.SIGKILL
        assert b"fault_injection_enabled" in output


async def test_leases_are_kept_although_a_renewal_failed_unexpectedly(
    redis_server: RedisServer, namespace: str
) -> None:
    """Otherwise a handler that takes longer than a lease would lose each of its messages."""
    settings = {"ANTIPHON_BUS_LEASE_S": "0.6", "ANTIPHON_FAULTS_ALLOWED": FAULTS_ALLOWED}
    faults = {"ANTIPHON_FAULTS": "lease.renewal.before:raise@1"}
    async with (
        a_bus(redis_server.url, namespace, BusSettings()) as bus,
        a_process("slow", redis_server.url, namespace, **settings, **faults) as process,
    ):
        await bus.publish(a_query(), "open")
        await process.has_printed(b'"leases_not_renewed"')
        async with asyncio.timeout(60):
            idle_ms = [0]
            while idle_ms[-1] >= max(idle_ms):  # it grows until a lease is renewed
                idle_ms += [idle for _, _, idle, _ in await pending(bus, inbox_of(bus))]
                await asyncio.sleep(0.01)


async def test_a_duty_that_is_over_does_not_end_the_process(
    redis_server: RedisServer, namespace: str
) -> None:
    async with (
        a_bus(redis_server.url, namespace, BusSettings()) as bus,
        a_process("duty-ends", redis_server.url, namespace) as process,
    ):
        await process.has_printed(b'"ready"')
        await bus.publish(a_query(), "open")
        await until_done(bus)
        assert process.returncode is None


async def test_a_loop_that_stops_turning_ends_the_process_and_others_take_over(
    redis_server: RedisServer, namespace: str
) -> None:
    """Otherwise a handler that blocks the loop would keep its neighbours and SIGTERM waiting indefinitely."""
    settings = BusSettings(lease_s=0.6)
    async with (
        a_bus(redis_server.url, namespace, settings) as bus,
        a_process("stuck-loop", redis_server.url, namespace, ANTIPHON_BUS_LEASE_S="0.6") as process,
    ):
        await bus.publish(a_query(), "open")
        code, output = await process.exit()
        assert (code, b"stopped turning" in output) == (EXIT_STUCK, True), output
        assert b"on_query" in output, "what blocks it is named"
        seen = Seen()
        async with working(bus, {QuerySubmitted: seen}):
            await until_done(bus)
        assert len(seen.deliveries) == 1


async def test_services_of_one_process_end_together_when_one_of_them_fails(bus: Bus) -> None:
    async def fails() -> None:
        raise RuntimeError("a duty fails")

    stop = asyncio.Event()
    services = [Service("coordinator", {}, 2), Service("reasoning_engine", {}, 2, background=(fails,))]
    with pytest.raises(RuntimeError, match="a duty fails"):
        await run_services(bus, services, stop, grace_s=1)
    assert stop.is_set()
    workers = await asyncio.gather(*(health.workers(bus, service.name) for service in services))
    assert workers == [[], []]
