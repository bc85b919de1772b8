"""kill -9 between any two steps of writes that are asked for twice: none runs twice, and the truth is told."""

import json
import multiprocessing
import signal
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any, cast

import pytest
from redis import Redis

from tests.chaos.repeating_dispatcher import run
from tests.redis_server import RedisServer

pytestmark = pytest.mark.chaos

LIMIT_S = 60
POINTS = (
    "write.claim.before",
    "write.claimed",
    "tool.before",
    "tool.after",
    "write.settle.before",
    "journal.note.before",
)
WANTED = {"twice": 1, "unknown": 1, "between": 2, "again": 2, "relative": 3}
"""Deliberate writes."""
LAST_TOLD = {
    "twice": ["repeated"],
    "unknown": ["outcome_unknown"],
    "between": ["repeated_write"],
    "again": ["repeated"],
    "relative": ["ok", "ok"],
}


def killed(redis: RedisServer, namespace: str, folder: Path, *rest: str) -> bool:
    """Run a process to its end; whether it was killed."""
    # Its server has imported everything by then: most of a process's life here would be its start.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.chaos.repeating_dispatcher"])
    process = context.Process(target=run, args=(redis.url, namespace, str(folder), *rest))
    process.start()
    process.join(LIMIT_S)
    assert process.exitcode in (0, -signal.SIGKILL)
    return process.exitcode != 0


def effects_in(folder: Path) -> Counter[str]:
    with sqlite3.connect(folder / "service.sqlite") as database:
        return Counter(key for (key,) in database.execute("SELECT key FROM effects"))


@pytest.mark.parametrize("kind", ["keyed", "plain"])
@pytest.mark.parametrize("scenario", list(WANTED))
def test_a_write_asked_for_twice_and_killed_anywhere_has_one_effect(
    redis_server: RedisServer, namespace: str, tmp_path: Path, scenario: str, kind: str
) -> None:
    kills = [f"{point}:kill@{n}" for n in (1, 2) for point in POINTS]
    if kind == "plain":  # what is cut off is unknown from then on: one kill, in the last round
        kills = kills[len(POINTS) - 3 : len(POINTS) - 2]
    count = sum(killed(redis_server, namespace, tmp_path, scenario, kind, fault) for fault in kills)
    assert not killed(redis_server, namespace, tmp_path, scenario, kind)
    effects = effects_in(tmp_path)
    assert all(times == 1 for times in effects.values()), effects
    with Redis.from_url(redis_server.url) as client:
        told = [json.loads(line) for line in cast("list[Any]", client.lrange(f"{namespace}:done", 0, -1))]
    if kind == "keyed":
        assert count >= 3, "it was hardly killed"
        assert len(effects) == WANTED[scenario]
        assert told[-1] == LAST_TOLD[scenario]
    else:
        assert count == 1
        assert len(effects) <= WANTED[scenario]
        unknown = [one for batch in told for one in batch if one == "outcome_unknown"]
        assert unknown, "nobody can know what came of the write that was cut off"
