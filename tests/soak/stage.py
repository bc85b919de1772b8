"""The environment of a soak: Redis behind a proxy, two processes of each component, a model, and a service."""

import contextlib
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from antiphon_shared.events.base import COMPONENTS
from antiphon_shared.process.clock import utc_now

from antiphon.grants import issue, load_signing_key, make_key_pair
from tests.chaos.write_effects import ServiceRecords
from tests.chaos.writers import service
from tests.flows.pipeline import scripted_model
from tests.flows.processes import Processes
from tests.flows.starting import Started
from tests.redis_server import RedisServer
from tests.soak.clocks import Clocks
from tests.soak.proxy import Proxy
from tests.soak.questions import TENANTS, script

PARTITIONS = 2
LEASE_S = 2.0
PERSON_WAIT_S = 3.0
REDIS = "redis"
ELDERS: tuple[str, ...] = COMPONENTS
"""The processes whose memory is watched, and which therefore run on after some time."""
NAMES: tuple[str, ...] = (*ELDERS, *(f"{name}-2" for name in COMPONENTS))
_DURABLE = ("--appendonly", "yes", "--appendfsync", "always")
"""A killed Redis may lose no acknowledged data; `everysec` promises less."""
_SCOPES = ("read", "write")
_START_LIMIT_S = 240.0
_CLOCKS_APART = timedelta(minutes=5)
"""The age of the grant, because a verifier whose clock is behind rejects a grant from its future."""
_WRITE_WAIT_S, _WRITE_LATE_S = 0.15, 1.5 * LEASE_S


@dataclass(frozen=True, slots=True)
class Servers:
    """The servers and settings of a stage's processes."""

    redis: RedisServer
    proxy: Proxy
    clocks: Clocks
    service: ServiceRecords
    folder: Path


class Stage(Processes):
    """The components as processes that reach Redis through the proxy alone; `client` reaches it directly."""

    def __init__(self, servers: Servers, model_url: str, service_port: int, retention_s: float) -> None:
        self.redis, self.proxy, self.clocks, self.service = (
            servers.redis,
            servers.proxy,
            servers.clocks,
            servers.service,
        )
        self.retention_s = retention_s
        keys = make_key_pair(servers.folder / "keys")
        signing_key, issued = load_signing_key(keys.private), utc_now() - _CLOCKS_APART
        self.grants = {
            tenant: issue(signing_key, _SCOPES, issued, tenant=tenant, expires_s=86_400) for tenant in TENANTS
        }
        super().__init__(
            servers.redis.url,
            PARTITIONS,
            is_forked=False,  # a clock of its own is a library that is loaded at the start
            ANTIPHON_REDIS_URL=servers.proxy.url,
            ANTIPHON_TOOLS="tests.soak.tools",
            ANTIPHON_LOG_LEVEL="warning",
            ANTIPHON_BUS_LEASE_S=str(LEASE_S),
            ANTIPHON_BUS_MAX_DELIVERIES="100",
            ANTIPHON_BUS_MAX_ATTEMPTS="20",
            ANTIPHON_BUS_RETENTION_S=str(retention_s),
            ANTIPHON_BUS_FEED_LENGTH="1000",
            ANTIPHON_COORDINATOR_PERSON_WAIT_S=str(PERSON_WAIT_S),
            ANTIPHON_REASONING_ENGINE_BACKOFF_INITIAL_S="0.1",
            ANTIPHON_REASONING_ENGINE_BACKOFF_MAX_S="2",
            ANTIPHON_REASONING_ENGINE_RETRY_AFTER_MAX_S="2",
            ANTIPHON_TOOL_DISPATCHER_APPROVAL="approved",
            ANTIPHON_TOOL_DISPATCHER_GRANT_KEY_FILE=str(keys.public),
            ANTHROPIC_BASE_URL=model_url,
            RUNS_FILE=os.devnull,
            SERVICE_PORT=str(service_port),
            RUN_WAIT_S=str(_WRITE_WAIT_S),
        )

    def freeze(self, name: str) -> Started:
        """Freeze a process until `thaw`."""
        process = self.running[name]
        process.send_signal(signal.SIGSTOP)
        return process

    def _own_environment(self, name: str) -> dict[str, str]:
        return self.clocks.environment(name)


def thaw(process: Started) -> None:
    """Resume the process, if it still exists."""
    process.send_signal(signal.SIGCONT)


@contextlib.contextmanager
def stage(seed: int, retention_s: float) -> Iterator[Stage]:
    """Run a stage for the length of a block; the components are started and ready."""
    folder = Path(tempfile.mkdtemp(prefix="antiphon-soak-"))
    clocks = Clocks(folder)
    redis_server = RedisServer(*_DURABLE, environment=clocks.environment(REDIS))
    redis_server.start()
    try:
        with (
            Proxy(redis_server.port, seed).running() as proxy,
            scripted_model(script()) as model,
            service(folder / "service", _WRITE_WAIT_S, _WRITE_LATE_S) as service_port,
        ):
            servers = Servers(redis_server, proxy, clocks, ServiceRecords(folder / "service"), folder)
            ten = Stage(servers, model.url, service_port, retention_s)
            try:
                ten.start(*NAMES)
                ten.wait_until_ready(limit_s=_START_LIMIT_S)
                yield ten
            finally:
                ten.stop()
    finally:
        redis_server.stop()
        shutil.rmtree(folder)
