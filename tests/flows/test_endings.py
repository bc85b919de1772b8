"""A finished reply is in the answer even if the assembler fails: five real processes, or four of them."""

import json
import time

from antiphon_shared.events.base import COMPONENTS

from tests.flows.pipeline import ANSWERED, Pipeline, pipeline
from tests.flows.processes import kinds
from tests.flows.promises import assert_complete, assert_each_answered_once, assert_whole
from tests.flows.test_cancel import cancel

_OTHERS = tuple(name for name in COMPONENTS if name != "response_assembler")
_BURST = 40


def test_without_any_assembler_the_answer_comes_after_the_deadline_with_reply_sources_and_writes() -> None:
    with pipeline(is_started=False) as four:
        four.start(*_OTHERS)
        four.submit("How high?", session_id="s1", options=json.dumps({"deadline_s": 12}))
        began = time.monotonic()
        four.until(lambda: "assembly.requested" in kinds(four.log("s1")), "the reply")
        strike(four, "s1")
        four.until(lambda: "assembly.overdue" in kinds(four.log("s1")), "the first look at it")
        assert four.response_count() == 0, "the deadline allows more"
        response = four.response_to("s1")
        took_ms = (time.monotonic() - began) * 1000
        assert (response.status, response.termination_reason) == ("partial", "natural_completion")
        assert response.answer.startswith(ANSWERED)
        assert [(one.id, one.tool, bool(one.call_id)) for one in response.sources] == [
            ("F1", "look_up", True)
        ]
        written = response.answer.partition("**Writes**")[2].partition("**Sources**")[0]
        assert written.count("`write_down`") == 2
        assert written.count("): done") == 1
        assert written.count("not done again") == 1, "the model asked for the same twice"
        assert "look_up" not in written
        assert [one.kind for one in response.uncertainty] == ["write_repeated", "component_failed"]
        assert (response.rounds_used, response.tool_calls_used) == (3, 4)
        assert response.usage.input_tokens > 0
        assert 11_900 < response.duration_ms <= took_ms + 1_000, "it ends with the answer"
        four.start("response_assembler")
        four.wait_until_idle()
        assert four.response_count() == 1, "it is too late for another"
        assert_whole(four.log("s1"))


def test_an_assembler_that_is_started_late_gives_the_whole_answer() -> None:
    with pipeline(is_started=False) as five:
        five.start(*_OTHERS)
        for n in range(3):
            five.submit("How high?", session_id=f"s{n}")
        for n in range(3):
            five.until(lambda: "assembly.requested" in kinds(five.log(f"s{n}")), "the reply")  # noqa: B023  # called at once
            strike(five, f"s{n}")
            five.until(lambda: "assembly.overdue" in kinds(five.log(f"s{n}")), "a look at it")  # noqa: B023  # called at once
        began = time.monotonic()
        time.sleep(3)
        five.start("response_assembler")
        five.wait_for_responses(3)
        for response in five.responses():
            assert_complete(response)
            assert response.duration_ms > 3_000, "it ends with the answer"
            assert response.duration_ms < (time.monotonic() - began) * 1000 + 60_000
        five.wait_until_idle()
        assert five.response_count() == 3


def test_an_assembler_that_is_killed_under_a_burst_loses_no_answer() -> None:
    with pipeline(ANTIPHON_BUS_LEASE_S="2") as five:
        for n in range(_BURST):
            five.submit("How high?", session_id=f"s{n}")
        for answered in (_BURST // 4, _BURST // 2):
            five.wait_for_responses(answered)
            five.kill("response_assembler")
            five.start("response_assembler")
        five.wait_for_responses(_BURST)
        five.wait_until_idle()
        responses = five.responses()
        assert_each_answered_once(responses, five.session_ids())
        for response in responses:
            assert_complete(response)


def test_cancelling_while_the_answer_is_waited_for_ends_with_the_reply() -> None:
    with pipeline(is_started=False) as four:
        four.start(*_OTHERS)
        four.submit("How high?", session_id="s1")
        four.until(lambda: "assembly.requested" in kinds(four.log("s1")), "the reply")
        cancel(four, "s1")
        response = four.response_to("s1")
        assert response.answer.startswith(ANSWERED)
        assert response.duration_ms < 60_000


def strike(five: Pipeline, session_id: str) -> None:
    """Make the timer due that checks for a session's answer."""
    timer = {f"{session_id}/assembly": 1}
    assert five.client.zadd(five.keys.timers(0), timer, xx=True, ch=True), "it is set"
