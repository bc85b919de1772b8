"""The export of a session contains no secret that was planted in it, in any known form, at any path."""

import base64
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import pytest
from antiphon_shared.events import QuerySubmitted, ToolsCompleted, ToolsRequested
from antiphon_shared.events.step_records import ExchangeRecord, ModelCall, ModelError
from antiphon_shared.process.errors import ErrorInfo
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from antiphon.recording.lines import EventLine, Line, RecordLine, decode_line, encode_line
from antiphon.recording.redaction.redact import Redaction
from antiphon.recording.redaction.scan import Scanner
from antiphon.recording.settings import RecordingSettings
from tests.antiphon.recording.recorded import events
from tests.shared.redaction.planted_forms import FORMS

Plant = Callable[[list[Line], Any], Line]


def _event(lines: list[Line], kind: type, **fields: Any) -> Line:
    line = next(line for line in events(lines) if isinstance(line.event.data, kind))
    data = line.event.data.model_copy(update=fields)
    return EventLine(line.n, line.entry, line.event.model_copy(update={"data": data}))


def query(lines: list[Line], value: Any) -> Line:
    return _event(
        lines, QuerySubmitted, query=f"See {value if isinstance(value, str) else json.dumps(value)}"
    )


def arguments(lines: list[Line], value: Any) -> Line:
    asked = next(line.event.data for line in events(lines) if isinstance(line.event.data, ToolsRequested))
    call = asked.calls[0].model_copy(update={"arguments": {"note": "mine", "more": value}})
    return _event(lines, ToolsRequested, calls=(call,))


def result(lines: list[Line], value: Any) -> Line:
    completed = next(line.event.data for line in events(lines) if isinstance(line.event.data, ToolsCompleted))
    one = completed.results[0].model_copy(update={"data": {"body": "yours", "more": [value]}})
    return _event(lines, ToolsCompleted, results=(one,))


def model_call(lines: list[Line], value: Any) -> Line:
    text = value if isinstance(value, str) else json.dumps(value)
    failure = ErrorInfo(code="model_refused", message=text)
    error = ModelError(failure=failure, headers={"x-debug": text}, body=value)
    call = ModelCall(request={"system": text, "metadata": value}, error=error, headers={"date": text})
    return RecordLine(
        record=ExchangeRecord(of=uuid4(), calls=(call,), max_output_tokens=1, default_model="m")
    )


def nested(text: str, depth: int) -> Any:
    """Return the text in objects and lists, and every third time in JSON within text."""
    value: Any = text
    for level in range(depth):
        value = {"a": [1, value]} if level % 3 else json.dumps({"b": value})
    return value


def written_ways(secret: str) -> tuple[str, ...]:
    return (
        secret,
        json.dumps(secret)[1:-1],
        quote(secret, safe=""),
        base64.b64encode(secret.encode()).decode().rstrip("="),
    )


signs = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
secrets = st.builds(
    lambda rest, digit: f"Zq{digit}{rest}", st.text(signs, min_size=6, max_size=30), st.integers(10, 99)
)
prose = st.lists(st.sampled_from(("The", "user", "asks", "why,", "and:", "a=b", '"so"', "\n")), max_size=6)


@pytest.mark.filterwarnings("ignore:Generating overly large repr")  # of a session, where this fails
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    plant=st.sampled_from((query, arguments, result, model_call)),
    form=st.sampled_from(tuple(FORMS)),
    secret=secrets,
    before=prose.map(" ".join),
    depth=st.integers(0, 5),
    again=st.integers(0, 3),
)
def test_a_secret_in_any_form_and_depth_is_removed_by_an_export_and_found_by_a_scan(
    courses_lines: list[Line], plant: Plant, form: str, secret: str, before: str, depth: int, again: int
) -> None:
    text = f"{before}\n{FORMS[form].format(secret)}\n"
    line = plant(courses_lines, nested(text, depth))
    repeated = plant(courses_lines, f"once more <{written_ways(secret)[again]}>")
    redaction = Redaction.of(RecordingSettings().rules, ())
    for one in (line, repeated):
        redaction.learn(one)
    clean = [encode_line(redaction.line(one)) for one in (line, repeated)]
    assert not [way for way in written_ways(secret) for one in clean if way in one.decode()]
    assert [decode_line(one) for one in clean]
    scanner = Scanner()
    assert list(scanner.line(encode_line(line), 1))
    assert [list(scanner.line(one, 1)) for one in clean] == [[], []]
