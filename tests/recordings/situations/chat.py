"""A model that is asked by chat completions: calls, errors of its server, and an answer of a shape."""

import json

from tests.messages_server import Scripted
from tests.recordings.scenario import Scenario, calls, fails, says, use
from tests.recordings.scenarios.outputs import FITS, SCHEMA

_TOO_LONG = {
    "error": {"message": "Too long.", "type": "invalid_request_error", "code": "context_length_exceeded"}
}

SCENARIOS = (
    Scenario(
        "a_chat_completion_that_fails_twice_and_has_a_shape",
        "Which harbour has the most berths?",
        (
            fails(503, "unavailable_error", x_ratelimit_limit_requests="500"),
            calls(use("count_berths", harbour="Skagen")),
            Scripted(status=400, body=json.dumps(_TOO_LONG)),
            says(FITS),
        ),
        options={"output_schema": SCHEMA, "max_tool_rounds": 1},
        deployment="chat",
    ),
)
