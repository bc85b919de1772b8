"""The errors of queries, events, steps and schemas of which one part is left out or replaced: every_fault.json.

After an intended change, run `python -m tests.shared.test_every_fault`, and review the output.
"""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from antiphon_shared.bus.reader import Entry
from antiphon_shared.bus.submissions import read_submission
from antiphon_shared.events import QuerySubmitted, ToolsCompleted
from antiphon_shared.events.codec import decode, encode
from antiphon_shared.output import step_file
from antiphon_shared.output.schema import output_schema
from antiphon_shared.tools.calls import ToolError, ToolResult

from tests.envelopes import an_event
from tests.kept_forms import Reader, differences, write
from tests.variants import ODD, variants

KEPT = Path(__file__).with_name("every_fault.json")
_ODD = (*ODD, 0, 10**9, "")
_OPTIONS = {
    "max_rounds": 3,
    "max_tool_rounds": 2,
    "max_tool_calls": 4,
    "max_tokens": 5_000,
    "deadline_s": 60,
    "tools": ["find"],
    "conversation_id": "c1",
    "citations": "strict",
    "interactive": True,
}
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["name", "parts"],
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 8, "enum": ["mole", "pier"]},
        "parts": {"type": "array", "minItems": 1, "maxItems": 3, "items": {"$ref": "#/$defs/part"}},
        "size": {"anyOf": [{"type": "number", "minimum": 0}, {"type": "null"}]},
    },
    "$defs": {"part": {"type": "object", "properties": {"id": {"type": "integer"}}}},
}
_VALUE = {"name": "mole", "parts": [{"id": 1}], "size": 2.5}
_STEPS = [
    {
        "name": "first",
        "instructions": "Look.",
        "tools": ["find", "check"],
        "output": {"type": "object"},
        "max_rounds": 5,
    },
    {
        "name": "last",
        "instructions": "Tell.",
        "tools": ["find"],
        "validation_tools": ["find"],
        "output": {},
        "attempts": 2,
    },
]
_RESULT = ToolResult(
    index=0,
    call_id="c1",
    tool="find",
    status="error",
    error=ToolError(error_type="not_found", message="No.", suggested_action="Ask."),
)
_EVENTS = {
    "query": json.loads(encode(an_event(QuerySubmitted(query="Why?")))),
    "results": json.loads(encode(an_event(ToolsCompleted(round=1, results=(_RESULT,))))),
}
_FIELDS = {
    "query": "Why?",
    "session_id": "s1",
    "options": "{}",
    "traceparent": "00-" + "1" * 32 + "-" + "2" * 16 + "-01",
    "grant": "g",
}
_NOW = datetime(2026, 11, 21, tzinfo=UTC)


def _submitted(fields: dict[str, Any]) -> Any:
    given = {name.encode(): str(value).encode() for name, value in fields.items()}
    entry = Entry(stream="queries", id="1790000000000-0", fields=given)
    event = read_submission(entry, "queries", 2_000, _NOW)
    return event.subject, event.data


def _reader(name: str, read: Any, document: Any, odd: tuple[Any, ...] = _ODD) -> Reader:
    found = variants(document, odd)
    return Reader(name, lambda variant: read(found[variant]), (), tuple(found))


def _event(document: Any) -> Any:
    return decode(json.dumps(document).encode()).data


READERS = (
    _reader(
        "options", lambda options: _submitted({"query": "Why?", "options": json.dumps(options)}), _OPTIONS
    ),
    _reader(
        "submissions", _submitted, _FIELDS, ("", "odd", "x" * 3_000, "\x00", "s" * 129, "{", "[]", "a b")
    ),
    *(_reader(name, _event, document) for name, document in _EVENTS.items()),
    _reader("schemas", lambda schema: output_schema(schema).extent, _SCHEMA),
    _reader("values", lambda value: list(map(str, output_schema(_SCHEMA).faults(value))), _VALUE),
    _reader("steps", lambda steps: step_file.read_steps(json.dumps({"steps": steps})), _STEPS),
)


@pytest.mark.parametrize("reader", READERS, ids=str)
def test_the_message_of_every_fault_is_unchanged(reader: Reader) -> None:
    assert differences(reader, KEPT) == []


if __name__ == "__main__":
    write(READERS, KEPT)
