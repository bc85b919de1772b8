"""People inside of steps, and a question that follows up on one in steps: five real processes."""

import asyncio
import json
from typing import Any

from antiphon_shared.events import ApprovalRequested, QuestionAsked
from antiphon_shared.events.base import COMPONENTS

from antiphon import Antiphon
from tests.flows.pipeline import Pipeline, pipeline
from tests.flows.recorded import assert_recordings_verify
from tests.flows.test_shaped_answers import of_cheat
from tests.flows.test_steps import BOOK, BOOKED, DONE, STEPS, begun
from tests.messages_server import Scripted, Use

ASKS = Scripted(uses=(Use(name="ask_user", input={"question": "Which harbour?"}),))
FOUND = Scripted(text="Skagen, as Ann says.")
TWO_STEPS = [STEPS[0], STEPS[2]]


def submit(five: Pipeline, session: str, words: str) -> None:
    options: dict[str, Any] = {"steps": TWO_STEPS, "interactive": True, "conversation_id": "c1"}
    five.submit(f"Book a harbour. {words}", session_id=session, options=json.dumps(options))


def test_a_step_waits_for_people_through_restarts_and_a_follow_up_builds_on_its_answer() -> None:
    scripted = [
        *of_cheat("(asks)", (ASKS, FOUND, BOOK, BOOKED)),
        *of_cheat("(follows)", (FOUND, BOOKED)),
    ]
    tools = "tests.flows.validating_tools,tests.flows.ledger_tools"
    with pipeline(
        scripted=scripted, ANTIPHON_TOOLS=tools, ANTIPHON_TOOL_DISPATCHER_APPROVAL="write_down"
    ) as five:

        async def say(is_approval: bool) -> None:
            async with Antiphon(five.redis.url) as client:
                await (client.approve("s1", by="Ann") if is_approval else client.answer("s1", "Skagen"))

        submit(five, "s1", "(asks)")
        for kind in (QuestionAsked, ApprovalRequested):
            five.until(lambda: bool(five.events("s1", kind)), kind.type)  # noqa: B023  # called at once
            five.until(lambda: not any(map(five.pending, COMPONENTS)), "no delivery to be in flight")
            for component in COMPONENTS:
                five.kill(component)
            asyncio.run(say(kind is ApprovalRequested))
            five.start()
        response = five.response_to("s1")
        assert (response.status, response.result) == ("complete", DONE)
        assert begun(five, "s1") == [("discovery", 1), ("booking", 1)]
        submit(five, "s2", "(follows)")
        assert five.response_to("s2").result == DONE
        assert "- turn_1: Book a harbour. (asks)" in five.briefing("s2")
        five.wait_until_idle()
        five.ledger.read()
        assert [len(runs) for runs in five.ledger.runs.values()] == [1], "it was booked once"
        assert_recordings_verify(five, ["s1", "s2"])
