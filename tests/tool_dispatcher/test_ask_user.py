"""The tool `ask_user`: the answer is read from the entry that the call names, and accepted only if it is one."""

from typing import Any

import pytest
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import ApprovalDecided, EventData, QuerySubmitted, QuestionAnswered
from antiphon_shared.tools.calls import RequestedCall, ToolResult
from antiphon_shared.tools.relevance import ASK_USER

from tests.envelopes import an_event
from tests.tool_dispatcher.builders import a_bus, a_call, a_dispatcher, a_request, error_in

QUESTION = {"question": "Which one?"}


async def submit(bus: Bus, data: EventData, session_id: str = "s1") -> str:
    """Publish an event in a session, and return its log id."""
    await bus.publish(an_event(QuerySubmitted(query="Which one is it?"), session_id), "open")
    await bus.publish(an_event(data, session_id), "signal")
    return (await bus.session(session_id).log())[-1][0]


def an_answer(round: int = 1, *calls: str) -> QuestionAnswered:
    return QuestionAnswered(round=round, answer="The red one.", calls=calls)


def a_question(id: str = "q1", **fields: Any) -> RequestedCall:
    return a_call(id, ASK_USER, **{"arguments": QUESTION, **fields})


async def asked(bus: Bus, *calls: RequestedCall, **request: Any) -> tuple[ToolResult, ...]:
    async with a_dispatcher(bus=bus) as dispatcher:
        return await dispatcher.run(a_request(*calls, **request))


@pytest.mark.parametrize("calls", [(), ("q1",), ("q0", "q1")])
async def test_the_users_answer_is_the_result(calls: tuple[str, ...]) -> None:
    async with a_bus() as bus:
        entry = await submit(bus, an_answer(1, *calls))
        (result,) = await asked(bus, a_question(answer=entry))
    assert (result.status, result.data) == ("ok", {"answer": "The red one."})


@pytest.mark.parametrize(
    "forged",
    [
        an_answer(2),
        an_answer(1, "q2"),
        ApprovalDecided(round=1, is_approved=True, calls=("q1",)),
    ],
    ids=["of another round", "to another question", "no answer at all"],
)
async def test_an_entry_that_does_not_answer_this_question_is_rejected(forged: EventData) -> None:
    async with a_bus() as bus:
        entry = await submit(bus, forged)
        (result,) = await asked(bus, a_question(answer=entry))
    assert_unanswered(result)


async def test_the_answer_of_another_session_is_not_this_ones() -> None:
    async with a_bus() as bus:
        entry = await submit(bus, an_answer(), "s2")
        (result,) = await asked(bus, a_question(answer=entry))
        assert_unanswered(result)
        # Not even when it has got into this session's log.
        fields = (await bus.client.execute_command("XRANGE", bus.keys.log("s2"), entry, entry))[0][1]
        flat = [part for pair in fields.items() for part in pair]
        await bus.client.execute_command("XADD", bus.keys.log("s1"), entry, *flat)
        (result,) = await asked(bus, a_question("q2", answer=entry))
        assert_unanswered(result)


async def test_a_question_without_an_answer_is_not_answered() -> None:
    async with a_bus() as bus:
        (result,) = await asked(bus, a_question())
    assert_unanswered(result)


async def test_a_question_in_a_session_that_has_no_user_is_refused() -> None:
    async with a_bus() as bus:
        entry = await submit(bus, an_answer())
        (result,) = await asked(bus, a_question(answer=entry), allowed=("look",))
    assert error_in(result).error_type == "permission_denied"


async def test_an_invalid_question_is_refused_with_a_valid_example() -> None:
    async with a_bus() as bus:
        (result,) = await asked(bus, a_question(arguments={"question": "x" * 2_001}))
    error = error_in(result)
    assert error.error_type == "validation_error"
    assert error.example_valid_call == {"question": "Which of your two accounts do you mean?"}


async def test_a_secret_that_the_user_types_is_not_kept() -> None:
    token = "ghp_" + "k7Qm2ZxV9bLwR4tYc8NpJ3sHdF6gAeUo1iTy"
    async with a_bus() as bus:
        answer = QuestionAnswered(round=1, answer=f"It is {token}.")
        (result,) = await asked(bus, a_question(answer=await submit(bus, answer)))
    assert result.data == {"answer": "It is [redacted]."}


def assert_unanswered(result: ToolResult) -> None:
    error = error_in(result)
    assert (error.error_type, error.message) == (
        "not_found",
        "The user has given no answer to this question.",
    )
    assert "say in the answer what you assumed" in error.suggested_action
