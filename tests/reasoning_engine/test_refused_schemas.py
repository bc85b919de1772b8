"""A schema that the Messages API refuses: the answer is asked for by a tool, by the real SDK over a real socket."""

from typing import Any

import pytest
from antiphon_shared.events.step_records import ModelCall
from structlog.testing import capture_logs

from reasoning_engine.refused_schemas import RefusedSchemas
from reasoning_engine.shaped import FINAL_ANSWER
from tests.messages_server import Scripted, Use
from tests.reasoning_engine.builders import a_request, ask

SCHEMA = {"type": "object", "properties": {"level": {"type": "integer"}}, "required": ["level"]}
TOO_LARGE = (
    "output_config.format.schema: Invalid schema: The compiled grammar is too large, which would cause performance "
    "issues. Simplify your tool schemas or reduce the number of strict tools."
)
GIVES = Scripted(uses=(Use(name=FINAL_ANSWER, input={"level": 3}),))


def a_refusal(text: str = TOO_LARGE, status: int = 400, error: str = "invalid_request_error") -> Scripted:
    return Scripted(status=status, error=error, text=text, repeat=True, when='"output_config"')


def names(request: dict[str, Any]) -> list[str]:
    return [tool["name"] for tool in request.get("tools", [])]


@pytest.mark.parametrize(
    "text", [TOO_LARGE, "Schema is too complex for compilation.", "The compiled grammar is too large"]
)
async def test_a_refused_schema_is_asked_for_again_by_the_tool_and_counted(text: str) -> None:
    calls: list[ModelCall] = []
    with capture_logs() as logs:
        asked = await ask(
            a_refusal(text), GIVES, schema=SCHEMA, request=a_request(output="1-1"), on_call=calls.append
        )
    assert asked.completed.text == '{"level":3}'
    assert asked.completed.attempts == len(asked.requests) == len(calls) == 2
    native, by_tool = (request.body for request in asked.requests)
    assert names(native) == ["search", "outline"]
    assert names(by_tool) == [FINAL_ANSWER, "search", "outline"]
    assert "output_config" not in by_tool
    assert calls[0].error is not None
    (logged,) = [log for log in logs if log["event"] == "schema_refused"]
    assert text.rstrip(".") in logged["error"]
    assert logged["instead"] == "the tool final_answer"


@pytest.mark.parametrize(
    ("refusal", "settings"),
    [
        (a_refusal("tools.0.custom.input_schema: JSON schema is invalid"), {}),
        (a_refusal("Your credit balance is too low"), {}),
        (a_refusal("messages: prompt is too long for this schema"), {}),
        (a_refusal(status=403, error="permission_error"), {}),
        (a_refusal(), {"output_style": "native"}),
    ],
)
async def test_a_refusal_that_does_not_concern_the_schema_fails_the_call(
    refusal: Scripted, settings: dict[str, Any]
) -> None:
    asked = await ask(refusal, GIVES, schema=SCHEMA, **settings)
    assert asked.failed.attempts == len(asked.requests) == 1


async def test_a_call_that_fails_by_the_tool_too_fails_with_that() -> None:
    asked = await ask(
        a_refusal(), Scripted(status=401, error="authentication_error", text="No."), schema=SCHEMA
    )
    assert asked.failed.error.code == "authentication_failed"
    assert asked.failed.attempts == 2


def test_refused_schemas_are_remembered_by_model_and_schema_and_bounded() -> None:
    refused = RefusedSchemas()
    refused.add("claude-sonnet-5-5", SCHEMA)
    assert refused.style("claude-sonnet-5-5", dict(SCHEMA), "auto") == "tool"
    assert refused.style("claude-sonnet-5-5", SCHEMA, "native") == "native"
    assert refused.style("claude-sonnet-5-5", {"type": "object"}, "auto") == "auto"
    assert refused.style("claude-opus-5-5", SCHEMA, "auto") == "auto"
    assert refused.style("claude-sonnet-5-5", None, "auto") == "auto"
    for n in range(1_000):
        refused.add("claude-sonnet-5-5", {"title": str(n)})
    assert refused.style("claude-sonnet-5-5", SCHEMA, "auto") == "auto"
    assert refused.style("claude-sonnet-5-5", {"title": "999"}, "auto") == "tool"
