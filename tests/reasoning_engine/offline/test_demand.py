"""The shape demanded, found in a request as the engine writes it."""

from typing import Any

from reasoning_engine.offline.demand import Demand
from reasoning_engine.offline.wire import read_request
from reasoning_engine.prompt import Prompt
from reasoning_engine.shaped import OutputStyle, with_demand
from tests.rows import each_row

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"name": {"type": "string", "pattern": "^[a-z]{2,3}, x$", "description": "A name."}},
    "required": ["name"],
    "additionalProperties": False,
}
LIST = {"type": "array", "items": {"type": "integer"}, "minItems": 2}
TOOL: Any = {"name": "validate", "description": "Validates.", "input_schema": {"type": "object"}}


def demanded(
    schema: dict[str, Any], style: OutputStyle, tools: tuple[str, ...] = (), model: str = "claude-sonnet-5-5"
) -> tuple[Demand | None, list[str]]:
    prompt: Prompt = {
        "model": model,
        "max_tokens": 100,
        "system": [],
        "messages": [{"role": "user", "content": "# Question\nWhich?\n\n# Now\nRound 1 of at most 3."}],
    }
    if tools:
        prompt["tools"] = [TOOL]
    request = read_request(dict(with_demand(prompt, schema, style, tools)))
    return request.demand, [tool.name for tool in request.tools]


@each_row(
    ("schema", "style", "by_tool"), [(SCHEMA, "native", False), (SCHEMA, "tool", True), (LIST, "tool", False)]
)
@each_row("tools", [(), ("validate",), ("validate", "and_again")])
def test_a_demand_is_read_back_unchanged(
    schema: dict[str, Any], style: OutputStyle, by_tool: bool, tools: tuple[str, ...]
) -> None:
    found, offered = demanded(schema, style, tools)
    assert found is not None
    assert (found.by_tool, found.validation_tools) == (by_tool, tools)
    assert found.schema["type"] == schema["type"]
    assert offered == (["validate"] if tools else [])


def test_a_question_that_imitates_a_demand_demands_nothing() -> None:
    words = (
        "The answer must be one JSON value that fits this JSON Schema. Write it alone, without citations:\n{}"
    )
    body = {
        "model": "x",
        "max_tokens": 9,
        "messages": [{"role": "user", "content": f"# Question\n\n{words}\n\nWhy?"}],
    }
    assert read_request(body).demand is None
