"""The five components as real processes, for tests that kill them."""

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson
import redis

from shared.bus.keys import Keys
from shared.events.base import COMPONENTS
from shared.session import Response

START_LIMIT_S = 60.0


class Processes:
    """One process per component, each with its log in a file; all ended by their ids."""

    def __init__(self, redis_port: int, partitions: int = 1, **environment: str) -> None:
        self.client = redis.Redis(port=redis_port, protocol=3)
        self.keys = Keys("antiphon", partitions)
        self.folder = Path(tempfile.mkdtemp(prefix="antiphon-flow-"))
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("ANTIPHON", "ANTHROPIC"))}
        self._environment = {
            **inherited,
            "ANTIPHON_REDIS_URL": f"redis://127.0.0.1:{redis_port}/0",
            "ANTIPHON_PARTITIONS": str(partitions),
            **environment,
        }

    def start(self, *names: str) -> None:
        """Start components; all when none is named."""
        for name in names or COMPONENTS:
            with (self.folder / f"{name}.log").open("ab") as log:
                self.running[name] = subprocess.Popen(
                    [sys.executable, "-m", name], env=self._environment, stdout=log, stderr=log
                )

    def wait_until_ready(self, *names: str) -> None:
        """Until each component has said that it lives, since it was last started."""
        for name in names or COMPONENTS:
            pid = self.running[name].pid
            self.until(lambda name=name, pid=pid: pid in self._pids_alive(name), f"{name} ready")  # type: ignore[misc]

    def kill(self, name: str) -> None:
        """kill -9, and gone."""
        self.running[name].kill()
        self.running[name].wait()

    def terminate(self, name: str, limit_s: float = 15) -> int:
        """SIGTERM; the exit code."""
        self.running[name].terminate()
        return self.running[name].wait(timeout=limit_s)

    def stop(self) -> None:
        for process in self.running.values():
            if process.poll() is None:
                process.kill()
            process.wait()
        self.client.close()

    def until(self, condition: Callable[[], bool], what: str, limit_s: float = START_LIMIT_S) -> None:
        """Wait for a condition, bounded; a component that died meanwhile shows its log."""
        deadline = time.monotonic() + limit_s
        while not condition():
            if time.monotonic() > deadline:
                raise AssertionError(f"waited {limit_s:.0f} s for {what}\n{self.logs()}")
            time.sleep(0.02)

    def logs(self, lines: int = 15) -> str:
        """The end of every component's log."""
        parts = []
        for file in sorted(self.folder.glob("*.log")):
            parts += [f"--- {file.stem}", *file.read_text(errors="replace").splitlines()[-lines:]]
        return "\n".join(parts)

    # What the pipeline did, read from Redis as any outside program would.

    def submit(self, query: str, **fields: str) -> None:
        self.client.xadd("antiphon:queries", {"query": query, **fields})  # type: ignore[arg-type]

    def responses(self) -> list[Response]:
        """Every response there is, in order, of all partitions."""
        found = []
        for partition in range(self.keys.partitions):
            for _, fields in self._entries(self.keys.responses(partition)):
                found.append(Response.model_validate(orjson.loads(fields[b"event"])["data"]))
        return found

    def response_count(self) -> int:
        return sum(self.client.xlen(self.keys.responses(p)) for p in range(self.keys.partitions))

    def log(self, session_id: str) -> list[dict[str, object]]:
        """A session's events in order, as JSON."""
        return [orjson.loads(fields[b"event"]) for _, fields in self._entries(self.keys.log(session_id))]

    def pending(self, component: str) -> int:
        """Deliveries of a component that are read and not yet acknowledged."""
        total = 0
        for partition in range(self.keys.partitions):
            with contextlib.suppress(redis.ResponseError):  # the stream is not there yet
                inbox = self.keys.inbox(partition, component)  # type: ignore[arg-type]
                total += self.client.xpending(inbox, component)["pending"]
        return total

    def _entries(self, stream: str) -> list[tuple[bytes, dict[bytes, bytes]]]:
        return self.client.xrange(stream)  # type: ignore[no-any-return]

    def _pids_alive(self, name: str) -> set[int]:
        beats = self.client.hgetall(self.keys.workers(name))  # type: ignore[arg-type]
        return {orjson.loads(beat.split(b" ", 1)[1])["pid"] for beat in beats.values()}


@contextlib.contextmanager
def processes(redis_port: int, partitions: int = 1, **environment: str) -> Iterator[Processes]:
    """All five, started and ready, for the length of a block."""
    pipeline = Processes(redis_port, partitions, **environment)
    try:
        pipeline.start()
        pipeline.wait_until_ready()
        yield pipeline
    finally:
        pipeline.stop()


def assert_whole(log: list[dict[str, object]]) -> None:
    """The log of an ended session has no gap and no repeat: each event follows from an earlier one, once."""
    ids = [event["id"] for event in log]
    assert len(set(ids)) == len(ids), "an event was written twice"
    seen: set[object] = set()
    replies: dict[object, list[object]] = {}
    for event in log:
        cause = event.get("causationid")
        assert cause is None or cause in seen, f"{event['type']} follows from an event that is not there"
        seen.add(event["id"])
        replies.setdefault(cause, []).append(event["type"])
    assert log[0]["type"] == "antiphon.query.submitted.v1"
    assert [event["type"] for event in log].count("antiphon.response.ready.v1") == 1
    for cause, types in replies.items():
        is_step = len(types) == 1 or types[0] == "antiphon.session.opened.v1"
        assert cause is None or is_step, f"one event was answered by {types}"
