"""Redis itself is killed: with `appendfsync always`, nothing that was acknowledged is lost."""

import time
from collections.abc import Callable

import redis

from tests.flows.pipeline import Pipeline, pipeline
from tests.flows.processes import LIMIT_S
from tests.flows.promises import (
    assert_complete,
    assert_each_answered_once,
    assert_tools_told_truly,
    assert_way,
)

DURABLE = ("--appendonly", "yes", "--appendfsync", "always")
SESSIONS = [f"s{n}" for n in range(50)]


def test_fifty_sessions_outlive_two_crashes_of_redis() -> None:
    with pipeline(wait_s=0.1, redis_options=DURABLE, ANTIPHON_BUS_LEASE_S="2", LEDGER_WAIT_S="0.05") as five:
        for session_id in SESSIONS[:25]:
            submit(five, session_id)
        five.until(lambda: five.pending("reasoning_engine") > 0, "sessions in the middle of their way")
        seen = crash(five)
        for session_id in SESSIONS[25:]:
            submit(five, session_id)
        five.until(lambda: five.pending("tool_dispatcher") > 0, "sessions in the middle of their way")
        seen |= crash(five)

        five.wait_for_responses(len(SESSIONS))
        five.wait_until_idle()
        responses = five.responses()
        assert_each_answered_once(responses, SESSIONS)
        for response in responses:
            log = five.log(response.session_id)
            assert_complete(response)
            assert_way(log)
            assert assert_tools_told_truly(five, response, log) == 0
        assert not seen - every_entry(five), "what a client had read before the crash is gone after it"


def submit(five: Pipeline, session_id: str) -> None:
    """Until it is acknowledged; with an id of its own, a submission may be repeated."""
    patiently(lambda: five.submit("What outlives a crash?", session_id=session_id))


def crash(five: Pipeline) -> set[tuple[str, bytes]]:
    """Kill Redis in the middle of it, and start it again. Returns what a client had read before."""
    assert five.response_count() < len(SESSIONS), "some sessions are still under way"
    seen = every_entry(five)
    five.redis.kill()
    five.redis.start()
    return seen


def every_entry(five: Pipeline) -> set[tuple[str, bytes]]:
    """Each entry of each session's log and of the responses, with its stream."""
    streams = [five.keys.log(session_id) for session_id in SESSIONS]
    return {
        (stream, entry) for stream in (*streams, five.keys.responses(0)) for entry, _ in five.entries(stream)
    }


def patiently(attempt: Callable[[], None]) -> None:
    deadline = time.monotonic() + LIMIT_S
    while True:
        try:
            return attempt()
        except redis.ConnectionError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
