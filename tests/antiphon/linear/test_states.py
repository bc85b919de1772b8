"""The rounds of a linear session: kept, returned, logged, and bounded by those with tools."""

from typing import Any

import pytest
from structlog.testing import capture_logs

from antiphon.linear import LinearResponse, ask_linear
from tests.antiphon.linear.conftest import AskedOf
from tests.antiphon.linear.test_ask import ANSWER, LOOK_UP, look_up, out_of_order
from tests.messages_server import Scripted, Use, serving

BOTH = Scripted(
    uses=(
        Use(name="look_up", input={"word": "fugue"}),
        Use(name="out_of_order", input={"word": "fugue"}),
        Use(name="look_up", input={"word": "canon"}),
    )
)


async def asked(*tools: Any, **options: Any) -> LinearResponse:
    given: Any = options
    return await ask_linear("What is a fugue?", list(tools), options=given)


async def test_each_round_is_kept_with_its_results_and_the_reason_of_the_last(asked_of: AskedOf) -> None:
    async with serving(BOTH, ANSWER) as server:
        asked_of(server)
        response = await asked(look_up, out_of_order)
    first, last = response.rounds
    assert (first.number, first.tools_used, first.termination_reason) == (
        1,
        ("look_up", "out_of_order"),
        None,
    )
    assert [result.outcome for result in first.results] == ["ok", "api_failure", "ok"]
    assert (last.number, last.tools_used, last.results) == (2, (), ())
    assert last.termination_reason == response.termination_reason == "natural_completion"
    assert first.tokens + last.tokens == response.statistics.tokens > 0


async def test_the_statistics_come_with_the_answer_and_as_lines_of_the_log(asked_of: AskedOf) -> None:
    async with serving(BOTH, ANSWER) as server:
        asked_of(server)
        with capture_logs() as lines:
            response = await asked(look_up, out_of_order)
    statistics = response.statistics
    assert (statistics.rounds, statistics.tool_rounds, statistics.calls, statistics.calls_failed) == (
        2,
        1,
        3,
        1,
    )
    assert statistics.calls_by_tool == {"look_up": 2, "out_of_order": 1}
    rounds = [line for line in lines if line["event"] == "linear_round"]
    assert [(line["round"], line["termination_reason"]) for line in rounds] == [
        (1, None),
        (2, "natural_completion"),
    ]
    assert rounds[0]["outcomes"] == ["ok", "api_failure", "ok"]
    (end,) = (line for line in lines if line["event"] == "linear_session")
    assert (end["session"], end["calls"], end["status"]) == (response.session_id, 3, "complete")


async def test_a_session_without_a_reply_states_the_reason_in_its_last_round(asked_of: AskedOf) -> None:
    async with serving(LOOK_UP, Scripted(status=401, error="authentication_error", repeat=True)) as server:
        asked_of(server)
        response = await asked(look_up)
    assert [state.termination_reason for state in response.rounds] == [None, "model_unavailable"]


async def test_up_to_two_tool_rounds_then_the_answer_ends_like_any_other(asked_of: AskedOf) -> None:
    async with serving(LOOK_UP, LOOK_UP, ANSWER) as server:
        asked_of(server)
        response = await asked(look_up, max_tool_rounds=2)
        body = server.requests[2].body
    assert body["tool_choice"] == {"type": "none"}
    assert "This question allows 2 rounds of tool calls." in body["messages"][-1]["content"][-1]["text"]
    assert (response.status, response.termination_reason) == ("complete", "natural_completion")
    assert (response.rounds_used, response.statistics.tool_rounds) == (3, 2)
    assert "may be incomplete" not in response.answer
    assert "max_tool_rounds_reached" not in {one.kind for one in response.uncertainty}


async def test_a_model_that_requests_tools_beyond_the_last_round_ends_partially(asked_of: AskedOf) -> None:
    async with serving(LOOK_UP, LOOK_UP) as server:
        asked_of(server)
        response = await asked(look_up, max_tool_rounds=1)
        assert len(server.requests) == 2
    assert (response.status, response.termination_reason) == ("partial", "max_tool_rounds_reached")
    assert response.tool_calls_used == 1
    assert "max_tool_rounds_reached" in {one.kind for one in response.uncertainty}


@pytest.mark.parametrize(("options", "requests"), [({"max_tool_rounds": 0}, 1), ({"max_tool_rounds": 3}, 2)])
async def test_fewer_rounds_than_allowed_and_none_at_all_are_fine(
    options: dict[str, int], requests: int, asked_of: AskedOf
) -> None:
    script = (ANSWER,) if requests == 1 else (LOOK_UP, ANSWER)
    async with serving(*script) as server:
        asked_of(server)
        response = await asked(look_up, **options)
        assert len(server.requests) == requests
    assert response.status == "complete"
