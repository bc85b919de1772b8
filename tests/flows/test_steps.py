"""Steps, with models that cheat: five real processes, the real SDK over a real socket."""

import json
from functools import partial
from typing import Any

from antiphon_shared.events import EventData, ReasoningCompleted, ReasoningRequested, StepBegun
from antiphon_shared.events.session import Response

from tests.flows.pipeline import Pipeline, pipeline
from tests.flows.recorded import assert_recordings_verify
from tests.flows.test_shaped_answers import BOTH, of_cheat, reasons
from tests.messages_server import Scripted, Use
from tests.recordings.scenarios.outputs import FITS, MORE, SCHEMA

DONE = {"booked": True}
STEPS: list[dict[str, Any]] = [
    {"name": "discovery", "instructions": "Find a harbour.", "tools": ["count_berths"], "max_rounds": 5},
    {
        "name": "planning",
        "instructions": "Plan the berths.",
        "tools": ["validate_minimal", "validate_full"],
        "output": SCHEMA,
        "validation_tools": ["validate_minimal", "validate_full"],
        "max_rounds": 5,
        "attempts": 2,
    },
    {
        "name": "booking",
        "instructions": "Book the berths.",
        "tools": ["write_down"],
        "output": {"type": "object", "properties": {"booked": {"const": True}}, "required": ["booked"]},
        "max_rounds": 5,
        "attempts": 2,
    },
]
COUNT = Scripted(uses=(Use(name="count_berths", input={"harbour": "Skagen"}),))
FOUND, VALIDATES, PLANS = Scripted(text="Skagen, 14 berths."), Scripted(uses=BOTH), Scripted(text=FITS)
BOOK = Scripted(uses=(Use(name="write_down", input={"what": "Skagen"}),))
BOOKED, PROSE = Scripted(text=json.dumps(DONE)), Scripted(text="It is done.")
FAILS = Scripted(uses=(Use(name="validate_full", input={"plan": MORE}),), repeat=True)

CHEATS: dict[str, tuple[Scripted, ...]] = {
    "does as it should": (COUNT, FOUND, VALIDATES, PLANS, BOOK, BOOKED),
    "books at once": (BOOK, COUNT, FOUND, VALIDATES, PLANS, BOOK, BOOKED),
    "looks back": (COUNT, FOUND, COUNT, VALIDATES, PLANS, BOOK, BOOKED),
    "plans without validation": (COUNT, FOUND, PLANS, VALIDATES, PLANS, BOOK, BOOKED),
    "says that it is done": (COUNT, FOUND, PROSE, VALIDATES, PLANS, PROSE, BOOK, BOOKED),
    "books in two attempts": (COUNT, FOUND, VALIDATES, PLANS, BOOK, *[PROSE] * 4, BOOK, BOOKED),
    "fails the same way for ever": (COUNT, FOUND, FAILS),
}


def begun(five: Pipeline, session: str) -> list[tuple[str, int]]:
    return [(data["step"], data["attempt"]) for data in five.events(session, StepBegun)]


def error_of(five: Pipeline, session: str, tool: str) -> str:
    return str(next(one["error"]["message"] for one in five.results(session) if one["tool"] == tool))


def has_come_to(five: Pipeline, kind: type[EventData], round: int) -> bool:
    return any(data["round"] == round for data in five.events("s1", kind))


def messages(response: Response) -> dict[str, str]:
    return {one.kind: one.message for one in response.uncertainty}


def test_no_step_is_skipped_and_no_tool_of_another_step_runs_for_any_model_behaviour() -> None:
    scripted = [one for cheat, replies in CHEATS.items() for one in of_cheat(f"({cheat})", replies)]
    tools = "tests.flows.validating_tools,tests.flows.ledger_tools"
    with pipeline(scripted=scripted, ANTIPHON_TOOLS=tools) as five:
        asked = {f"s{n}": cheat for n, cheat in enumerate(CHEATS)}
        for session, cheat in asked.items():
            options = json.dumps({"steps": STEPS, "max_tool_calls": 100})
            five.submit(f"Book a harbour. ({cheat})", session_id=session, options=options)
        for session, cheat in asked.items():
            response = five.response_to(session)
            if cheat == "fails the same way for ever":
                assert reasons(response) == ("partial", "step_failed"), cheat
                assert response.result is None
                assert "Step `planning` (2 of 3) failed in 2 attempts" in messages(response)["step_failed"]
                assert "Skagen, 14 berths." in response.answer, "what the first step produced"
                continue
            assert reasons(response) == ("complete", "natural_completion"), (cheat, response)
            assert response.result == DONE
            attempts = [("booking", 1), ("booking", 2)] if "two attempts" in cheat else [("booking", 1)]
            assert begun(five, session) == [("discovery", 1), ("planning", 1), *attempts]
        ids = {cheat: session for session, cheat in asked.items()}
        assert "begins when step `discovery` is done" in error_of(five, ids["books at once"], "write_down")
        back = [one for one in five.results(ids["looks back"]) if one["tool"] == "count_berths"]
        assert [one["status"] for one in back] == ["ok", "error"]
        assert "step `discovery` is done" in back[1]["error"]["message"]
        writes = [one for one in five.results(ids["books in two attempts"]) if one["tool"] == "write_down"]
        assert len(writes) == 2
        five.ledger.read()
        booked = [run for runs in five.ledger.runs.values() for run in runs]
        assert len(booked) == len(CHEATS) - 1, "each session that reaches the booking books once"
        five.wait_until_idle()
        assert_recordings_verify(five, asked)


def test_a_session_killed_anywhere_continues_in_the_same_step() -> None:
    replies = of_cheat("(is killed)", (COUNT, FOUND, VALIDATES, PLANS, BOOK, BOOKED))
    tools = "tests.flows.validating_tools,tests.flows.ledger_tools"
    with pipeline(scripted=replies, ANTIPHON_TOOLS=tools, ANTIPHON_BUS_LEASE_S="1") as five:
        five.hold("reasoning_engine")
        five.submit("Book a harbour. (is killed)", session_id="s1", options=json.dumps({"steps": STEPS}))
        for round in range(1, 7):
            five.until(partial(has_come_to, five, ReasoningRequested, round), f"round {round}")
            five.kill("coordinator")
            five.start("coordinator")
            five.let_go("reasoning_engine")
            if round < 6:
                five.until(partial(has_come_to, five, ReasoningCompleted, round), f"a reply in round {round}")
                five.hold("reasoning_engine")
        assert five.response_to("s1").result == DONE
        assert begun(five, "s1") == [("discovery", 1), ("planning", 1), ("booking", 1)]
        five.wait_until_idle()
        assert_recordings_verify(five, ["s1"])
