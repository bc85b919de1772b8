"""Runs that a model has begun, and that ask the user of its session."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from antiphon_shared.bus.workflow_store import WorkflowStore

from antiphon import Antiphon, TooLate, tool, workflows

ASKING = {
    "description": "Ask whether the hotel budget of a city is fine.",
    "params": {"city": {"type": "str", "required": True, "example": "Lisbon"}},
    "graph": {"ask": {"type": "yield", "message": "Is it fine for $city?", "expects": {"ok": "bool"}}},
}


@tool(effect="read")
def weather(city: str) -> dict[str, str]:
    """Weather of a city."""
    return {"weather": f"It rains in {city}."}


@asynccontextmanager
async def a_session_of_a_run() -> AsyncIterator[tuple[Antiphon, str]]:
    """Yield a pipeline and a session in it whose model begins a run that asks the user."""
    specification = workflows.build({"domain": "test", "version": "1", "workflows": {"ask_first": ASKING}})
    async with Antiphon.embedded(tools=[weather], model="offline") as antiphon:
        await WorkflowStore(antiphon.open_bus()).publish([specification])
        question = "Ask first whether the hotel budget of the city Lisbon is fine."
        yield antiphon, await antiphon.submit(question, interactive=True)


async def asked(antiphon: Antiphon, session_id: str, text: str) -> str:
    """Wait until the user is asked something; returns the call that it is about."""
    async with asyncio.timeout(60):
        while True:
            for question in await antiphon.questions_waiting(session_id):
                if text in question.question:
                    return question.id
            await asyncio.sleep(0.05)


async def test_the_user_of_a_session_is_asked_again_until_the_answer_fits() -> None:
    async with a_session_of_a_run() as (antiphon, session_id):
        call = await asked(antiphon, session_id, "Is it fine for Lisbon?")
        assert await antiphon.answer(session_id, "maybe") == (call,)
        assert await asked(antiphon, session_id, "bool is required") == call
        assert await antiphon.answer(session_id, "yes") == (call,)
        response = await antiphon.result(session_id, 60)
        assert (response.status, response.tool_calls_used) == ("complete", 1)


@pytest.mark.parametrize("is_recorded", ["true", "false"])
async def test_the_later_of_two_answers_to_the_question_of_a_run_is_too_late(
    is_recorded: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTIPHON_BUS_RECORDING", is_recorded)
    async with a_session_of_a_run() as (antiphon, session_id):
        call = await asked(antiphon, session_id, "Is it fine for Lisbon?")
        outcomes = await asyncio.gather(
            antiphon.answer(session_id, "yes", by="Ann"),
            antiphon.answer(session_id, "yes", by="Bob"),
            return_exceptions=True,
        )
        (late,) = (one for one in outcomes if isinstance(one, BaseException))
        (sent,) = (one for one in outcomes if not isinstance(one, BaseException))
        first = "Ann" if outcomes[1] is late else "Bob"
        assert isinstance(late, TooLate)
        assert f"{first} answered {call} first" in str(late)
        assert (sent, sent.is_confirmed) == ((call,), True)
