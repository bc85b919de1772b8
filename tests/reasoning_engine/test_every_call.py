"""What small functions of the engine and of the offline model make of schemas, values and texts: every_call.json.

After a change that is meant: `python -m tests.reasoning_engine.test_every_call`, and read what it has written.
"""

from pathlib import Path
from typing import Any

import pytest

from reasoning_engine import access, failure, refused_schemas, reply, shaped, wires
from reasoning_engine.chat import reply as chat_reply
from reasoning_engine.chat import request as chat_request
from reasoning_engine.limits import headers
from reasoning_engine.offline import (
    answer,
    arguments,
    briefing_text,
    demand,
    descriptors,
    filling,
    forms,
    history,
    language,
    mend,
    plan,
    question,
    question_values,
    records,
    schema,
    shaped_answer,
    shapes,
    spans,
    step_calls,
    tried,
    values,
    verdicts,
    wire,
)
from reasoning_engine.offline.schema import Tool
from reasoning_engine.prompted import form, replies
from tests.kept_forms import Reader, differences, write
from tests.reasoning_engine.offline.test_golden import ODD_TOOLS
from tests.sampled import readers_of_samples

KEPT = Path(__file__).with_name("every_call.json")
_NOUNS = frozenset(("lesson", "book", "room", "nut"))
_SCHEMAS: tuple[dict[str, Any], ...] = (
    {},
    {"type": "string", "enum": ["red", "blue"], "minLength": 2, "maxLength": 5},
    {"type": "integer", "minimum": 1, "maximum": 9},
    {"type": ["number", "null"], "exclusiveMinimum": 0, "multipleOf": 0.5},
    {"type": "boolean", "default": True},
    {"type": "array", "items": {"type": "string", "pattern": "^[a-z]+$"}, "minItems": 1, "maxItems": 2},
    {
        "type": "object",
        "required": ["name"],
        "additionalProperties": False,
        "properties": {"name": {"type": "string", "format": "date"}, "sizes": {"$ref": "#/$defs/sizes"}},
        "$defs": {"sizes": {"type": "array", "items": {"type": "number"}}},
    },
    {"anyOf": [{"type": "string"}, {"type": "null"}], "description": "A name, such as `Oslo`."},
    {"oneOf": [{"const": 3}, {"type": "object", "properties": {"id": {"type": "integer"}}}]},
    {"$ref": "#/$defs/a", "$defs": {"a": {"type": "string", "format": "email"}}},
    {
        "role": "assistant",
        "content": [{"type": "text", "text": "Hello."}],
        "tool_calls": [{"id": "c1", "function": {"name": "find", "arguments": "{}"}}],
    },
    {"type": "tool_use", "id": "c1", "name": "find", "input": {"a": 1}},
    {"tool": "find", "arguments": {"a": 1}, "thought": "So.", "answer": "42", "calls": []},
    {"error": {"type": "overloaded_error", "code": "rate_limit_exceeded", "message": "Slow down."}},
)
_VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    3,
    -2.5,
    float("inf"),
    "",
    "red",
    "3",
    "2026-11-21",
    "yes",
    "a b c",
    [],
    ["red", 7],
    [[1]],
    "x" * 300,
    "\ud800",
    *_SCHEMAS,
)
_TEXTS = (
    "",
    "find",
    "names",
    "The output of step 2",
    "at most 3 red nuts",
    '```json\n{"a": 1}\n```',
    "first_name",
    "calls[0]",
    "- find(a=1): ok [F1]",
    "Property: /a/b, Message: it must be at most 5.",
    "1m30s",
    "250ms",
    "http://host:1/v1",
)
_QUESTIONS = tuple(
    question.read_question(text, _NOUNS)
    for text in (
        "Find 3 red nuts of Oslo since 2024-02-01.",
        'Compare lesson 2 of "Web APIs" with book 4.',
        "Is it in stock?",
    )
)
_NOTES = tuple(
    map(briefing_text.read_briefing, ("", "## Question\n\nFind nuts.\n\n## Facts\n\n- [F1] nut: 7 (find)\n"))
)
_TOOLS = tuple(Tool(tool.name, tool.description, tool.schema) for tool in ODD_TOOLS)
_PARAMETERS = tuple(one for tool in _TOOLS for one in schema.parameters_of(tool.schema, tool.schema))
_SAMPLES: dict[str, Any] = {
    "str": _TEXTS,
    "str | None": (None, *_TEXTS),
    "Any": _VALUES,
    "object": _VALUES,
    "int": (0, 2, 429),
    "float": (0.0, 90.0),
    "bool": (False, True),
    "dict[str, Any]": _SCHEMAS,
    "dict[str, Any] | None": (None, *_SCHEMAS),
    "Mapping[str, Any]": _SCHEMAS,
    "Mapping[str, str]": (
        {
            "retry-after": "7",
            "x-ratelimit-limit-requests": "60",
            "x-ratelimit-remaining-tokens": "1000",
            "x-ratelimit-reset-requests": "1m2s",
        },
        {
            "anthropic-ratelimit-requests-limit": "50",
            "anthropic-ratelimit-requests-remaining": "49",
            "anthropic-ratelimit-tokens-reset": "2026-11-21T12:00:00Z",
        },
        {"retry-after-ms": "1500"},
        {},
    ),
    "frozenset[str]": (frozenset(), _NOUNS),
    "set[str]": ({"string"}, {"integer", "null"}, {"c1", "find"}),
    "Iterable[Any]": (_VALUES[:9], [{"type": "text", "text": "Hello."}], ["red", "blue"]),
    "list[Any]": (
        list(_VALUES[:9]),
        [{"tool": "find", "arguments": {"a": 1}}, {"name": "pay", "input": "x"}],
        [{"role": "user", "content": "Why?"}],
    ),
    "tuple[str, ...]": ((), ("answer", "calls")),
    "Literal['messages', 'chat']": ("messages", "chat"),
    "Tool": _TOOLS,
    "tuple[Tool, ...]": (_TOOLS, ()),
    "Parameter": _PARAMETERS,
    "tuple[Parameter, ...]": (_PARAMETERS, ()),
    "Question": _QUESTIONS,
    "Slots": tuple(one.slots for one in _QUESTIONS),
    "Notes": _NOTES,
    "Values": tuple(values.values_of(one, _NOTES[1]) for one in _QUESTIONS),
}
"""By the annotation of a parameter."""
_MODULES = (
    *(
        access,
        failure,
        refused_schemas,
        reply,
        shaped,
        wires,
        chat_reply,
        chat_request,
        headers,
        form,
        replies,
    ),
    *(
        answer,
        arguments,
        briefing_text,
        demand,
        descriptors,
        filling,
        forms,
        history,
        language,
        mend,
        plan,
        question,
    ),
    *(
        question_values,
        records,
        schema,
        shaped_answer,
        shapes,
        spans,
        step_calls,
        tried,
        values,
        verdicts,
        wire,
    ),
)
READERS = tuple(reader for module in _MODULES for reader in readers_of_samples(module, _SAMPLES))


@pytest.mark.parametrize("reader", READERS, ids=str)
def test_each_call_gives_what_it_gave(reader: Reader) -> None:
    assert differences(reader, KEPT) == []


if __name__ == "__main__":
    write(READERS, KEPT)
