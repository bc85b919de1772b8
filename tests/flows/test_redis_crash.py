"""Redis itself is killed: with `appendfsync always`, nothing that was acknowledged is lost."""

import time
from collections.abc import Callable

import redis
from antiphon_shared.events import Component

from tests.flows.pipeline import FORMS, Pipeline, pipeline
from tests.flows.processes import LIMIT_S
from tests.flows.promises import assert_each_answered_once, assert_undisturbed

DURABLE = ("--appendonly", "yes", "--appendfsync", "always")


@FORMS
def test_fifty_sessions_outlive_two_crashes_of_redis(processes: int) -> None:
    with pipeline(processes=processes, wait_s=0.1, redis_options=DURABLE, LEDGER_WAIT_S="0.05") as five:
        sessions: list[str] = []
        seen = crash(five, sessions, "reasoning_engine") | crash(five, sessions, "tool_dispatcher")

        five.wait_for_responses(len(sessions))
        five.wait_until_idle()
        responses = five.responses()
        assert_each_answered_once(responses, sessions)
        for response in responses:
            assert assert_undisturbed(five, response) == 0
        assert not seen - every_entry(five, sessions), "events that a client read before the crash are lost"


def submit(five: Pipeline, session_id: str) -> None:
    """Submit until it is acknowledged; with an id of its own, a submission may be repeated."""
    retry(lambda: five.submit("What outlives a crash?", session_id=session_id))


def crash(five: Pipeline, sessions: list[str], component: Component) -> set[tuple[str, bytes]]:
    """Kill Redis while 25 more sessions are in flight, and start it again. Returns what a client had read before."""

    def are_in_the_middle() -> bool:
        while len(sessions) < five.response_count() + 25:
            sessions.append(f"s{len(sessions)}")
            submit(five, sessions[-1])
        return five.in_flight(component) > 0

    five.hold_when(are_in_the_middle, "sessions in the middle of their way", component)
    seen = every_entry(five, sessions)
    five.redis.kill()
    five.let_go(component)
    five.redis.start()
    return seen


def every_entry(five: Pipeline, sessions: list[str]) -> set[tuple[str, bytes]]:
    """Return each entry of each session's log and of the responses, with its stream."""
    streams = [five.keys.log(session_id) for session_id in sessions]
    return {
        (stream, entry) for stream in (*streams, five.keys.responses(0)) for entry, _ in five.entries(stream)
    }


def retry(attempt: Callable[[], None]) -> None:
    deadline = time.monotonic() + LIMIT_S
    while True:
        try:
            return attempt()
        except redis.ConnectionError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
