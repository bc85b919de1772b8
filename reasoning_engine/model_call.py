"""The prompt of a round, with its tools and the demanded form of its answer, in the configured style. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from antiphon_shared.events import ReasoningRequested

from reasoning_engine.offer import Offer, tokens_of
from reasoning_engine.prompt import Prompt, build_prompt
from reasoning_engine.prompted import ToolStyle
from reasoning_engine.prompted.request import prompted
from reasoning_engine.shaped import OutputStyle, tokens_of_schema, with_demand


@dataclass(frozen=True, slots=True)
class CallOptions:
    """The way in which tools are offered, and the demands on the answer."""

    schema: dict[str, Any] | None = None
    validation_tools: Sequence[str] = ()
    output_style: OutputStyle = "auto"
    tool_style: ToolStyle = "native"

    def otherwise(self, prompt: Prompt) -> "CallOptions | None":
        """Return the fallback for a server that refuses the schema in `prompt`, or None."""
        is_native = self.output_style == "auto" and "output_config" in prompt
        return replace(self, output_style="tool") if is_native else None


def build_call(
    request: ReasoningRequested,
    briefing: str,
    offer: Offer,
    model_id: str,
    max_output_tokens: int,
    output: CallOptions,
    *,
    system: str | None = None,
) -> Prompt:
    """Return the call for one round; `system` is the operator's own prompt, which replaces the built-in one."""
    prompt = build_prompt(request, briefing, offer.tools, model_id, max_output_tokens, system)
    if output.tool_style == "prompted":
        return prompted(prompt, output.schema, output.validation_tools)
    if output.schema is None:
        return prompt
    return with_demand(prompt, output.schema, output.output_style, output.validation_tools)


def estimate_call_tokens(prompt: Prompt, offer: Offer, output: CallOptions) -> int:
    """Return the estimated number of tokens in the call."""
    if output.tool_style == "prompted":  # tools and schema are part of its texts
        return tokens_of(prompt)
    return tokens_of(prompt) + offer.tokens + tokens_of_schema(output.schema)
