"""The pipeline under measurement, on a Redis of its own, with a stub for the model and no-op tools.

It is five processes, or one that runs all five components.
"""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
import psutil
import redis
from antiphon_shared.bus.keys import Keys
from antiphon_shared.events.base import COMPONENTS, Component
from antiphon_shared.events.codec import EVENT_DATA

from antiphon.replay.against.trees import ROOT, import_path
from benchmarks.floor import Hop
from tests.redis_server import RedisServer, running

MODULES: dict[str, str] = {name: name for name in COMPONENTS} | {"reasoning_engine": "benchmarks.stub_engine"}
ONE_PROCESS = {"antiphon": "benchmarks.stub_process"}
LIMIT_S = 300.0


class Pipeline:
    """The processes, and the counts that tell how fast they are."""

    command: Sequence[str] = (sys.executable, "-P", "-m")
    """What starts a module."""

    def __init__(
        self, server: RedisServer, tree: Path = ROOT, modules: Mapping[str, str] = MODULES, **environment: str
    ) -> None:
        """Prepare a pipeline of the source in `tree`; `modules` are its processes by name."""
        self.server, self._modules = server, modules
        self.client: Any = redis.Redis(port=server.port, protocol=3)
        self.keys = Keys()
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self._environment = {
            **os.environ,
            "PYTHONPATH": import_path(tree),
            "ANTIPHON_REDIS_URL": server.url,
            "ANTIPHON_TOOLS": "benchmarks.noop_tools",
            "ANTIPHON_LOG_LEVEL": "warning",
            "ANTIPHON_REASONING_ENGINE_CONCURRENCY": "128",
            "ANTIPHON_BUS_MAX_OPEN_SESSIONS": "256",  # twice the engine's calls in flight: docs/overload.md
            **environment,
        }

    def start(self) -> dict[str, float]:
        """Start one after the other; seconds until each was ready."""
        seconds = {}
        for name, module in self._modules.items():
            started = time.perf_counter()
            self.processes[name] = subprocess.Popen([*self.command, module], env=self._environment)
            expected = [name] if name in COMPONENTS else COMPONENTS
            self._until(lambda names=expected: all(self.client.hlen(self.keys.workers(one)) for one in names))
            seconds[name] = time.perf_counter() - started
        return seconds

    def stop(self) -> None:
        for process in self.processes.values():
            process.terminate()
        for process in self.processes.values():
            process.wait(timeout=20)
        self.client.close()

    def run(self, sessions: int, query: str = "What does the stub say?", **options: Any) -> float:
        """Submit so many queries at once; seconds until the last response."""
        fields = {"query": query} | ({"options": orjson.dumps(options)} if options else {})
        expected = self.answered() + sessions
        started = time.perf_counter()
        for first in range(0, sessions, 500):
            pipeline = self.client.pipeline(transaction=False)
            for _ in range(min(500, sessions - first)):
                pipeline.xadd(self.keys.queries(), fields)
            pipeline.execute()
        self._until(lambda: self.answered() >= expected, 0.005)
        return time.perf_counter() - started

    def latency_s(self) -> float:
        """Return the seconds from one submission to its response, without other load."""
        stream = self.keys.responses(0)
        newest = self.client.xrevrange(stream, count=1)
        last = newest[0][0] if newest else "0"
        started = time.perf_counter()
        self.client.xadd(self.keys.queries(), {"query": "What does the stub say?"})
        if not self.client.xread({stream: last}, block=10_000):
            raise RuntimeError("no response within 10 s")
        return time.perf_counter() - started

    def answered(self) -> int:
        """Return the number of responses so far, also those trimmed since."""
        with contextlib.suppress(redis.ResponseError):
            return int(self.client.xinfo_stream(self.keys.responses(0))["entries-added"])
        return 0

    def memory_mb(self) -> dict[str, float]:
        """Return the resident memory of each process."""
        return {
            name: psutil.Process(process.pid).memory_info().rss / 1e6
            for name, process in self.processes.items()
        }

    def cpu_s(self) -> dict[str, float]:
        """Return the CPU seconds of each process so far, Redis's too."""
        pids = {name: process.pid for name, process in self.processes.items()} | {"redis": self.server.pid}
        return {name: sum(psutil.Process(pid).cpu_times()[:2]) for name, pid in pids.items()}

    def on_cpu_s(self) -> dict[str, float]:
        """Return each process's seconds on a CPU, Redis's too; finer than `cpu_s` where the kernel allows."""
        pids = {name: process.pid for name, process in self.processes.items()} | {"redis": self.server.pid}
        try:
            return {name: _on_cpu_s(pid) for name, pid in pids.items()}
        except FileNotFoundError:
            return self.cpu_s()

    def spent(self) -> dict[str, float]:
        """Return what two trees are compared by: the seconds on a CPU, by process."""
        return self.on_cpu_s()

    def redis_memory_mb(self) -> float:
        """Return the memory of the data in Redis, without that of the server itself."""
        return float(self.client.info("memory")["used_memory_dataset"]) / 1e6

    def wait_for_retention(self) -> None:
        """Wait until no session has any key."""
        self._until(lambda: not self.client.exists(self.keys.sessions(0)), 0.1)
        self._until(lambda: not self.client.xlen(self.keys.responses(0)), 0.1)

    def newest_session(self) -> str:
        ((_, fields),) = self.client.xrevrange(self.keys.responses(0), count=1)
        return str(fields[b"session_id"].decode())

    def session_bytes(self, session_id: str) -> int:
        """Return the bytes of Redis memory that belong to one session."""
        pattern = self.keys.of_session(session_id, "*")
        return sum(
            self.client.memory_usage(key, samples=0) for key in self.client.scan_iter(pattern, count=1000)
        )

    def hops(self) -> list[Hop]:
        """Return the messages of the newest session, each with its stream, its reader and its size."""
        hops = [Hop("coordinator", self.keys.queries(), 60)]
        for _, fields in self.client.xrange(self.keys.log(self.newest_session())):
            inbox = _inbox_of(orjson.loads(fields[b"event"])["type"])
            if inbox is not None:
                hops.append(Hop(inbox, self.keys.inbox(0, inbox), len(fields[b"event"])))
        return hops

    def _until(self, condition: Any, pause_s: float = 0.01) -> None:
        deadline = time.monotonic() + LIMIT_S
        while not condition():
            if time.monotonic() > deadline:
                raise RuntimeError(f"the pipeline did not get there within {LIMIT_S:.0f} s")
            if dead := [name for name, process in self.processes.items() if process.poll() is not None]:
                raise RuntimeError(f"{dead[0]} has died")
            time.sleep(pause_s)


def _on_cpu_s(pid: int) -> float:
    """Sum over all threads; ticks of 10 ms would hide a hundredth of a short run, so the kernel's nanoseconds count."""
    threads = Path(f"/proc/{pid}/task").glob("*/schedstat")
    found = [int(thread.read_text().split()[0]) for thread in threads]
    if not found:
        raise FileNotFoundError("this kernel keeps no schedstat")
    return sum(found) / 1e9


def _inbox_of(event_type: str) -> Component | None:
    return next(data.inbox for data in EVENT_DATA if data.type == event_type)


@contextlib.contextmanager
def pipeline(
    tree: Path = ROOT,
    modules: Mapping[str, str] = MODULES,
    kind: type[Pipeline] = Pipeline,
    **environment: str,
) -> Iterator[Pipeline]:
    """Yield a pipeline of a source tree on a fresh Redis, to be started; end it with the block."""
    with running() as server:
        measured = kind(server, tree, modules, **environment)
        try:
            yield measured
        finally:
            measured.stop()
