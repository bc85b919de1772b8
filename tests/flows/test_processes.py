"""Queries through five real processes and a real Redis, submitted as any outside program would."""

import json

import pytest

from antiphon import Antiphon
from tests.flows.pipeline import ANSWERED, FORMS, HANGS, LAST_WORDS_SHOWN, PONDERS, Pipeline, pipeline
from tests.flows.promises import (
    assert_complete,
    assert_each_answered_once,
    assert_results_are_true,
    assert_way,
    assert_whole,
)

MALFORMED: tuple[dict[bytes | str, bytes | str], ...] = (
    {"question": "there is no such field"},
    {"query": ""},
    {"query": "  \n "},
    {"query": "x" * 100_001},
    {"query": b"\xff\xfe"},
    {"query": "q", "priority": "high"},
    {"query": "q", b"\xff": "a name that is no text"},
    {"query": "q", "options": "{"},
    {"query": "q", "options": "[]"},
    {"query": "q", "options": '{"max_rounds": 0}'},
    {"query": "q", "options": '{"max_rounds": "3"}'},
    {"query": "q", "options": '{"deadline_s": NaN}'},
    {"query": "q", "options": '{"deadline_s": -1}'},
    {"query": "q", "options": '{"tools": "look_up"}'},
    {"query": "q", "options": '{"speed": 11}'},
    {"query": "q", "session_id": "../etc"},
    {"query": "q", "session_id": "s" * 129},
    {"query": "q", "traceparent": "00-0-0-0"},
    {"query": "q", "event": "{}"},
    {"event": '{"type": "antiphon.query.submitted.v1"}'},
)


@pytest.mark.parametrize(
    ("queries", "partitions", "copies", "is_forked", "processes"),
    [
        (200, 1, 1, False, 5),
        (60, 3, 1, True, 5),
        (60, 1, 2, True, 5),
        (60, 1, 1, False, 1),
        (60, 3, 1, True, 1),
    ],
    ids=[
        "plain, each from nothing",
        "three partitions",
        "two of each",
        "one process",
        "one process, three partitions",
    ],
)
def test_each_of_many_queries_is_answered_once_and_each_malformed_is_rejected(
    queries: int, partitions: int, copies: int, is_forked: bool, processes: int
) -> None:
    with pipeline(partitions=partitions, copies=copies, is_forked=is_forked, processes=processes) as five:
        between = queries // len(MALFORMED)
        for n in range(queries):
            five.submit(f"How high is number {n}?")
            if n % between == 0:
                five.add(five.keys.queries(), MALFORMED[n // between])
        five.wait_for_responses(queries)
        five.wait_until_idle()

        responses = five.responses()
        assert_each_answered_once(responses, five.session_ids())
        assert len(responses) == queries
        for response in responses:
            log = five.log(response.session_id)
            assert_complete(response)
            assert_way(log)
            assert assert_results_are_true(five, response, log) == 0
        rejected = five.entries(five.keys.rejected())
        assert len(rejected) == len(MALFORMED)
        assert all(fields[b"reason"] for _, fields in rejected)


@FORMS
def test_components_wait_for_a_redis_that_comes_later(processes: int) -> None:
    with pipeline(is_started=False, processes=processes) as five:
        five.redis.kill()
        five.start()
        five.until(lambda: five.logs(100).count("redis_unavailable") >= processes, "all waiting for Redis")
        five.redis.start()
        five.submit("Who came first?", session_id="s1")
        assert_complete(five.response_to("s1"))


def test_queries_wait_for_components_that_come_later() -> None:
    with pipeline(is_started=False) as five:
        for n in range(10):
            five.submit("Who came first?", session_id=f"s{n}")
        five.start("response_assembler")
        five.wait_until_ready()
        five.start("coordinator", "context_synthesizer", "reasoning_engine", "tool_dispatcher")
        five.wait_for_responses(10)
        five.wait_until_idle()
        for response in five.responses():
            assert_complete(response)
            assert_way(five.log(response.session_id))


def test_one_session_id_submitted_many_times_is_answered_once() -> None:
    with pipeline() as five:
        for n in range(20):
            five.submit(f"The same, asked as number {n}", session_id="s1")
        five.response_to("s1")
        five.submit("The same, after the answer", session_id="s1")
        five.wait_until_idle()
        assert five.response_count() == 1
        assert_way(five.log("s1"))


@pytest.mark.parametrize(
    ("options", "reason", "calls"),
    [
        ({"max_rounds": 2}, "max_rounds_reached", 2),
        ({"max_tool_calls": 2}, "max_tool_calls_reached", 2),
        ({"max_tool_calls": 1}, "max_tool_calls_reached", 1),
        ({"max_tokens": 2_200}, "token_budget_exhausted", 2),
    ],
)
def test_a_limit_ends_a_session_with_its_reason_and_facts(
    options: dict[str, int], reason: str, calls: int
) -> None:
    with pipeline() as five:
        five.submit("Too much?", session_id="s1", options=json.dumps(options))
        response = five.response_to("s1")
        five.wait_until_idle()
        assert (response.status, response.termination_reason) == ("partial", reason)
        assert response.tool_calls_used == calls
        assert LAST_WORDS_SHOWN in response.answer
        assert [source.id for source in response.sources] == ["F1"]
        assert reason in [uncertainty.kind for uncertainty in response.uncertainty]
        assert_whole(five.log("s1"))


@FORMS
def test_a_deadline_ends_a_session_with_a_hanging_model_with_its_facts(processes: int) -> None:
    with pipeline(processes=processes) as five:
        five.submit(HANGS, session_id="s1", options='{"deadline_s": 900}')
        five.until(lambda: is_in_round_2(five) and five.model.under_way() == 1, "the model hangs")
        assert five.client.zadd(five.keys.timers(0), {"s1/deadline": 1}, xx=True, ch=True), "it is due"
        response = five.response_to("s1")
        assert (response.status, response.termination_reason) == ("partial", "deadline_exceeded")
        assert response.duration_ms < 300_000, "it did not wait for the model"
        assert {source.tool for source in response.sources} == {"look_up", "write_down"}
        assert "height" in response.answer
        five.wait_until_idle()


def is_in_round_2(five: Pipeline) -> bool:
    return [event["type"] for event in five.log("s1")].count("antiphon.reasoning.requested.v1") == 2


@FORMS
async def test_a_cancellation_ends_a_session_in_the_middle_of_a_tool_call(processes: int) -> None:
    with pipeline(processes=processes) as five:
        five.submit(PONDERS, session_id="s1")
        pid = five.running["tool_dispatcher"].pid
        five.until(lambda: five.ledger.under_way(pid, "ponder") == 1, "the tool is under way")
        async with Antiphon(five.redis.url) as client:
            assert await client.cancel("s1")
        response = five.response_to("s1")
        assert (response.status, response.termination_reason) == ("cancelled", "cancelled")
        assert ANSWERED not in response.answer
        assert "call_unfinished" in [uncertainty.kind for uncertainty in response.uncertainty]
        five.submit("The next one is not held up", session_id="s2")
        assert_complete(five.response_to("s2"))
