"""All answers of a model's server: every status, type of error, interruption, and odd reply."""

from typing import Any

from tests.messages_server import Scripted, Use
from tests.recordings.scenario import Scenario, calls, fails, says, use

_HEIGHT = use("look_up", what="lighthouse")
_ANSWER = says("That is all.")
_TYPES = (
    "overloaded_error",
    "rate_limit_error",
    "timeout_error",
    "not_found_error",
    "billing_error",
    "nobody_knows",
)
_STATUSES: dict[str, Scripted] = {
    "400": fails(400, "invalid_request_error", "no"),
    "400_without_credit": fails(400, "invalid_request_error", "Your credit balance is too low"),
    "402": fails(402, "billing_error"),
    "403": fails(403, "permission_error"),
    "408": fails(408, "timeout_error"),
    "409": fails(409, "conflict"),
    "413": fails(413, "request_too_large"),
    "418": fails(418, "api_error"),
    "422": fails(422, "unprocessable"),
    "429_at_once": fails(429, "rate_limit_error", retry_after="0"),
    "429_in_a_moment": fails(429, "rate_limit_error", retry_after_ms="50"),
    "429_at_a_date": fails(
        429,
        "rate_limit_error",
        retry_after="Mon, 23 Nov 2026 01:00:01 GMT",
        date="Mon, 23 Nov 2026 01:00:00 GMT",
    ),
    "429_never": fails(429, "rate_limit_error", retry_after="inf"),
    "429_in_words": fails(429, "rate_limit_error", retry_after="soon"),
    "500_not_again": fails(500, "api_error", x_should_retry="false"),
    "502": Scripted(status=502, body="<html>"),
    "503": fails(503, "api_error"),
    "504": fails(504, "timeout_error"),
    "529": fails(529, "overloaded_error"),
    "spent": Scripted(
        status=400,
        body='{"type":"error","error":{"type":"invalid_request_error","message":"spent","details":'
        '{"error_code":"credit_balance_exhausted"}}}',
    ),
}
_BROKEN: dict[str, Scripted] = {
    "reset": Scripted(text="It is broken off.", break_after=5),
    "end": Scripted(text="It is broken off.", break_after=5, break_by="end"),
    "at_once": Scripted(text="It is broken off.", break_after=0, break_by="end"),
    **{
        f"by_{kind}": Scripted(text="It is so.", break_after=4, break_by="error", error=kind)
        for kind in _TYPES
    },
}
_PAUSED = [{"type": "text", "text": "One moment. "}]
_ODD: dict[str, tuple[Scripted, ...]] = {
    "half_a_character": (says("It is \udc00 high [F1]."),),
    "paused_for_ever": (Scripted(content=_PAUSED, stop_reason="pause_turn"),) * 12,
    "paused_without_words": (Scripted(content=[], stop_reason="pause_turn"), _ANSWER),
    "context_window": (says("It is", stop_reason="model_context_window_exceeded"),),
    "stop_sequence": (says("It is so.", stop_reason="stop_sequence"),),
    "thinking": (
        Scripted(
            content=[
                {"type": "text", "text": "First."},
                {"type": "thinking", "thinking": "hm", "signature": "x"},
                {"type": "text", "text": "Then."},
                {"type": "text", "text": ""},
                {"type": "text", "text": "Last."},
            ]
        ),
    ),
    "refusal_without_words": (says("", stop_reason="refusal"),),
    "odd_usage": (
        says("Yes.", usage={"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 7}),
    ),
    "many_tokens_counted": (calls(_HEIGHT, usage={"input_tokens": 9000, "output_tokens": 5}), _ANSWER),
    "few_tokens_counted": (calls(_HEIGHT, usage={"input_tokens": 10, "output_tokens": 5}), _ANSWER),
    "unknown_stop": (says("Yes.", stop_reason="tool_use"),),
}
_ENDS: dict[str, Any] = {
    "paused_for_ever": "reply_truncated",
    "context_window": "reply_truncated",
    "refusal_without_words": "model_refused",
}

SCENARIOS = (
    *(
        Scenario(
            f"a_server_that_answers_{name}",
            f"Is anybody there (after {name})?",
            (failed, _ANSWER),
            ends="any",
        )
        for name, failed in _STATUSES.items()
    ),
    *(
        Scenario(
            f"a_server_that_answers_{name}_twice_and_again",
            f"Is there anybody at all (after {name})?",
            (calls(_HEIGHT), failed, failed, failed, _ANSWER),
            ends="any",
        )
        for name, failed in _STATUSES.items()
    ),
    *(
        Scenario(
            f"a_reply_that_breaks_off_{name}", f"What is one and one ({name})?", (broken, _ANSWER), ends="any"
        )
        for name, broken in _BROKEN.items()
    ),
    *(
        Scenario(
            f"an_odd_reply_{name}",
            f"What is odd ({name})?",
            replies,
            ends=_ENDS.get(name, "natural_completion"),
        )
        for name, replies in _ODD.items()
    ),
    Scenario(
        "ids_of_calls_that_are_alike",
        "How high is it all?",
        (
            calls(
                Use(name="look_up", input={"what": "mast"}, id="a"),
                Use(name="look_up", input={"what": "chapel"}, id="a"),
                Use(name="look_up", input={"what": "lighthouse"}, id="a_2"),
                Use(name="look_up", input={"what": "mast"}, id="a"),
            ),
            says("High [F1]."),
        ),
    ),
)
