"""People in the loop of a pipeline of processes: asked, and waited for through restarts until a time limit."""

import asyncio
from pathlib import Path

import pytest
from antiphon_shared.bus.keys import Keys
from antiphon_shared.events import QuestionAsked
from antiphon_shared.events.base import COMPONENTS
from redis.exceptions import RedisError

from antiphon import Antiphon
from antiphon.redis_acl import acl_file
from antiphon.redis_rules import USERS
from tests.flows.pipeline import Pipeline, pipeline
from tests.flows.test_access import refusals
from tests.messages_server import Scripted, Use

ASKS = Use(name="ask_user", input={"question": "Which one do you mean?", "choices": ["red", "blue"]})
WRITES = Use(name="write_down", input={"what": "width"})
SCRIPT = [
    Scripted(when="Round 1 of", text="I have to ask.", uses=(WRITES, ASKS), repeat=True),
    Scripted(when="the blue one", text="The blue one is higher [F1].", repeat=True),
    Scripted(when="the user has not answered", text="I assumed the red one.", repeat=True),
]


def submit(five: Pipeline, options: str) -> None:
    five.submit("How high is it?", session_id="s1", options=options)
    five.until(lambda: bool(five.events("s1", QuestionAsked)), "the question")


def answer(five: Pipeline, text: str, login: str) -> tuple[str, ...]:
    async def say() -> tuple[str, ...]:
        async with Antiphon(five.redis.url_of(login)) as client:
            return await client.answer("s1", text, by="Ann")

    return asyncio.run(say())


def test_a_question_survives_a_restart_of_every_process_and_its_answer_continues_the_session(
    tmp_path: Path,
) -> None:
    """Each with no more rights than it needs; to answer is the operator's."""
    acl = tmp_path / "users.acl"
    users = acl_file(Keys("antiphon"), {user: user for user in USERS})
    acl.write_text(f"{users}user admin on >secret ~* &* +@all\n")
    with pipeline(
        scripted=SCRIPT,
        redis_options=["--aclfile", str(acl)],
        login="admin:secret",
        logins={component: f"{component}:{component}" for component in COMPONENTS},
    ) as five:
        submit(five, '{"interactive": true}')
        five.until(lambda: not any(map(five.pending, COMPONENTS)), "no delivery to be in flight")
        for component in COMPONENTS:
            five.kill(component)
        with pytest.raises(RedisError):
            answer(five, "the blue one", "client:client")
        five.client.acl_log_reset()
        assert answer(five, "the blue one", "operator:operator") == ("toolu_2",)
        five.start()
        response = five.response_to("s1")
        assert (response.status, response.tool_calls_used) == ("complete", 2)
        assert response.answer.startswith("The blue one is higher [1].")
        assert response.uncertainty == ()
        five.wait_until_idle()
        five.ledger.read()
        assert refusals(five) == []
        assert [len(runs) for runs in five.ledger.runs.values()] == [1], "the batch went out once"


def test_a_silent_user_is_waited_for_only_until_the_timeout() -> None:
    with pipeline(scripted=SCRIPT, ANTIPHON_COORDINATOR_PERSON_WAIT_S="0.5") as five:
        submit(five, '{"interactive": true}')
        response = five.response_to("s1")
        assert response.answer.startswith("I assumed the red one.")
        assert response.status == "complete"
        messages = {uncertainty.kind: uncertainty.message for uncertainty in response.uncertainty}
        assert messages["question_unanswered"] == (
            "The user was asked “Which one do you mean?” and did not answer in time."
        )
        assert "tool_failed" not in messages, "that is not said twice"
        assert response.tool_calls_used == 1
        five.wait_until_idle()


@pytest.mark.parametrize("options", ["{}", '{"interactive": false}'])
def test_no_question_is_asked_without_a_user(options: str) -> None:
    script = [
        Scripted(when="Round 1 of", uses=(ASKS,), repeat=True),
        Scripted(text="I assumed the red one.", repeat=True),
    ]
    with pipeline(scripted=script) as five:
        five.submit("How high is it?", session_id="s1", options=options)
        assert five.response_to("s1").answer.startswith("I assumed the red one.")
        assert not five.events("s1", QuestionAsked)
        five.wait_until_idle()
