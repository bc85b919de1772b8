"""Fixtures for every test: a real Redis, a bus on it, and a bus on fakeredis."""

import gc
import signal
from collections.abc import AsyncIterator, Generator, Iterator
from uuid import uuid4

import fakeredis
import pytest
import structlog
from antiphon_shared.bus.connection import Connections
from antiphon_shared.bus.keys import Keys
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.process.settings import BusSettings
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from tests.clock import Clock, controlled_clock
from tests.one_ssl_context import share_ssl_context
from tests.redis_server import RedisServer, running

_UNTIMED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""The speed at which a machine draws examples is not a property of the code."""
# The same examples in every run, so that few are enough; `--hypothesis-profile=anew` draws twice as many other ones.
settings.register_profile("the same", _UNTIMED, derandomize=True, max_examples=50)
settings.register_profile("anew", _UNTIMED, derandomize=False, max_examples=100)
settings.load_profile("the same")  # what fails, fails in every run
# Nor is what is drawn to depend on the modules that tests which ran before have imported.
providers._get_local_constants = lambda: providers._local_constants
# Rich's tracebacks, with the variables of every frame, took a third of a second for each error logged.
structlog.dev.ConsoleRenderer.get_active().exception_formatter = structlog.dev.plain_traceback
share_ssl_context()
# A shell lets background jobs ignore Ctrl-C, and all their children with them, also those that a test interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Exclude long-lived objects from garbage collection: modules, models and thousands of tests."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(autouse=True)
def _logs_as_they_come() -> Iterator[None]:
    """Keep the logging of the test run: a client sets up the logging of a process that has none."""
    yield
    structlog.reset_defaults()


@pytest.fixture(scope="session")
def redis_server() -> Iterator[RedisServer]:
    """Run one plain server for the whole run; tests are separated by namespace."""
    with running() as server:
        yield server


@pytest.fixture(scope="session")
def redis_cluster() -> Iterator[RedisServer]:
    """Yield a cluster of one node: it refuses every command that crosses slots."""
    with running(is_cluster=True) as server:
        yield server


@pytest.fixture
def clock() -> Iterator[Clock]:
    with controlled_clock() as ours:
        yield ours


@pytest.fixture
def namespace() -> str:
    return f"t{uuid4().hex[:12]}"


@pytest.fixture
def bus_settings() -> BusSettings:
    """Use short leases, so that takeovers happen within a test."""
    return BusSettings(
        lease_s=0.6, retry_delay_s=0.05, max_deliveries=5, max_attempts=3, max_open_sessions=1_000
    )


@pytest.fixture(params=["fakeredis", "redis", "cluster"])
async def bus(
    request: pytest.FixtureRequest, namespace: str, bus_settings: BusSettings
) -> AsyncIterator[Bus]:
    """Yield an open bus: on fakeredis, on a real server, and on a real cluster node with three partitions."""
    keys = Keys(namespace, partitions=3 if request.param == "cluster" else 1)
    if request.param == "fakeredis":
        client = fakeredis.FakeAsyncRedis(server=fakeredis.FakeServer(), protocol=3, legacy_responses=False)
        connections = Connections.to_fake(client)
    else:
        fixture = "redis_server" if request.param == "redis" else "redis_cluster"
        connections = Connections(request.getfixturevalue(fixture).url)
    opened = Bus(connections, keys, bus_settings)
    await opened.open()
    yield opened
    await opened.close()
