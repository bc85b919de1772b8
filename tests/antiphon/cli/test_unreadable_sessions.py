"""Junk in one session's keys is reported for that session, and does not affect others."""

from pathlib import Path

import pytest
import redis
from antiphon_shared.bus.keys import Keys

from tests.antiphon.conftest import ROOT, InProcess
from tests.redis_server import RedisServer


@pytest.fixture
def environment(empty: dict[str, str], run: InProcess) -> dict[str, str]:
    """Return the environment of two sessions that have ended."""
    files = [
        str(ROOT / "tests/recordings" / f"{name}.jsonl")
        for name in ("a_single_round", "an_answer_from_one_fact")
    ]
    assert run("recording", "import", *files, **empty).exit_code == 0
    return empty


@pytest.mark.parametrize("key", ["state", "response", "events", "state as a string"])
def test_an_unreadable_session_is_listed_as_unreadable(
    key: str, run: InProcess, environment: dict[str, str], redis_server: RedisServer, folder: Path
) -> None:
    before = run.json("sessions", "list", **environment)
    junk, whole = (one["session_id"] for one in before)
    ended = {one["session_id"]: one["status"] for one in before}
    keys = Keys(environment["ANTIPHON_NAMESPACE"], 1)
    with redis.Redis.from_url(redis_server.url, protocol=3) as client:
        if key == "events":
            client.delete(keys.log(junk))
            client.xadd(keys.log(junk), {"event": "junk"})
        elif key == "state as a string":
            client.delete(keys.of_session(junk, "state"))
            client.set(keys.of_session(junk, "state"), "junk")
        else:
            client.hset(keys.of_session(junk, key), mapping={"version": 1, "content": "{junk"})
    listed = {one["session_id"]: one["status"] for one in run.json("sessions", "list", **environment)}
    assert listed == {junk: "unreadable", whole: ended[whole]}
    shown = run("sessions", "list", **environment)
    assert shown.exit_code == 0
    assert "unreadable" in shown.stdout
    assert run("status", **environment).exit_code == 0
    assert run("metrics", **environment).exit_code == 0
    for verb in ("show", "watch", "cancel", "approve", "answer"):
        done = run("sessions", verb, junk, *(["Yes."] if verb == "answer" else []), **environment)
        assert done.exit_code in (0, 1, 2, 3), (verb, done.stderr)
        assert "Traceback" not in done.stderr
    exported = run("recording", "export", "--all", "-o", "out", **environment)
    assert exported.exit_code in (0, 3), exported.stderr
    assert f"{whole}.jsonl" in exported.stdout
