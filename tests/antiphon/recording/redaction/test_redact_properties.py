"""No JSON and no text makes a planted secret leak."""

import copy
import json
from typing import Any

from antiphon_shared.events import ToolsRequested
from antiphon_shared.redaction.secret_keys import ALWAYS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic_core import to_json

from antiphon.recording.lines import (
    ContentLine,
    End,
    EventLine,
    Line,
    encode_line,
)
from antiphon.recording.redaction.redact import Redaction
from antiphon.recording.redaction.shapes import shape_of
from tests.antiphon.recording.recorded import events
from tests.antiphon.recording.redaction.redacted_lines import RULES, redacted

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
SECRETS = st.text(st.characters(exclude_categories=["Cs"]), min_size=6, max_size=40).map(
    lambda text: "s3cr3t" + text
)
KEY_NAMES = [key.strip("*") for key in ALWAYS if not key.startswith("!")]
KEYS = st.sampled_from(KEY_NAMES).flatmap(
    lambda key: st.sampled_from([key, key.upper(), f"x_{key}" if f"*{key}" in ALWAYS else key])
)


def planted_in(value: Any, key: str, secret: str, place: int) -> Any:
    """Return the value with the secret under a key, in text that is JSON, and once more in plain text."""
    inside: dict[str, Any] = {key: secret, "again": f"<{secret}>", "text": json.dumps({key: secret})}
    return {"a": value, "b": [inside] if place % 2 else json.dumps(inside, ensure_ascii=place % 3 == 0)}


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(value=JSON, key=KEYS, secret=SECRETS, place=st.integers(0, 5))
def test_no_json_makes_a_planted_secret_leak_or_a_line_unreadable(
    courses_lines: list[Line], value: Any, key: str, secret: str, place: int
) -> None:
    requested = next(line for line in events(courses_lines) if isinstance(line.event.data, ToolsRequested))
    data = copy.deepcopy(requested.event.data)
    assert isinstance(data, ToolsRequested)
    call = data.calls[0].model_copy(update={"arguments": planted_in(value, key, secret, place)})
    event = requested.event.model_copy(update={"data": data.model_copy(update={"calls": (call,)})})
    clean = redacted([EventLine(1, "1-0", event), End(events=1, records=0)])
    written = encode_line(clean[0]).decode()
    for form in (secret, json.dumps(secret)[1:-1], to_json(secret).decode()[1:-1]):
        assert form.strip() not in written
    assert ContentLine(hash="", content=call.arguments)


SIGNS = [
    '"',
    "'",
    "\\",
    ":",
    " ",
    "=",
    "\n",
    "{",
    "[",
    "]",
    ",",
    "&",
    "the",
    "é",
    "v4lue-77",
    "=v4lue-77",
    '": "v4lue-77"',
]
CREDENTIALS = ["https://ada:pa55@example.org", "sk-ant-" + "a1B2" * 10, "ghp_" + "a1" * 20]
TEXTS = st.lists(st.sampled_from(SIGNS) | st.sampled_from([*KEY_NAMES, *CREDENTIALS]), max_size=6).map(
    "".join
)


@settings(max_examples=150, deadline=None)
@given(key=TEXTS, text=TEXTS, is_long=st.booleans())
def test_a_line_that_passes_unread_has_nothing_to_replace(key: str, text: str, is_long: bool) -> None:
    content = {"content": text, "input": {key: [text], "rest": " ." * 500 * is_long}}
    line = ContentLine(hash="", content=content)
    if Redaction.of(RULES, ()).passes([(line, encode_line(line))]):
        # A full walk changes nothing, independent of the check of the bytes.
        assert Redaction.of(RULES, ())._value.redacted(content, shape_of(line)) == content
        assert redacted([line]) == [line]
