"""Runs and the sessions that work for them on Redis Cluster, where a commit reaches one partition alone."""

import asyncio
from collections.abc import Iterator
from contextlib import suppress

import pytest

from antiphon import Antiphon, workflows
from antiphon.errors import UnknownSession
from tests.flows.processes import Processes
from tests.redis_server import RedisServer

PARTITIONS = 3
GRAPH = {
    "ask_model": {"type": "reason", "question": "How are you?"},
    "ask_person": {
        "type": "yield",
        "message": "Fine?",
        "expects": {"ok": "bool"},
        "depends_on": ["ask_model"],
    },
}


@pytest.fixture
def five(redis_cluster: RedisServer) -> Iterator[Processes]:
    processes = Processes(
        redis_cluster.url,
        PARTITIONS,
        ANTIPHON_REASONING_ENGINE_PROVIDER="offline",
        ANTIPHON_TOOLS="tests.failover.tools",
    )
    try:
        processes.start()
        processes.wait_until_ready()
        yield processes
    finally:
        processes.stop()


async def test_a_session_inside_a_run_stays_in_the_partition_of_its_run(
    five: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ANTIPHON_REDIS_URL", "ANTIPHON_PARTITIONS"):
        monkeypatch.setenv(name, five.environment[name])
    file = workflows.build(
        {"domain": "test", "version": "1", "workflows": {"main": {"description": "Test.", "graph": GRAPH}}}
    )
    names = [f"run{number}" for number in range(50)]
    ids = [
        next(id for id in names if five.keys.partition(id) == partition) for partition in range(PARTITIONS)
    ]
    async with Antiphon() as antiphon, asyncio.timeout(100):
        for id in ids:
            await workflows.start(antiphon, "main", source=file, run_id=id)
        for id in ids:
            await waits(antiphon, id)
            await workflows.give(antiphon, id, {"ok": True})
            response = await antiphon.result(id)
            assert response.status == "complete", response.answer


async def waits(antiphon: Antiphon, run_id: str) -> None:
    while True:
        with suppress(UnknownSession):
            if await workflows.waiting(antiphon, run_id):
                return
        await asyncio.sleep(0.05)
