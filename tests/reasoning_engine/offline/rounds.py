"""A small round loop: briefing, offline model, tools, next briefing."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from anthropic.types import MessageParam, ToolParam
from antiphon_shared.events import ReasoningCompleted, ToolsCompleted
from antiphon_shared.memory.session_memory import Memory
from antiphon_shared.tools.calls import ToolCall, ToolError, ToolResult

from context_synthesizer.session_index import SessionIndex
from reasoning_engine.offline_model import OfflineModel
from reasoning_engine.prompt import Prompt

TOKENS_MAX = 20_000


class Refused(Exception):
    """A tool's error, as the dispatcher would pass it on."""

    def __init__(self, error: ToolError) -> None:
        super().__init__(error.message)
        self.error = error


@dataclass(frozen=True)
class OfferedTool:
    """A tool as the model sees it, and the function behind it."""

    name: str
    description: str
    schema: dict[str, Any]
    function: Callable[..., Any]

    def as_parameter(self) -> ToolParam:
        return {"name": self.name, "description": self.description, "input_schema": self.schema}


@dataclass
class Asked:
    """The course of one question."""

    question: str
    answer: str = ""
    rounds: list[list[ToolCall]] = field(default_factory=list)
    """The calls of each round that had any."""
    briefings: list[str] = field(default_factory=list)
    memory: Memory = field(default_factory=Memory)

    def called(self) -> list[list[str]]:
        return [[call.name for call in calls] for calls in self.rounds]


async def reply_of(messages: list[MessageParam], tools: Sequence[ToolParam] = (), **other: Any) -> Any:
    """Return the offline model's message."""
    prompt: Any = {
        "model": "offline",
        "max_tokens": 4096,
        "messages": messages,
        "tools": list(tools),
        **other,
    }
    asked: Prompt = prompt
    return await OfflineModel().reply(asked, lambda text: None, lambda headers: None)


async def ask(
    question: str, tools: tuple[OfferedTool, ...], rounds_max: int = 6, tokens_max: int = TOKENS_MAX
) -> Asked:
    """Run rounds until the model stops asking for tools; the last round offers none."""
    asked = Asked(question)
    index = SessionIndex(question, tokens_max)
    by_name = {tool.name: tool for tool in tools}
    for number in range(1, rounds_max + 1):
        briefing = index.briefing(number, rounds_max).text
        asked.briefings.append(briefing)
        asked.memory = index.memory
        offered = [tool.as_parameter() for tool in tools] if number < rounds_max else []
        message = await reply_of([{"role": "user", "content": briefing}], offered)
        text = "".join(block.text for block in message.content if block.type == "text")
        uses = [block for block in message.content if block.type == "tool_use"]
        if not uses:
            asked.answer = text
            return asked
        assert message.stop_reason == "tool_use"
        calls = [ToolCall(id=use.id, name=use.name, arguments=dict(use.input)) for use in uses]
        asked.rounds.append(calls)
        _file(index, number, text, calls, by_name)
    raise AssertionError(f"The last round has no tools and still asked for some: {asked.rounds[-1]}")


def _file(
    index: SessionIndex, number: int, text: str, calls: list[ToolCall], by_name: Mapping[str, OfferedTool]
) -> None:
    results = tuple(run_call(index, call, by_name[call.name]) for index, call in enumerate(calls))
    reasoning = ReasoningCompleted(
        round=number, text=text, tool_calls=tuple(calls), stop_reason="tool_use", model="offline"
    )
    index.file(reasoning, ToolsCompleted(round=number, results=results))


def run_call(index: int, call: ToolCall, tool: OfferedTool) -> ToolResult:
    try:
        data = tool.function(**call.arguments)
    except Refused as refused:
        return ToolResult(index=index, call_id=call.id, tool=call.name, status="error", error=refused.error)
    return ToolResult(index=index, call_id=call.id, tool=call.name, status="ok", data=data)
