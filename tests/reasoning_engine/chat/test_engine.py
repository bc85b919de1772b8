"""One request by chat completions, where it differs from one by the Messages API; see `../test_engine.py`."""

import json
from typing import Any

import pytest
from antiphon_shared.values import Usage

from reasoning_engine.exchange_record import failure_of, message_of
from reasoning_engine.reply import parse
from reasoning_engine.reply_size import REPLY_CHARACTERS_MAX
from tests.messages_server import Scripted, Use
from tests.reasoning_engine.builders import CHAT, Asked, a_request, ask, ask_at
from tests.reasoning_engine.test_engine import travels

ANSWER = Scripted(text="Because the sky scatters blue light.")
SCHEMA = {"type": "object", "properties": {"level": {"type": "integer"}}, "required": ["level"]}


async def ask_chat(*script: Scripted, **how: Any) -> Asked:
    return await ask(*script, model_id=CHAT, **how)


async def test_the_server_sees_a_chat_completion_with_functions() -> None:
    (request,) = (await ask_chat(ANSWER)).requests
    body = request.body
    assert request.path == "/v1/chat/completions"
    assert (body["model"], body["stream"], body["max_tokens"]) == ("gpt-x", True, 4096)
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert [tool["function"]["name"] for tool in body["tools"]] == ["search", "outline"]
    assert body["tools"][0]["function"]["parameters"] == {
        "type": "object",
        "properties": {"q": {"type": "string"}},
    }
    assert "cache_control" not in json.dumps(body)


async def test_cached_input_tokens_are_counted_separately() -> None:
    usage = {"input_tokens": 30, "output_tokens": 5, "cache_read_input_tokens": 70}
    prices = {"input_usd": 1.0, "output_usd": 2.0, "cache_read_usd": 0.5}
    reply = (await ask_chat(Scripted(text="Yes.", usage=usage), **prices)).completed
    assert reply.usage == Usage(
        input_tokens=30, output_tokens=5, cache_read_tokens=70, cost_usd=reply.usage.cost_usd
    )
    assert reply.usage.cost_usd == pytest.approx(75e-6)


PASSING = {
    "a limit": Scripted(status=429, error="rate_limit_exceeded", headers={"retry-after-ms": "1"}),
    "an overload": Scripted(status=503, error="service_unavailable_error"),
    "a server error": Scripted(status=500, error="server_error"),
    "a request timeout": Scripted(status=408, body=""),
    "a conflict": Scripted(status=409, body=""),
    "no JSON": Scripted(body="garbage"),
    "a page of a proxy": Scripted(status=502, body="<html>bad gateway</html>"),
    "chunks that are no JSON": Scripted(body="data: {nonsense\n\n", headers={"content-type": "text/event-stream"}),
    "chunks of another shape": Scripted(body='data: [1, "x"]\n\ndata: {"choices": 7}\n\ndata: [DONE]\n\n'),
    "nothing at all": Scripted(body=""),
    "a stream that is cut": Scripted(text="Half of", break_after=2),
    "a stream that ends too soon": Scripted(text="Half of", break_after=2, break_by="end"),
    "an error inside a stream": Scripted(text="Half of", break_after=2, break_by="error", error="server_error"),
    "a stream that never begins": Scripted(break_after=0),
}  # fmt: skip  # a table


@pytest.mark.parametrize("trouble", PASSING.values(), ids=PASSING.keys())
async def test_a_transient_failure_is_retried(trouble: Scripted) -> None:
    asked = await ask_chat(trouble, ANSWER)
    assert asked.completed.text == ANSWER.text
    assert (asked.completed.attempts, len(asked.requests)) == (2, 2)


async def test_a_server_that_cannot_be_reached_is_a_failed_connection() -> None:
    asked = await ask_at("http://127.0.0.1:1", [], model_id=CHAT, max_attempts=1)
    assert asked.failed.error.code == "connection_failed"
    assert "at http://127.0.0.1:1" in asked.failed.error.message
    assert "OPENAI_BASE_URL" in asked.failed.error.message


async def test_tokens_of_a_reply_that_broke_off_are_estimated_and_counted() -> None:
    """A server reports them only at the end."""
    whole = (await ask_chat(ANSWER)).completed.usage
    usage = (await ask_chat(Scripted(text="Half of it", break_after=2), ANSWER)).completed.usage
    assert usage.input_tokens > whole.input_tokens + 100
    assert whole.output_tokens < usage.output_tokens < whole.output_tokens + 10


async def test_a_server_that_reports_no_usage_does_not_escape_the_budget() -> None:
    chunk = {"choices": [{"delta": {"content": "Because of it."}, "finish_reason": "stop"}]}
    body = f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n"
    headers = {"content-type": "text/event-stream"}
    usage = (await ask_chat(Scripted(body=body, headers=headers))).completed.usage
    assert usage.input_tokens > 100
    assert 1 <= usage.output_tokens < 10


@pytest.mark.parametrize(
    ("trouble", "code"),
    [
        (Scripted(status=429, error="tokens"), "rate_limited"),
        (Scripted(status=503, error="unavailable_error"), "overloaded"),
        (Scripted(status=503, body="<html>no</html>"), "server_error"),
        (Scripted(status=500, error="invalid_request_error"), "server_error"),
        (Scripted(status=504, body=""), "timeout"),
        (Scripted(text="Half of", break_after=2), "connection_failed"),
        (Scripted(text="Half of", break_after=2, break_by="end"), "connection_failed"),
        (Scripted(text="x", break_after=2, break_by="error", error="rate_limit_exceeded"), "rate_limited"),
        (Scripted(text="x", break_after=2, break_by="error", error="unheard_of"), "server_error"),
        (Scripted(body="garbage"), "unreadable_reply"),
        (Scripted(text="x" * (REPLY_CHARACTERS_MAX + 1), piece=REPLY_CHARACTERS_MAX), "unreadable_reply"),
    ],
)
async def test_a_lasting_failure_ends_as_a_classified_error(trouble: Scripted, code: str) -> None:
    trouble = trouble.model_copy(update={"repeat": True})
    asked = await ask_chat(trouble, max_attempts=2)
    failed = asked.failed
    assert (failed.error.code, failed.error.retryable, failed.attempts) == (code, True, 2)
    assert "ANTHROPIC" not in failed.error.message
    travels(failed)


def an_error(message: str, **fields: Any) -> str:
    return json.dumps({"error": {"message": message, "type": None, "param": None, "code": None, **fields}})


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (400, an_error("bad tools", type="invalid_request_error"), "invalid_request"),
        (400, an_error("too long", type="invalid_request_error", code="context_length_exceeded"), "context_too_long"),
        (400, an_error("This model's maximum context length is 8192 tokens"), "context_too_long"),
        (400, an_error("exceeds it", type="exceed_context_size_error"), "context_too_long"),
        (400, '{"object":"error","message":"no","type":"BadRequestError","param":null,"code":400}', "invalid_request"),
        (400, an_error("no", type="server_error"), "invalid_request"),
        (401, an_error("Incorrect API key provided", code="invalid_api_key"), "authentication_failed"),
        (402, an_error("no credit"), "permission_denied"),
        (403, an_error("not yours"), "permission_denied"),
        (404, an_error("The model `gpt-x` does not exist", code="model_not_found"), "model_not_found"),
        (404, "404 page not found", "model_not_found"),
        (413, an_error("too large"), "context_too_long"),
        (418, an_error("no coffee", type="server_error"), "invalid_request"),
        (422, an_error("no"), "invalid_request"),
        (429, an_error("Pay", type="insufficient_quota", code="insufficient_quota"), "permission_denied"),
    ],
)  # fmt: skip  # one form for all rows
async def test_a_permanent_error_fails_at_once(status: int, body: str, code: str) -> None:
    asked = await ask_chat(Scripted(status=status, body=body))
    failed = asked.failed
    assert (failed.error.code, failed.error.retryable, failed.attempts) == (code, False, 1)
    assert "ANTHROPIC" not in failed.error.message


async def test_a_key_quoted_by_the_server_is_not_disclosed() -> None:
    key = "sk-proj-" + "aB3dE5gH7jK9mN1pQ2rS" * 3 + "T3BlbkFJ" + "aB3dE5gH7jK9mN1pQ2rS" * 3
    asked = await ask_chat(Scripted(status=401, body=an_error(f"Incorrect API key provided: {key}")))
    assert asked.failed.error.code == "authentication_failed"
    assert key not in asked.failed.error.message


async def test_a_filter_of_the_server_is_a_refusal() -> None:
    reply = (await ask_chat(Scripted(text="I ca", stop_reason="refusal"))).completed
    assert (reply.stop_reason, reply.tool_calls) == ("refusal", ())


async def test_a_schema_uses_the_tool_unless_the_output_style_is_native() -> None:
    request: Any = a_request(output="1-0")
    asked = await ask_chat(
        Scripted(uses=(Use(name="final_answer", input={"level": 3}),)), request=request, schema=SCHEMA
    )
    assert asked.completed.text == '{"level":3}'
    assert "response_format" not in asked.requests[0].body
    asked = await ask_chat(
        Scripted(text='{"level": 3}'), request=request, schema=SCHEMA, output_style="native"
    )
    assert asked.requests[0].body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "schema": SCHEMA},
    }


async def test_prompted_tools_need_none_of_the_apis_own_means() -> None:
    call = {"tool_calls": [{"name": "search", "arguments": {"q": "x"}}]}
    asked = await ask_chat(Scripted(text=json.dumps(call)), tool_style="prompted")
    assert asked.requests[0].body.keys() == {"model", "max_tokens", "messages", "stream", "stream_options"}
    assert [one.name for one in asked.completed.tool_calls] == ["search"]


@pytest.mark.parametrize(
    "trouble",
    [
        Scripted(status=429, error="tokens", headers={"retry-after": "2", "x-ratelimit-limit-requests": "9"}),
        Scripted(text="Half of", break_after=2, break_by="error", error="server_error"),
        Scripted(status=400, body="no JSON"),
        Scripted(text="Half of", break_after=2),
    ],
)
async def test_a_recorded_error_is_classified_the_same(trouble: Scripted) -> None:
    calls: list[Any] = []
    asked = await ask_chat(trouble, max_attempts=1, on_call=calls.append)
    (call,) = calls
    assert call.request["model"] == CHAT
    assert call.error.failure == asked.failed.error
    if call.error.status is not None:
        assert failure_of(call.error, "chat").error == asked.failed.error
    if trouble.headers:
        assert call.error.headers["x-ratelimit-limit-requests"] == "9"


async def test_a_recorded_reply_is_parsed_the_same() -> None:
    calls: list[Any] = []
    uses = (Use(name="search", input={"q": "sky"}),)
    asked = await ask_chat(Scripted(text="I look.", uses=uses), on_call=calls.append)
    again = parse(message_of(calls[0].reply))
    assert (again.text, again.tool_calls) == (asked.completed.text, asked.completed.tool_calls)
