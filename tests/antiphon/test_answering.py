"""The user answers the model's questions through the client and the command line; the test plays the components."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest
from antiphon_shared.events import (
    ApprovalRequested,
    BriefingRequested,
    Event,
    QuestionAnswered,
    QuestionAsked,
    ReasoningRequested,
    ToolsRequested,
)
from antiphon_shared.tools.calls import ToolCall

from antiphon import Antiphon, InvalidQuery, NotWaiting, TooLate, UnknownSession
from antiphon.observe import recent_sessions
from tests.antiphon.conftest import InProcess
from tests.antiphon.test_approval import CoordinatorCase, a_coordinator_case, until
from tests.coordinator.builders import a_briefing, a_call, a_catalogue, a_question, a_reply, a_tool
from tests.redis_server import RedisServer

TOOLS = a_catalogue("ask_user", a_tool("book", "write", approval="always"), "search")
WHICH, WHEN = a_question("q1", "Which room?", choices=["red", "blue"]), a_question("q2", "When?")


@pytest.fixture
async def case(redis_server: RedisServer, namespace: str) -> AsyncIterator[CoordinatorCase]:
    async with a_coordinator_case(redis_server.url, namespace) as case:
        await case.bus.publish_catalogue(TOOLS)
        yield case


async def a_session_that_asks(case: CoordinatorCase, *calls: ToolCall) -> None:
    await case.client.submit("Book it.", session_id="s1", interactive=True)
    await case.answer(BriefingRequested, a_briefing())
    await case.answer(ReasoningRequested, a_reply("I ask.", calls or (WHICH, WHEN)))
    await case.data_of(QuestionAsked)


async def test_answers_are_sent_with_the_calls_that_asked(case: CoordinatorCase) -> None:
    await a_session_that_asks(case)
    assert await case.client.answer("s1", "The red one.", calls=["q1"], by="Ann") == ("q1",)
    assert await case.client.answer("s1", "On Friday.") == ("q2",), "the one that still waits"
    places = {
        event.data.answer: place
        for place, event in await case.bus.session("s1").log()
        if isinstance(event.data, QuestionAnswered)
    }
    which, when = (await case.data_of(ToolsRequested)).calls
    assert (which.answer, when.answer) == (places["The red one."], places["On Friday."])
    assert (await case.data_of(QuestionAnswered)).by == ""


async def test_the_later_of_two_concurrent_answers_is_refused_as_too_late(case: CoordinatorCase) -> None:
    await a_session_that_asks(case, WHICH)
    answers = [case.client.answer("s1", text, by=text) for text in ("Red", "Blue")]
    outcomes = await asyncio.gather(*answers, return_exceptions=True)
    (call,) = (await case.data_of(ToolsRequested)).calls
    log = await case.bus.session("s1").log()
    (first,) = (
        event.data.answer
        for entry, event in log
        if entry == call.answer and isinstance(event.data, QuestionAnswered)
    )
    late = outcomes[first == "Red"]
    assert isinstance(late, TooLate)
    assert f"{first} answered q1 first" in str(late)
    assert ("q1",) in outcomes


async def test_the_waiting_questions_are_listed(case: CoordinatorCase) -> None:
    await a_session_that_asks(case)
    first, second = await case.client.questions_waiting("s1")
    assert (first.id, first.question, first.choices) == ("q1", "Which room?", ("red", "blue"))
    assert (second.id, second.choices) == ("q2", ())
    await case.client.answer("s1", "red", calls=["q1"])

    async def is_half_answered() -> bool:
        return [one.id for one in await case.client.questions_waiting("s1")] == ["q2"]

    await until(is_half_answered)
    await case.client.answer("s1", "Friday")
    await case.data_of(ToolsRequested)
    assert await case.client.questions_waiting("s1") == ()
    assert await case.client.questions_waiting("nobody") == ()


async def test_a_question_appears_in_the_stream(case: CoordinatorCase) -> None:
    await a_session_that_asks(case)
    async with asyncio.timeout(60):
        async for event in case.client.stream("s1"):
            if isinstance(event, Event) and isinstance(event.data, QuestionAsked):
                asked = event.data
                break
    assert asked.until is not None


async def test_an_invalid_answer_is_refused_and_nothing_is_sent(case: CoordinatorCase) -> None:
    await a_session_that_asks(case)
    for text in ("", " \n", "x" * 20_001, "\ud800", 7):
        with pytest.raises(InvalidQuery):
            await case.client.answer("s1", text)  # type: ignore[arg-type]  # bad input is the point
    for calls in (["q9"], ["q1", "c0"], [["q1"]]):
        with pytest.raises(InvalidQuery, match=r"Waiting calls: q1 \(Which room\?\), q2 \(When\?\)"):
            await case.client.answer("s1", "red", calls=calls)  # type: ignore[arg-type]  # the same
    for no_list in ("q1", 5):
        with pytest.raises(InvalidQuery, match="a list of call ids"):
            await case.client.answer("s1", "red", calls=no_list)  # type: ignore[arg-type]  # the same
    with pytest.raises(InvalidQuery):
        await case.client.answer("s1", "red", by="x" * 201)
    types = [event.type for _, event in await case.bus.session("s1").log()]
    assert QuestionAnswered.type not in types


async def test_an_answer_to_a_session_without_a_question_is_refused_with_its_state(
    case: CoordinatorCase,
) -> None:
    await case.client.submit("Book it.", session_id="s1")
    await case.data_of(BriefingRequested)
    with pytest.raises(NotWaiting, match="session s1 has no open question: its briefing for round 1"):
        await case.client.answer("s1", "red")
    await case.answer(BriefingRequested, a_briefing())
    await case.answer(ReasoningRequested, a_reply("I book.", [a_call("book", "b1")]))
    await case.data_of(ApprovalRequested)
    with pytest.raises(
        NotWaiting, match="session s1 has no open question: it is waiting for a person's approval"
    ):
        await case.client.answer("s1", "red")
    with pytest.raises(UnknownSession):
        await case.client.answer("nobody", "red")


async def test_an_approval_is_refused_while_the_session_waits_for_an_answer(case: CoordinatorCase) -> None:
    await a_session_that_asks(case)
    with pytest.raises(NotWaiting, match="it is waiting for its user's answer"):
        await case.client.approve("s1")


async def test_an_answer_and_an_approval_may_be_waited_for_together(case: CoordinatorCase) -> None:
    await a_session_that_asks(case, WHICH, a_call("book", "b1"))
    assert (await recent_sessions(case.bus, 5))[0].waits_for == ("book (b1)",)
    assert (await recent_sessions(case.bus, 5))[0].asks == ("Which room?",)
    await case.client.approve("s1")
    await case.client.answer("s1", "red")
    assert [call.refused for call in (await case.data_of(ToolsRequested)).calls] == [None, None]


async def test_the_command_line_shows_the_questions_and_accepts_the_answer(
    case: CoordinatorCase, run: InProcess
) -> None:
    async def antiphon(*arguments: str) -> Any:
        return await asyncio.to_thread(run, *arguments, **case.environment)

    await a_session_that_asks(case)
    listed = await antiphon("sessions", "list")
    assert "waiting for an answer: Which room? When?" in listed.stdout
    shown = await antiphon("sessions", "show", "s1")
    assert "asks: Which room? [q1]" in shown.stdout
    assert "  asks: Which room? [q1]\n    1. red\n    2. blue\n  asks: When? [q2]\n" in shown.stderr
    assert 'antiphon sessions answer s1 "..."' in shown.stderr

    unknown = await antiphon("sessions", "answer", "s1", "red", "--call", "q9")
    assert (unknown.exit_code, unknown.stdout) == (2, "")
    assert "Waiting calls: q1 (Which room?), q2 (When?)." in unknown.stderr
    empty = await antiphon("sessions", "answer", "s1", " ")
    assert (empty.exit_code, empty.stdout) == (2, "")
    one = await antiphon("sessions", "answer", "s1", "red", "--call", "q1", "--by", "ann", "--json")
    assert orjson.loads(one.stdout) == {"session_id": "s1", "calls": ["q1"], "is_confirmed": True}
    other = await antiphon("sessions", "answer", "s1", "On Friday.")
    assert (other.exit_code, other.stdout) == (0, "Answered q2 of s1.\n")
    await case.data_of(ToolsRequested)

    late = await antiphon("sessions", "answer", "s1", "blue")
    assert (late.exit_code, late.stdout) == (1, "")
    assert "session s1 has no open question: its tool calls of round 1 are running" in late.stderr
    assert (await antiphon("sessions", "answer", "nobody", "blue")).exit_code == 2
    assert "answered by ann: red" in (await antiphon("sessions", "show", "s1")).stdout


async def test_whether_there_is_a_user_is_a_yes_or_a_no(redis_server: RedisServer) -> None:
    async with Antiphon(redis_server.url) as client:
        with pytest.raises(InvalidQuery, match="interactive"):
            await client.submit("Why?", interactive="perhaps")  # type: ignore[arg-type]  # bad input
