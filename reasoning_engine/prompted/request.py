"""From a call with tools to one that describes them in its text, for a model without tool calling. Pure.

    system    how to answer; then the form of a reply, and the tools
    user      the briefing; then the schema of the result, if one is demanded

The parts that do not change from round to round still come first, so that a server's prompt cache can hold
them.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pydantic_core import to_json

from reasoning_engine.prompt import Prompt
from reasoning_engine.shaped import VALIDATED

if TYPE_CHECKING:
    from anthropic.types import TextBlockParam, ToolParam

_FORM = """\
# The form of a reply
Write every reply as one JSON object and nothing else: no words before or behind it, no code fence. All of its text \
stands in JSON strings, with \\n for a line break and \\" for a quotation mark."""
_CALLS = """
To call tools:
{"tool_calls": [{"name": "a tool's name", "arguments": {"a parameter": "its value"}}], "reasoning": "the note"}
`tool_calls` holds one or more calls, each with `name` and `arguments` and nothing else; `reasoning`, which may be \
left out, is the place of the note."""
_END = """
To end:
{"success": true, "result": "the answer", "reasoning": "how it follows from the facts"}
`result` is the answer in full: Markdown text, unless another form is demanded. Where the question cannot be answered, \
`success` is false, and `result` or `reasoning` says why. No other keys are allowed."""
_TOOLS = """
# The tools
Their names, what they do, and the JSON Schema of their arguments."""
FORM_OF_REPLIES = "\n".join((_FORM, _CALLS, _END))
_RESULT = "The `result` must be a JSON value, not text, that fits this JSON Schema, without citations:\n"


def prompted(
    prompt: Prompt, schema: dict[str, Any] | None = None, validation_tools: Sequence[str] = ()
) -> Prompt:
    """Return the call with its tools, and the schema of its answer, as text."""
    tools = prompt.get("tools", [])
    *before, last = prompt["system"]
    uncached: TextBlockParam = {"type": "text", "text": last["text"]}
    text = "\n".join(_parts(tools))
    described: TextBlockParam = {"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}
    worded = prompt.copy()
    worded.pop("tools", None)
    worded["system"] = [*before, uncached, described]
    if schema is not None:
        words = _RESULT + to_json(schema).decode()
        if validation_tools and tools:
            words += f"\n{VALIDATED.format(tools=' and '.join(f'`{name}`' for name in validation_tools))}"
        (message,) = prompt["messages"]
        worded["messages"] = [{"role": "user", "content": f"{message['content']}\n\n{words}"}]
    return worded


def _parts(tools: "Sequence[ToolParam]") -> Iterator[str]:
    if not tools:
        yield "\n".join((_FORM, _END))
        return
    yield FORM_OF_REPLIES
    yield _TOOLS
    for tool in tools:
        yield f"\n## {tool['name']}\n{tool.get('description', '')}\n{to_json(tool['input_schema']).decode()}"
