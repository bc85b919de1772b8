"""A model behind chat completions: calls, errors of its server, and a shaped answer."""

import json

from reasoning_engine import failure
from tests.messages_server import Scripted
from tests.recordings.scenario import Scenario, calls, fails, says, use
from tests.recordings.scenarios.outputs import FITS, SCHEMA

_TOO_LONG = {
    "error": {"message": "Too long.", "type": "invalid_request_error", "code": "context_length_exceeded"}
}

_TYPES = {name: code for name, code in failure._BY_TYPE_CHAT.items() if name not in failure._BY_TYPE}
_PASSING = tuple(name for name, code in _TYPES.items() if code in failure._RETRYABLE)
_LASTING = tuple(name for name in _TYPES if name not in _PASSING)
_LONGER = tuple(words for words in failure._TOO_LONG_CHAT if words not in failure._TOO_LONG)


def _of_type(name: str) -> Scripted:
    return Scripted(
        status=499 if name in _LASTING else 599,
        body=json.dumps({"error": {"message": "So it is.", "type": name}}),
    )


_FAILURES = (
    tuple(map(_of_type, _PASSING)),
    *(tuple(map(_of_type, _LASTING[at : at + 2])) for at in range(0, len(_LASTING), 2)),
    tuple(fails(400, "", f"It has the {words} of another") for words in _LONGER),
    (fails(401, "authentication_error"), fails(404, "not_found_error")),
)

SCENARIOS = (
    *(
        Scenario(
            f"failures_of_chat_completions_{n}",
            f"Does it fail ({n})?",
            (*some, says("It did.")),
            ends="any",
            deployment="patient_chat",
        )
        for n, some in enumerate(_FAILURES)
    ),
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
NAMES = frozenset(one.name for one in SCENARIOS if one.name.startswith("failures_"))
"""Coverage does not distinguish the entries of a table."""
