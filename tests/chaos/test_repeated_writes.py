"""kill -9 between any two steps of writes that are requested twice: none runs twice, and reports are true."""

import json
import multiprocessing
import os
import signal
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any, cast

import pytest
from redis import Redis

from tests.chaos.repeating_dispatcher import SCENARIOS, run
from tests.redis_server import RedisServer

pytestmark = [pytest.mark.chaos, pytest.mark.long]

LIMIT_S = 20
IS_LONG = "CHAOS_WRITE_KILLS" in os.environ
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
LAST_REPORTED = {
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
    code = process.exitcode
    process.kill()
    process.join()
    assert code in (0, -signal.SIGKILL), f"it has not ended within {LIMIT_S} s" if code is None else code
    return code != 0


def effects_in(folder: Path) -> Counter[str]:
    with sqlite3.connect(folder / "service.sqlite") as database:
        return Counter(key for (key,) in database.execute("SELECT key FROM effects"))


def reported_by(redis: RedisServer, namespace: str) -> list[list[str]]:
    """Return the outcomes of the calls, by round."""
    with Redis.from_url(redis.url) as client:
        return [json.loads(line) for line in cast("list[Any]", client.lrange(f"{namespace}:done", 0, -1))]


@pytest.mark.parametrize("scenario", list(WANTED))
def test_a_write_requested_twice_and_killed_anywhere_has_one_effect(
    redis_server: RedisServer, namespace: str, tmp_path: Path, scenario: str
) -> None:
    kills = [f"{point}:kill@{n}" for n in ((1, 2) if IS_LONG else (1,)) for point in POINTS]
    count = sum(killed(redis_server, namespace, tmp_path, scenario, "keyed", fault) for fault in kills)
    assert count >= (3 if IS_LONG else 2), "it was hardly killed"
    assert not killed(redis_server, namespace, tmp_path, scenario, "keyed")
    effects = effects_in(tmp_path)
    assert list(effects.values()) == [1] * WANTED[scenario], effects
    assert reported_by(redis_server, namespace)[-1] == LAST_REPORTED[scenario]


@pytest.mark.parametrize("point", POINTS[1:5] if IS_LONG else ["tool.after"])
@pytest.mark.parametrize(
    ("scenario", "round"),
    [(scenario, round) for scenario in WANTED for round in (1, len(SCENARIOS[scenario]))],
)
def test_an_irreconcilable_write_is_unknown_and_never_run_again(
    redis_server: RedisServer, namespace: str, tmp_path: Path, scenario: str, round: int, point: str
) -> None:
    fault = (f"{point}:kill@1", str(round))
    was_killed = killed(redis_server, namespace, tmp_path, scenario, "plain", *fault)
    assert was_killed or round > 1, "in the first round every write runs"
    assert not killed(redis_server, namespace, tmp_path, scenario, "plain")
    effects = effects_in(tmp_path)
    assert all(times == 1 for times in effects.values()), effects
    reported = reported_by(redis_server, namespace)
    if was_killed:
        assert "outcome_unknown" in reported[round - 1]
        assert len(effects) <= WANTED[scenario]
    else:
        assert len(effects) == WANTED[scenario]
        assert reported[-1] == LAST_REPORTED[scenario]
