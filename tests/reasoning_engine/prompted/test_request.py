"""Requests to a model without tool calling, and its replies, by the real SDK over a real socket."""

import json
from typing import Any

import pytest

from reasoning_engine.model_call import CallOptions, build_call, estimate_call_tokens
from reasoning_engine.offer import NO_TOOLS, Offer
from reasoning_engine.prompt import SYSTEM, Prompt
from tests.messages_server import Scripted
from tests.reasoning_engine.builders import BRIEFING, OUTLINE, SEARCH, a_request, ask

SCHEMA = {"type": "object", "properties": {"level": {"type": "integer"}}, "required": ["level"]}
PROMPTED = CallOptions(tool_style="prompted")


def prompt(offer: Offer | None = None, wanted: CallOptions = PROMPTED, system: str | None = None) -> Prompt:
    offer = Offer.of((SEARCH, OUTLINE)) if offer is None else offer
    return build_call(a_request(), BRIEFING, offer, "mistral", 4096, wanted, system=system)


def system_of(prompt: Prompt) -> str:
    return "\n".join(block["text"] for block in prompt["system"])


def test_tools_are_described_only_in_the_system_text() -> None:
    sent = prompt()
    assert sent.keys() == {"model", "max_tokens", "system", "messages"}
    text = system_of(sent)
    assert text.startswith(SYSTEM)
    assert '## search\nSearches.\n{"type":"object","properties":{"q":{"type":"string"}}}' in text
    assert "## outline" in text
    assert "x-orchestration" not in text
    assert '{"tool_calls": [{"name"' in text
    assert sent["messages"] == [{"role": "user", "content": BRIEFING}]


def test_the_prompt_cache_ends_after_the_tools() -> None:
    assert ["cache_control" in block for block in prompt()["system"]] == [False, True]


def test_without_tools_no_form_for_calls_is_shown() -> None:
    text = system_of(prompt(NO_TOOLS))
    assert '{"success": true' in text
    assert '{"tool_calls"' not in text


def test_the_prompt_of_the_operator_replaces_ours_before_the_form() -> None:
    text = system_of(prompt(system="Be brief."))
    assert text.startswith("Be brief.\n# The form of a reply")


def test_the_prompt_describes_the_shape_of_a_result_and_its_validations() -> None:
    sent = prompt(wanted=CallOptions(SCHEMA, ("search",), tool_style="prompted"))
    assert sent.keys() == {"model", "max_tokens", "system", "messages"}
    system = str(sent["messages"][0]["content"])
    assert system.startswith(BRIEFING)
    assert json.dumps(SCHEMA, separators=(",", ":")) in system
    assert "`search` must have passed" in system
    assert "must have passed" not in str(
        prompt(NO_TOOLS, CallOptions(SCHEMA, ("search",), tool_style="prompted"))["messages"]
    )


def test_the_tools_count_once() -> None:
    offer = Offer.of((SEARCH, OUTLINE))
    native = CallOptions()
    without = estimate_call_tokens(prompt(NO_TOOLS), NO_TOOLS, PROMPTED)
    assert estimate_call_tokens(prompt(offer), offer, PROMPTED) > without + offer.tokens // 2
    assert estimate_call_tokens(prompt(offer, native), offer, native) > offer.tokens


async def test_no_native_tool_is_sent_and_calls_come_out_of_the_text() -> None:
    call = {"tool_calls": [{"name": "search", "arguments": {"q": "x"}}]}
    reply = await ask(Scripted(text=f"Let me see.\n{json.dumps(call)}"), tool_style="prompted")
    sent = reply.requests[0].body
    assert not {"tools", "tool_choice", "output_config"} & sent.keys()
    assert "tool_use" not in json.dumps(sent["messages"])
    outcome = reply.completed
    assert [(one.id, one.name, one.arguments) for one in outcome.tool_calls] == [
        ("call_1_1", "search", {"q": "x"})
    ]
    assert (outcome.text, outcome.stop_reason, outcome.refused) == ("Let me see.", "tool_use", ())


@pytest.mark.parametrize(
    ("text", "is_refused"),
    [('{"success": true, "result": {"level": 3}}', False), ('{"level": 3}', True), ("It is 3.", True)],
)
async def test_the_result_is_checked_against_the_form_first(text: str, is_refused: bool) -> None:
    request: Any = a_request(output="1-0")
    reply = await ask(Scripted(text=text), request=request, schema=SCHEMA, tool_style="prompted")
    assert bool(reply.completed.refused) == is_refused
    if not is_refused:
        assert json.loads(reply.completed.text) == {"level": 3}


async def test_a_reply_of_nothing_is_asked_for_again() -> None:
    reply = await ask(
        Scripted(text=" "), Scripted(text='{"success": true, "result": "Blue."}'), tool_style="prompted"
    )
    assert (reply.completed.text, reply.completed.attempts) == ("Blue.", 2)
