"""One request, through the real SDK and a real socket, against a server that does as a script says."""

import asyncio
import socket
from typing import Any

import pytest
from antiphon_shared.events import decode, encode
from antiphon_shared.events.base import EventData
from antiphon_shared.events.step_records import ModelCall
from antiphon_shared.redaction.redactor import Redactor
from antiphon_shared.values import Usage

from reasoning_engine.exchange import BEGINS_AGAIN
from tests.bus.builders import eventually
from tests.clock import DAY_S, Clock
from tests.envelopes import an_event
from tests.messages_server import Scripted, Use, serving
from tests.reasoning_engine.builders import CHAT, CLAUDE, Asked, ask, ask_at

ANSWER = Scripted(text="Because the sky scatters blue light.")
LATE = Scripted(text="late", wait_s=DAY_S)
CALL_S = 60.0
"""The timeout of one call: longer than any answered one takes."""
ONCE = Usage(input_tokens=100, output_tokens=20)


EACH_WIRE = pytest.mark.parametrize("model_id", [CLAUDE, CHAT])


def travels(data: EventData) -> None:
    assert decode(encode(an_event(data))).data == data


@EACH_WIRE
async def test_an_answer_is_returned_whole_and_streamed_in_pieces(model_id: str) -> None:
    asked = await ask(ANSWER, model_id=model_id)
    reply = asked.completed
    assert (reply.text, reply.tool_calls, reply.stop_reason) == (ANSWER.text, (), "end_turn")
    assert (reply.model, reply.usage, reply.attempts) == ("scripted", ONCE, 1)
    assert "".join(asked.events) == ANSWER.text
    assert len(asked.events) > 1
    travels(reply)


@pytest.mark.parametrize(("model_id", "of_wire"), [(CLAUDE, "toolu"), (CHAT, "call")])
async def test_several_calls_come_back_in_order_with_their_text(model_id: str, of_wire: str) -> None:
    uses = (
        Use(name="search", input={"q": "sky", "deep": [{"n": 1.5}]}),
        Use(name="outline"),
        Use(name="serch"),
    )
    reply = (await ask(Scripted(text="I look.", uses=uses), model_id=model_id)).completed
    assert (reply.text, reply.stop_reason) == ("I look.", "tool_use")
    assert [(call.id, call.name, call.arguments, call.problem) for call in reply.tool_calls] == [
        (f"{of_wire}_1", "search", {"q": "sky", "deep": [{"n": 1.5}]}, None),
        (f"{of_wire}_2", "outline", {}, None),
        (f"{of_wire}_3", "serch", {}, None),
    ]
    travels(reply)


async def test_the_server_sees_one_streamed_message_with_the_stable_part_marked_for_the_cache() -> None:
    (request,) = (await ask(ANSWER)).requests
    body = request.body
    assert (body["stream"], body["model"], body["max_tokens"]) == (True, "claude-sonnet-5-5", 4096)
    assert [tool["name"] for tool in body["tools"]] == ["search", "outline"]
    assert "x-orchestration" not in body["tools"][0]["input_schema"]
    assert [tool.get("cache_control") for tool in body["tools"]] == [None, {"type": "ephemeral"}]
    assert body["system"][0]["cache_control"] == {"type": "ephemeral"}
    assert [message["role"] for message in body["messages"]] == ["user"]
    assert request.headers["x-stainless-retry-count"] == "0"


PASSING = {
    "too many requests": Scripted(status=429, error="rate_limit_error", headers={"retry-after": "0.001"}),
    "a retry-after of a day": Scripted(
        status=429, error="rate_limit_error", headers={"retry-after": "86400"}
    ),
    "an overloaded server": Scripted(status=529, error="overloaded_error"),
    "an internal error": Scripted(status=500),
    "a server's timeout": Scripted(status=408, error="timeout_error"),
    "a conflict": Scripted(status=409, error="conflict_error"),
    "a gateway's page": Scripted(
        status=502, body="<html>Bad gateway</html>", headers={"content-type": "text/html"}
    ),
    "a page instead of a reply": Scripted(body="<html>Log in</html>", headers={"content-type": "text/html"}),
    "garbage bytes": Scripted(
        body="\x00\xff\xfe garbage \x80", headers={"content-type": "text/event-stream"}
    ),
    "invalid JSON": Scripted(body="event: message_start\ndata: {no json\n\n"),
    "an empty event": Scripted(body='event: message_start\ndata: {"type": "message_start"}\n\n'),
    "a message that is a number": Scripted(
        body='event: message_start\ndata: {"type": "message_start", "message": 7}\n\n'
    ),
    "events out of order": Scripted(body='event: message_delta\ndata: {"type": "message_delta"}\n\n'),
    "an error event first": Scripted(
        body='event: error\ndata: {"type": "error", "error": {"type": "overloaded_error"}}\n\n'
    ),
    "nothing at all": Scripted(body=""),
    "a stream that is cut": Scripted(text="Half of", break_after=4),
    "a stream that ends too soon": Scripted(text="Half of", break_after=4, break_by="end"),
    "an error inside a stream": Scripted(
        text="Half of", break_after=4, break_by="error", error="overloaded_error"
    ),
    "a stream that never begins": Scripted(break_after=0),
    "arguments that are no JSON": Scripted(uses=(Use(name="search", written='{"q": nonsense}'),)),
}


@pytest.mark.parametrize("trouble", PASSING.values(), ids=PASSING.keys())
async def test_a_transient_failure_is_retried(trouble: Scripted) -> None:
    asked = await ask(trouble, ANSWER)
    assert asked.completed.text == ANSWER.text
    assert (asked.completed.attempts, len(asked.requests)) == (2, 2)


async def ask_in_vain(
    clock: Clock, *script: Scripted, times: int = 1, wait_s: float = CALL_S, **more: Any
) -> Asked:
    """Let a number of calls of the script get no reply within `wait_s`: the clock is advanced after each call."""
    async with serving(*script) as server:
        asking = asyncio.ensure_future(ask_at(server.url, server.requests, request_timeout_s=CALL_S, **more))
        for made in range(1, times + 1):
            await eventually(lambda made=made: len(server.requests) == made)  # type: ignore[misc]  # a bound default
            clock.forward(wait_s)
        return await asyncio.wait_for(asking, CALL_S)


@EACH_WIRE
@pytest.mark.parametrize("late", [LATE, Scripted(text="late", event_wait_s=DAY_S)])
async def test_a_reply_that_does_not_come_in_time_is_asked_for_again(
    clock: Clock, late: Scripted, model_id: str
) -> None:
    asked = await ask_in_vain(clock, late, ANSWER, seconds_left=10 * CALL_S, model_id=model_id)
    assert asked.completed.text == ANSWER.text
    assert (asked.completed.attempts, len(asked.requests)) == (2, 2)


async def test_a_model_that_never_replies_in_time_has_failed(clock: Clock) -> None:
    late = LATE.model_copy(update={"repeat": True})
    asked = await ask_in_vain(clock, late, times=3, max_attempts=3, seconds_left=10 * CALL_S)
    failed = asked.failed
    assert (failed.error.code, failed.error.retryable, failed.attempts) == ("timeout", True, 3)
    travels(failed)


@pytest.mark.parametrize(("model_id", "break_after"), [(CLAUDE, 4), (CHAT, 2)])
async def test_a_reader_of_the_stream_is_notified_when_a_reply_begins_again(
    model_id: str, break_after: int
) -> None:
    asked = await ask(Scripted(text="Half of it", break_after=break_after), ANSWER, model_id=model_id)
    assert "".join(asked.events) == "Half of" + BEGINS_AGAIN + ANSWER.text
    assert asked.completed.text == ANSWER.text


async def test_tokens_of_a_reply_that_broke_off_are_counted() -> None:
    asked = await ask(Scripted(text="Half of it", break_after=4), ANSWER)
    assert asked.completed.usage == Usage(input_tokens=200, output_tokens=21)


@pytest.mark.parametrize(
    ("trouble", "code"),
    [
        (Scripted(status=429, error="rate_limit_error"), "rate_limited"),
        (Scripted(status=529, error="overloaded_error"), "overloaded"),
        (Scripted(status=503, body="<html>no</html>"), "server_error"),
        (Scripted(status=504, body=""), "timeout"),
        (Scripted(text="Half of", break_after=4), "connection_failed"),
        (Scripted(text="Half of", break_after=4, break_by="end"), "connection_failed"),
        (Scripted(text="x", break_after=4, break_by="error", error="overloaded_error"), "overloaded"),
        (Scripted(body="garbage"), "unreadable_reply"),
    ],
)
async def test_a_lasting_failure_ends_as_a_classified_error(trouble: Scripted, code: str) -> None:
    trouble = trouble.model_copy(update={"repeat": True})
    asked = await ask(trouble, max_attempts=3)
    failed = asked.failed
    assert (failed.error.code, failed.error.retryable, failed.attempts) == (code, True, 3)
    assert len(asked.requests) == 3
    travels(failed)


@pytest.mark.parametrize(
    ("status", "kind", "message", "code"),
    [
        (400, "invalid_request_error", "tools.0: bad", "invalid_request"),
        (400, "invalid_request_error", "prompt is too long: 9 > 1", "context_too_long"),
        (401, "authentication_error", "invalid x-api-key", "authentication_failed"),
        (402, "billing_error", "no credit", "permission_denied"),
        (403, "permission_error", "not yours", "permission_denied"),
        (404, "not_found_error", "model: claude-none", "model_not_found"),
        (413, "request_too_large", "too large", "context_too_long"),
        (422, "invalid_request_error", "no", "invalid_request"),
        (400, "api_error", "unknown field", "invalid_request"),
        (418, "server_error", "no coffee", "invalid_request"),
        (400, "BadRequestError", "no such parameter", "invalid_request"),
    ],
)
async def test_a_permanent_error_fails_at_once(status: int, kind: str, message: str, code: str) -> None:
    asked = await ask(Scripted(status=status, error=kind, text=message))
    assert (asked.failed.error.code, asked.failed.error.retryable, asked.failed.attempts) == (code, False, 1)
    assert message in asked.failed.error.message


@EACH_WIRE
async def test_a_server_header_against_retries_is_respected(model_id: str) -> None:
    asked = await ask(Scripted(status=500, headers={"x-should-retry": "false"}), model_id=model_id)
    assert (asked.failed.error.code, len(asked.requests)) == ("server_error", 1)


async def test_a_retry_after_the_deadline_is_not_waited_for() -> None:
    trouble = Scripted(status=429, error="rate_limit_error", headers={"retry-after": "30"})
    asked = await ask(trouble, retry_after_max_s=30)
    assert (asked.failed.error.code, len(asked.requests)) == ("rate_limited", 1)


async def test_a_call_still_running_at_the_deadline_is_given_up(clock: Clock) -> None:
    asked = await ask_in_vain(clock, LATE, seconds_left=CALL_S / 2, wait_s=CALL_S / 2)
    assert (asked.failed.error.code, asked.failed.attempts) == ("timeout", 1)


async def test_a_request_past_its_deadline_is_not_made() -> None:
    asked = await ask(seconds_left=-1)
    assert (asked.failed.error.code, asked.failed.attempts, asked.requests) == ("timeout", 0, [])


@EACH_WIRE
async def test_the_retry_delay_of_the_server_is_reported(model_id: str) -> None:
    trouble = Scripted(status=529, error="overloaded_error", headers={"retry-after": "42"})
    for scripted, retry_after_s in ((trouble, 42.0), (Scripted(status=500), None)):
        asked = await ask(scripted, model_id=model_id, max_attempts=1)
        assert asked.failed.retry_after_s == retry_after_s


async def test_a_stream_that_stalls_between_two_events_is_given_up_and_hung_up_on(clock: Clock) -> None:
    events: list[str] = []
    async with serving(Scripted(text="Half of it", stall_after=4)) as server:
        asking = asyncio.ensure_future(
            ask_at(server.url, server.requests, events=events, max_attempts=1, request_timeout_s=CALL_S)
        )
        await eventually(lambda: "".join(events) == "Half of")
        clock.forward(CALL_S)
        asked = await asyncio.wait_for(asking, CALL_S)
        assert asked.failed.error.code == "timeout"
        assert "".join(asked.events) == "Half of"
        await eventually(lambda: server.hung_up == 1)


@pytest.mark.parametrize(
    ("model_id", "reply", "before"),
    [
        (CLAUDE, LATE, ""),
        (CLAUDE, Scripted(text="Half of it", stall_after=4), "Half of"),
        (CHAT, Scripted(text="Half of it", stall_after=2), "Half of"),
    ],
)
async def test_a_request_that_is_cancelled_hangs_up_on_the_server(
    model_id: str, reply: Scripted, before: str
) -> None:
    events: list[str] = []
    async with serving(reply) as server:
        asking = asyncio.ensure_future(ask_at(server.url, server.requests, events=events, model_id=model_id))
        await eventually(lambda: server.under_way == 1 and "".join(events) == before)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await eventually(lambda: server.hung_up == 1)


async def test_a_prompt_is_estimated_where_one_call_was_all_it_took() -> None:
    """The usage of several calls cannot be compared with the estimate of one prompt."""
    assert (await ask(ANSWER)).completed.prompt_tokens_estimated > 100
    for script in (
        (Scripted(status=529, error="overloaded_error"), ANSWER),
        (Scripted(), ANSWER),
        (Scripted(text="First, ", stop_reason="pause_turn"), Scripted(text="second.")),
    ):
        assert (await ask(*script)).completed.prompt_tokens_estimated == 0


@pytest.mark.parametrize(
    "quoting",
    [
        '{"error": {"type": "authentication_error", "message": "invalid key: my-proxy-key"}}',
        "Who is my-proxy-key?",
    ],
    ids=["JSON", "text"],
)
@EACH_WIRE
async def test_a_key_that_the_server_quotes_is_in_no_event_and_no_record(model_id: str, quoting: str) -> None:
    calls: list[ModelCall] = []
    refused, redactor = Scripted(status=401, body=quoting), Redactor(["my-proxy-key"])
    asked = await ask(refused, model_id=model_id, redactor=redactor, on_call=calls.append)
    assert asked.failed.error.code == "authentication_failed"
    assert "[redacted]" in str(calls[0].error)
    assert "my-proxy-key" not in f"{asked.failed} {calls}"


@EACH_WIRE
async def test_an_empty_reply_is_asked_for_once_more(model_id: str) -> None:
    asked = await ask(Scripted(), ANSWER, model_id=model_id)
    assert (asked.completed.text, asked.completed.attempts) == (ANSWER.text, 2)
    assert asked.completed.usage == ONCE.plus(ONCE)


async def test_a_model_that_stays_silent_has_failed() -> None:
    asked = await ask(Scripted(text=" \n", repeat=True))
    assert (asked.failed.error.code, len(asked.requests)) == ("empty_reply", 2)
    assert asked.failed.usage == ONCE.plus(ONCE)


@EACH_WIRE
async def test_a_call_cut_off_by_the_token_limit_is_dropped_and_the_whole_ones_stay(model_id: str) -> None:
    uses = (Use(name="search", input={"q": "a"}), Use(name="search", written='{"q": "what is the ca'))
    cut = Scripted(text="I look.", uses=uses, stop_reason="max_tokens")
    reply = (await ask(cut, model_id=model_id)).completed
    assert [call.arguments for call in reply.tool_calls] == [{"q": "a"}]
    assert reply.stop_reason == "max_tokens"


async def test_a_reply_with_only_a_truncated_call_is_reported_as_truncated() -> None:
    cut = Scripted(uses=(Use(name="search", written='{"q'),), stop_reason="max_tokens")
    reply = (await ask(cut)).completed
    assert (reply.text, reply.tool_calls, reply.stop_reason) == ("", (), "max_tokens")


@EACH_WIRE
@pytest.mark.parametrize("written", ['{"q": "a"', '["a"]', '"a"', "7", "null", '{"q": NaN}'])
async def test_arguments_that_are_no_whole_object_are_marked_for_the_model(
    written: str, model_id: str
) -> None:
    asked = await ask(Scripted(uses=(Use(name="search", written=written),)), model_id=model_id)
    (call,) = asked.completed.tool_calls
    assert call.arguments == {}
    assert call.problem


async def test_a_refusal_asks_for_nothing_and_gives_its_explanation() -> None:
    details = {"type": "refusal", "category": "bio", "explanation": "That could do harm."}
    refused = Scripted(uses=(Use(name="search"),), stop_reason="refusal", stop_details=details)
    reply = (await ask(refused)).completed
    assert (reply.stop_reason, reply.text, reply.tool_calls) == ("refusal", "That could do harm.", ())


async def test_a_full_context_window_is_reported() -> None:
    reply = (await ask(Scripted(text="So f", stop_reason="model_context_window_exceeded"))).completed
    assert (reply.stop_reason, reply.text) == ("context_window", "So f")


async def test_a_stop_reason_from_the_future_is_an_ordinary_end() -> None:
    assert (await ask(Scripted(text="Hm.", stop_reason="new_reason"))).completed.stop_reason == "end_turn"
    later = Scripted(uses=(Use(name="search"),), stop_reason="new_reason")
    assert (await ask(later)).completed.stop_reason == "tool_use"


async def test_a_paused_reply_is_continued_with_its_text() -> None:
    asked = await ask(Scripted(text="First, ", stop_reason="pause_turn"), Scripted(text="second."))
    assert asked.completed.text == "First, second."
    assert asked.completed.usage == ONCE.plus(ONCE)
    reply = asked.requests[1].body["messages"][1]
    assert (reply["role"], reply["content"][0]["text"]) == ("assistant", "First, ")


async def test_a_model_that_pauses_forever_ends_as_cut_off() -> None:
    asked = await ask(Scripted(text="And ", stop_reason="pause_turn", repeat=True))
    assert (asked.completed.text, asked.completed.stop_reason) == ("And " * 4, "max_tokens")
    assert len(asked.requests) == 4


async def test_a_cost_is_reported_when_every_price_is_set() -> None:
    usage = {"input_tokens": 1000, "output_tokens": 200, "cache_read_input_tokens": 500}
    reply = Scripted(text="Yes.", usage=usage)
    priced = await ask(reply, input_usd=3.0, output_usd=15.0, cache_read_usd=0.3)
    assert priced.completed.usage.cost_usd == pytest.approx(0.00615)
    assert priced.completed.usage.cache_read_tokens == 500
    assert (await ask(reply, input_usd=3.0, output_usd=15.0)).completed.usage.cost_usd is None


async def test_a_server_that_cannot_be_reached_is_a_failed_connection() -> None:
    with socket.socket() as deaf:  # no process listens on its port, and none can meanwhile
        deaf.bind(("127.0.0.1", 0))
        asked = await ask_at(f"http://127.0.0.1:{deaf.getsockname()[1]}", [], max_attempts=2)
    assert (asked.failed.error.code, asked.failed.attempts) == ("connection_failed", 2)
