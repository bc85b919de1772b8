"""The cheats of test_shaped_answers.py in each wire format and style: five processes, the real SDKs over a socket."""

import json
from collections.abc import Sequence
from typing import Any
from urllib.request import urlopen

import pytest
from antiphon_shared.events import AnswerRefused, ReasoningCompleted

from tests.flows.pipeline import ANSWER, Pipeline, pipeline
from tests.flows.pipeline import script as usual_script
from tests.flows.promises import assert_whole
from tests.flows.recorded import assert_recordings_verify
from tests.flows.test_shaped_answers import CHEATS, LOOKS_UP, NEVER, TRICKS, ask, of_cheat, reasons, script
from tests.flows.test_steps import CHEATS as STEP_CHEATS
from tests.flows.test_steps import DONE, STEPS
from tests.messages_server import Scripted
from tests.recordings.scenarios.outputs import FITS, MORE, PLAN, SCHEMA

CHAT: dict[str, Any] = {"ANTIPHON_MODEL": "openai:scripted"}
PROMPTED: dict[str, Any] = {"ANTIPHON_REASONING_ENGINE_TOOL_STYLE": "prompted"}
WAYS: dict[str, dict[str, Any]] = {
    "the Messages API, shapes by its own means": {"ANTIPHON_REASONING_ENGINE_OUTPUT_STYLE": "native"},
    "the Messages API, shapes by a tool": {"ANTIPHON_REASONING_ENGINE_OUTPUT_STYLE": "tool"},
    "chat completions": CHAT,
    "chat completions, shapes by response_format": CHAT
    | {"ANTIPHON_REASONING_ENGINE_OUTPUT_STYLE": "native"},
    "chat completions, prompted": CHAT | PROMPTED,
    "the Messages API, prompted": PROMPTED,
}
VALIDATED = {
    "output_schema": SCHEMA,
    "validation_tools": ["validate_minimal", "validate_full"],
    "max_rounds": 5,
}


def end(result: Any) -> str:
    return json.dumps({"success": True, "result": result})


IN_FORM = {
    TRICKS["fits at once"]: end(PLAN),
    TRICKS["cut off at first"]: end(PLAN)[:-8],
    TRICKS["two at first"]: f'{FITS}\n{{"harbour": "Skagen", "berths": 15}}',
    TRICKS["another type at first"]: end({"harbour": "Skagen", "berths": "14"}),
    TRICKS["an empty result at first"]: end({}),
    TRICKS[
        "in another language around it"
    ]: f"Voici la réponse :\n```json\n{end(PLAN)}\n```\nBonne journée !",
    json.dumps(MORE): end(MORE),
    json.dumps(DONE): end(DONE),
}
"""The texts of a model without tool calling, by the replies of one with it."""


def replies_in(replies: Sequence[Scripted], way: str) -> list[Scripted]:
    """Return the replies as a model writes them in that wire format and style."""
    return [_in_form(one) for one in replies] if "prompted" in way else list(replies)


def _in_form(one: Scripted) -> Scripted:
    if not one.uses:
        return one.model_copy(update={"text": IN_FORM.get(one.text, one.text)})
    calls = [{"name": use.name, "arguments": use.input} for use in one.uses]
    return one.model_copy(update={"text": json.dumps({"tool_calls": calls}), "uses": ()})


def refusals_in(five: Pipeline, session: str) -> list[dict[str, Any]]:
    return [event for event in five.log(session) if event["type"] == AnswerRefused.type]


def assert_asked(five: Pipeline, way: str) -> None:
    """Check that every request used the chosen wire format and style."""
    with urlopen(f"{five.model.url}/requests", timeout=60) as reply:
        requests = json.loads(reply.read())
    path = "/v1/messages" if "Messages" in way else "/v1/chat/completions"
    assert {request["path"] for request in requests} == {path}
    if "prompted" in way:
        own_fields = {"tools", "tool_choice", "response_format", "output_config"}
        assert not any(own_fields & request["body"].keys() for request in requests)
        assert "tool_use" not in json.dumps(requests)


@pytest.mark.parametrize("way", WAYS)
def test_only_a_fitting_answer_of_the_model_becomes_the_result(way: str) -> None:
    with pipeline(scripted=replies_in(script(), way), **WAYS[way]) as five:
        asked = {f"s{n}": trick for n, trick in enumerate([*TRICKS, NEVER, LOOKS_UP])}
        for session, trick in asked.items():
            ask(five, trick, session)
        for session, trick in asked.items():
            response, refusals = five.response_to(session), refusals_in(five, session)
            if trick == NEVER:
                assert reasons(response) == ("partial", "output_invalid")
                assert (response.result, len(refusals)) == (None, 3)
                messages = {one.kind: one.message for one in response.uncertainty}
                assert "It is Skagen." in messages["output_missing"]
            else:
                assert reasons(response) == ("complete", "natural_completion"), (trick, response)
                assert response.result == PLAN, trick
                assert len(refusals) == trick.endswith("at first"), trick
            assert_whole([event for event in five.log(session) if event not in refusals])
        assert_asked(five, way)
        five.wait_until_idle()
        assert_recordings_verify(five, asked)


@pytest.mark.parametrize("way", WAYS)
def test_only_an_answer_that_passed_every_validation_is_a_result(way: str) -> None:
    scripted = [
        one for cheat, replies in CHEATS.items() for one in of_cheat(cheat, tuple(replies_in(replies, way)))
    ]
    with pipeline(scripted=scripted, ANTIPHON_TOOLS="tests.flows.validating_tools", **WAYS[way]) as five:
        asked = {f"s{n}": cheat for n, cheat in enumerate(CHEATS)}
        for session, cheat in asked.items():
            five.submit(f"Which harbour? ({cheat})", session_id=session, options=json.dumps(VALIDATED))
        for session, cheat in asked.items():
            response, refusals = five.response_to(session), refusals_in(five, session)
            if cheat == "never validates":
                assert reasons(response) == ("partial", "validation_incomplete"), cheat
                assert response.result is None
                assert "`validate_full` has not been called" in str(response.uncertainty)
            elif cheat == "validates for ever":
                assert reasons(response) == ("partial", "output_invalid"), cheat
                assert response.result is None
            else:
                assert reasons(response) == ("complete", "natural_completion"), (cheat, response)
                assert response.result == PLAN, cheat
                assert len(refusals) == cheat.endswith("at first"), cheat
        five.wait_until_idle()
        assert_recordings_verify(five, asked)


LOOKS = '{"tool_calls": [{"name": "look_up", "arguments": {"what": "height"}}]}'
AT_FIRST = {
    "calls a tool that is not there": '{"tool_calls": [{"name": "look_down", "arguments": {}}]}',
    "has arguments that are no object": '{"tool_calls": [{"name": "look_up", "arguments": "height"}]}',
    "has more keys": '{"tool_calls": [{"name": "look_up", "arguments": {"what": "x"}, "id": 1}]}',
    "is cut off": '{"success": true, "result": "It is as hi',
    "has another form": '{"answer": "It is as high as it is wide [F1]."}',
    "is a success without a result": '{"success": true, "result": ""}',
    "says nothing": "<think>It may be high.</think>",
}
AT_ONCE = {
    "plain prose": ANSWER,
    "a broken comma": f'{{"success": true, "result": "{ANSWER}",}}',
    "prose in another language": f'答えです。\n{{"success": true, "result": "{ANSWER}"}}\n以上。',
    "two objects of which the first counts": f'{{"success": true, "result": "{ANSWER}"}} {LOOKS}',
}


def test_an_answer_of_no_shape_is_given_in_the_form_or_in_prose() -> None:
    scripted = [
        Scripted(when="Round 1 of", text=LOOKS, repeat=True),
        Scripted(when="Your last answer does not count", text=ANSWER, repeat=True),
        *(Scripted(when=f"({how})", text=text, repeat=True) for how, text in (AT_FIRST | AT_ONCE).items()),
    ]
    with pipeline(scripted=scripted, **CHAT, **PROMPTED) as five:
        asked = {f"s{n}": how for n, how in enumerate(AT_FIRST | AT_ONCE)}
        for session, how in asked.items():
            five.submit(f"How high is it? ({how})", session_id=session)
        for session, how in asked.items():
            response, refusals = five.response_to(session), refusals_in(five, session)
            assert reasons(response) == ("complete", "natural_completion"), (how, response)
            assert response.answer.startswith("It is as high as it is wide [1]."), how
            assert len(refusals) == (how in AT_FIRST), how
            replies = five.events(session, ReasoningCompleted)
            assert all("{" not in one["text"] for one in replies), replies
        five.wait_until_idle()
        assert_recordings_verify(five, asked)


def test_a_model_of_the_other_wire_format_takes_over_where_one_fails() -> None:
    down = Scripted(when='"model": "down"', status=503, error="unavailable_error", repeat=True)
    models: dict[str, Any] = {
        "ANTIPHON_MODEL": "openai:down",
        "ANTIPHON_MODELS": "openai:down,claude-sonnet-5-5",
    }
    with pipeline(
        scripted=[down, *usual_script()], ANTIPHON_REASONING_ENGINE_MAX_ATTEMPTS="1", **models
    ) as five:
        five.submit("How high is it?", session_id="s1")
        response = five.response_to("s1")
        assert reasons(response) == ("complete", "natural_completion"), response
        replies = five.events("s1", ReasoningCompleted)
        assert {one["model"] for one in replies} == {"scripted"}
        five.wait_until_idle()
        assert_recordings_verify(five, ["s1"])


@pytest.mark.parametrize("way", ["chat completions", "chat completions, prompted"])
def test_steps_run_in_order_for_any_model_behaviour(way: str) -> None:
    tried = ("does as it should", "books at once", "plans without validation", "says that it is done")
    cheats = {cheat: replies_in(STEP_CHEATS[cheat], way) for cheat in tried}
    scripted = [one for cheat, replies in cheats.items() for one in of_cheat(f"({cheat})", tuple(replies))]
    tools = "tests.flows.validating_tools,tests.flows.ledger_tools"
    with pipeline(scripted=scripted, ANTIPHON_TOOLS=tools, **WAYS[way]) as five:
        asked = {f"s{n}": cheat for n, cheat in enumerate(cheats)}
        for session, cheat in asked.items():
            five.submit(f"Book. ({cheat})", session_id=session, options=json.dumps({"steps": STEPS}))
        for session, cheat in asked.items():
            response = five.response_to(session)
            assert reasons(response) == ("complete", "natural_completion"), (cheat, response)
            assert response.result == DONE, cheat
        five.ledger.read()
        assert len([run for runs in five.ledger.runs.values() for run in runs]) == len(cheats)
        five.wait_until_idle()
        assert_recordings_verify(five, asked)
