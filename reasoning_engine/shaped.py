"""The demand for an answer of a given schema, and the answer taken out of a reply. Pure.

Claude models get the schema through the Messages API's `output_config`. Models of chat completions get it
through `response_format`, if no tools are offered. Others get a tool that takes the answer, or text if
the schema is not that of an object.
"""

import re
from collections.abc import Container, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from antiphon_shared.output.schema import output_schema
from antiphon_shared.text.tokens import estimate_tokens
from antiphon_shared.values import JsonSchema
from pydantic_core import to_json

from reasoning_engine.reply import Reply
from reasoning_engine.wires import wire_of

if TYPE_CHECKING:
    from anthropic.types import ToolParam

    from reasoning_engine.prompt import Prompt

OutputStyle = Literal["auto", "native", "tool"]
FINAL_ANSWER = "final_answer"
"""The tool that takes the answer."""
TAKES_ANSWER = "Takes the answer, once it is complete."
"""Its description."""
_UNABLE = re.compile(r"^claude-(?:[23]|instant|(?:opus|sonnet)-4-(?:0|2025))")
"""Claude models that lack the API's own support."""
_NATIVE = (
    "The answer must be one JSON value in the form demanded. Write it alone: no Markdown, and no citations."
)
_BY_TOOL = f"Give the answer by calling `{FINAL_ANSWER}`, alone in its reply: no text, and no citations."
IN_WORDS = (
    "The answer must be one JSON value that fits this JSON Schema. Write it alone, without citations:\n"
)
VALIDATED = (
    " Before you answer, {tools} must have passed on exactly the value that you return: call them, mend what they "
    "name, validate again, and change nothing after that."
)


def with_demand(
    prompt: "Prompt", schema: JsonSchema, style: OutputStyle, validation_tools: Sequence[str] = ()
) -> "Prompt":
    """Return the prompt with the demand for an answer that fits `schema`, and that the tools have accepted."""
    shaped = prompt.copy()
    native = _native_schema(prompt, schema, style)
    taken = {tool["name"] for tool in prompt.get("tools", [])}
    if native is not None:
        shaped["output_config"] = {"format": {"type": "json_schema", "schema": native}}
        words = _NATIVE
    elif schema.get("type") == "object" and FINAL_ANSWER not in taken:
        tool: ToolParam = {
            "name": FINAL_ANSWER,
            "description": TAKES_ANSWER,
            "input_schema": {**schema, "type": "object"},
        }
        shaped["tools"] = [tool, *prompt.get("tools", [])]
        if "tools" not in prompt:
            shaped["tool_choice"] = {"type": "tool", "name": FINAL_ANSWER}
        words = _BY_TOOL
    else:
        words = IN_WORDS + to_json(schema).decode()
    if validation_tools and taken:
        words += VALIDATED.format(tools=" and ".join(f"`{name}`" for name in validation_tools))
    (message,) = prompt["messages"]
    shaped["messages"] = [{"role": "user", "content": f"{message['content']}\n\n{words}"}]
    return shaped


def tokens_of_schema(schema: dict[str, Any] | None) -> int:
    """Return the estimated tokens of a schema in a prompt."""
    return 0 if schema is None else estimate_tokens(to_json(schema).decode())


def with_tool_answer(reply: Reply, offered: Container[str]) -> Reply:
    """Return the reply with the answer as its text, if the answer was given by the tool for it alone.

    If its arguments cannot be read, the text says why, so that it does not count as an answer. Next to
    calls of `offered` tools the answer is dropped: those calls are made first.
    """
    if FINAL_ANSWER in offered:  # an operator's tool of that name, unrelated to the answer
        return reply
    answers = [call for call in reply.tool_calls if call.name == FINAL_ANSWER]
    if not answers:
        return reply
    if any(call.name in offered for call in reply.tool_calls):
        others = tuple(call for call in reply.tool_calls if call.name != FINAL_ANSWER)
        return replace(reply, tool_calls=others)
    unread = [call.problem for call in answers if call.problem is not None]
    text = "\n".join(unread or [to_json(call.arguments).decode() for call in answers])
    return replace(reply, text=text, tool_calls=(), stop_reason="end_turn")


def _native_schema(prompt: "Prompt", schema: JsonSchema, style: OutputStyle) -> dict[str, Any] | None:
    """Return the schema in the form of the API's own support; None if that is not used.

    Chat completions accept any schema. But many servers apply it to everything that a model writes, tool
    calls included.
    """
    if wire_of(prompt["model"]) == "chat":
        is_safe = schema.get("type") == "object" and "tools" not in prompt
        return schema if style == "native" or (style == "auto" and is_safe) else None
    return _transformed(schema) if _is_native(style, prompt["model"]) else None


def _is_native(style: OutputStyle, model: str) -> bool:
    return style == "native" or (style == "auto" and model.startswith("claude-") and not _UNABLE.match(model))


def _transformed(schema: JsonSchema) -> dict[str, Any] | None:
    """Return the schema in the API's form; None if the API cannot express it."""
    from anthropic import transform_schema

    if output_schema(schema).extent.is_recursive or _has_open_object(schema):
        return None
    try:
        return transform_schema(schema)
    # AssertionError: a list of types.
    except (ValueError, TypeError, KeyError, AttributeError, AssertionError):
        return None


def _has_open_object(schema: object) -> bool:
    """Return whether a schema has an object that allows unnamed properties.

    The API accepts only closed objects, so the model could give only an empty one there.
    """
    if isinstance(schema, list):
        return any(map(_has_open_object, schema))
    if not isinstance(schema, dict):
        return False
    if schema.get("type") == "object" and (
        not schema.get("properties")
        or "patternProperties" in schema
        or schema.get("additionalProperties", False) is not False
    ):
        return True
    return any(map(_has_open_object, schema.values()))
