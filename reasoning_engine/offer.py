"""The tools that a model is offered, and the number of tokens in a prompt. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from antiphon_shared.text.tokens import estimate_tokens
from antiphon_shared.tools.calls import ToolDefinition
from pydantic_core import to_json

from reasoning_engine.prompt import Prompt, tool_params

if TYPE_CHECKING:
    from anthropic.types import ToolParam


@dataclass(frozen=True, slots=True)
class Offer:
    """The tools that a model is offered, in the API's form, and their tokens in a prompt."""

    tools: "list[ToolParam]"
    tokens: int
    """Estimated."""

    @classmethod
    def of(cls, tools: Iterable[ToolDefinition]) -> "Offer":
        params = tool_params(tools)
        return cls(params, estimate_tokens(to_json(params).decode()) if params else 0)


NO_TOOLS = Offer([], 0)


def tokens_of(prompt: Prompt) -> int:
    """Return the estimated tokens of a prompt's texts, without its tools."""
    fixed = sum(_tokens_of_fixed(block["text"]) for block in prompt["system"])
    return fixed + sum(estimate_tokens(str(message["content"])) for message in prompt["messages"])


@lru_cache(8)
def _tokens_of_fixed(text: str) -> int:
    """Return the estimated tokens of a text that does not change from call to call."""
    return estimate_tokens(text)
