"""One write in many processes, some of which are killed, and a Redis that is killed too."""

import asyncio
import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from antiphon_shared.process.settings import BusSettings

from tests.antiphon.conftest import until
from tests.bus.builders import a_bus, eventually
from tests.flows.starting import Forked, Program
from tests.redis_server import RedisServer, running
from tests.tool_dispatcher.idempotency import builders
from tests.tool_dispatcher.idempotency.builders import a_ledger, once, results_of
from tests.tool_dispatcher.idempotency.service import Service
from tests.tool_dispatcher.idempotency.worker import WRITE

LIMIT_S = 60
ROOT = Path(__file__).parents[3]
READY = "ready\n"
DURABLE = ("--appendonly", "yes", "--appendfsync", "always")

Answer = list[dict[str, Any]]
"""The results one caller was given."""


class Workers:
    """Processes that do the same write, against one Redis and one service."""

    def __init__(self, url: str, namespace: str, folder: Path, kind: str) -> None:
        self._arguments = (url, namespace, str(folder), kind)
        self._folder = folder
        self._started: list[Worker] = []
        self.service = Service(folder, is_idempotent=kind == "idempotent")

    def run(self, processes: int, tasks: int = 4) -> list[Answer]:
        """Return the answers to each task of each process; all of them begin together."""
        workers = [self._start(str(tasks)) for _ in range(processes)]
        outputs = self._begin(workers)
        assert [worker.process.poll() for worker in workers] == [0] * processes
        answers = [json.loads(line) for output in outputs for line in output.splitlines()]
        assert len(answers) == processes * tasks
        return answers

    def crash(self, point: str) -> None:
        """Let one process claim the write, and kill it during the run."""
        worker = self._start("1", point)
        self._begin([worker])
        assert worker.process.poll() == -signal.SIGKILL

    def stop(self) -> None:
        for worker in self._started:
            worker.process.kill()
            worker.process.wait()
            os.close(worker.stdin)

    def _start(self, *more: str) -> "Worker":
        name = f"worker-{len(self._started)}"
        stdin, stdout, stderr = (self._folder / f"{name}.{stream}" for stream in ("in", "out", "err"))
        os.mkfifo(stdin)
        stdout.touch()
        module, arguments = "tests.tool_dispatcher.idempotency.worker", (*self._arguments, *more)
        # Open for reading too, so that neither side waits for the other to open it.
        opened = os.open(stdin, os.O_RDWR)
        program = Program(module, dict(os.environ), ROOT, stdout, stderr, stdin, arguments)
        worker = Worker(Forked(program), opened, stdout, stderr)
        self._started.append(worker)
        return worker

    def _begin(self, workers: "list[Worker]") -> list[str]:
        """Start all when they are ready; return the output of each at its end."""
        for worker in workers:
            until(worker.is_ready, "a worker to be ready")
        for worker in workers:
            os.write(worker.stdin, b"begin\n")
        for worker in workers:
            worker.process.wait(LIMIT_S)
        return [worker.stdout.read_text().removeprefix(READY) for worker in workers]


@dataclass(frozen=True, slots=True)
class Worker:
    """A process that does the write, and its streams."""

    process: Forked
    stdin: int
    stdout: Path
    stderr: Path

    def is_ready(self) -> bool:
        assert self.process.poll() is None, self.stderr.read_text()
        return self.stdout.read_text() == READY


@contextmanager
def workers_of(kind: str, redis: RedisServer, namespace: str, folder: Path) -> Iterator[Workers]:
    workers = Workers(redis.url, namespace, folder, kind)
    try:
        yield workers
    finally:
        workers.stop()


def the_one(answers: list[Answer]) -> dict[str, Any]:
    """Return the result that every caller was given."""
    ((result,), *others) = answers
    assert others == [[result]] * len(others)
    return result


def error_type(result: dict[str, Any]) -> str | None:
    return result["error"]["error_type"] if result["error"] else None


@pytest.mark.parametrize("kind", ["idempotent", "reconcile", "neither"])
def test_one_of_16_callers_in_4_processes_runs_and_all_get_its_result(
    kind: str, redis_server: RedisServer, namespace: str, tmp_path: Path
) -> None:
    with workers_of(kind, redis_server, namespace, tmp_path) as workers:
        result = the_one(workers.run(processes=4, tasks=4))
        assert (result["status"], result["data"]) == ("ok", 1)
        assert (workers.service.count("runs"), workers.service.count("effects")) == (1, 1)


@pytest.mark.parametrize(
    ("kind", "point", "runs", "effects", "error"),
    [
        ("idempotent", "before", 2, 1, None),
        ("idempotent", "after", 2, 1, None),
        ("reconcile", "before", 2, 1, None),
        ("reconcile", "after", 1, 1, None),
        ("neither", "before", 1, 0, "outcome_unknown"),
        ("neither", "after", 1, 1, "outcome_unknown"),
    ],
)
def test_a_dispatcher_killed_while_it_writes_leaves_one_effect_or_an_unknown_outcome(
    kind: str,
    point: str,
    runs: int,
    effects: int,
    error: str | None,
    redis_server: RedisServer,
    namespace: str,
    tmp_path: Path,
) -> None:
    with workers_of(kind, redis_server, namespace, tmp_path) as workers:
        workers.crash(point)
        first = the_one(workers.run(processes=2, tasks=4))
        assert error_type(first) == error
        assert first["data"] == (1 if error is None else None)
        assert the_one(workers.run(processes=1, tasks=1)) == first
        assert (workers.service.count("runs"), workers.service.count("effects")) == (runs, effects)


async def test_a_run_during_an_outage_of_redis_is_settled_afterwards(namespace: str) -> None:
    service = builders.Service()
    service.go_on.clear()
    with running(*DURABLE) as redis:
        async with a_bus(redis.url, namespace, BusSettings()) as bus:
            write = asyncio.create_task(once(a_ledger(bus), WRITE, service.hooks()))
            await service.begun.wait()
            redis.kill()
            service.go_on.set()
            refused = asyncio.create_task(once(a_ledger(bus, patience_s=0.2), WRITE, service.hooks()))
            ((result,),) = await asyncio.gather(refused)
            assert result.error is not None
            assert result.error.error_type == "api_failure"
            assert not write.done()
            redis.start()
            assert await write == results_of("paid")
        async with a_bus(redis.url, namespace, BusSettings()) as bus:
            assert await once(a_ledger(bus), WRITE, service.hooks()) == results_of("paid")
    assert service.runs == [1]


@pytest.mark.parametrize("is_safe_to_repeat", [True, False])
async def test_a_claim_outlives_a_redis_that_is_killed(namespace: str, is_safe_to_repeat: bool) -> None:
    """The claimant died with Redis: the begun write is not forgotten."""
    service = builders.Service()
    with running(*DURABLE) as redis:
        async with a_bus(redis.url, namespace, BusSettings()) as bus:
            assert await a_ledger(bus, lease_s=0.2).claim(WRITE) is not None
            redis.kill()
            redis.start()

            async def is_abandoned() -> bool:
                return (await a_ledger(bus).status(WRITE)).state == "abandoned"

            await eventually(is_abandoned)
            hooks = service.hooks(is_safe_to_repeat=is_safe_to_repeat)
            (result,) = await once(a_ledger(bus), WRITE, hooks)
    assert service.runs == ([2] if is_safe_to_repeat else [])
    assert result.status == ("ok" if is_safe_to_repeat else "error")
