"""A reasoning engine whose model replies at once: two calls in each round before the last, then text.

A query that says `rounds=N` is answered after N rounds of tools, any other after two.
"""

import re

from anthropic.types import Message, TextBlock, ToolUseBlock, Usage
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.process.runner import main
from antiphon_shared.process.service import Service

from reasoning_engine.component import build
from reasoning_engine.port import OnHeaders, OnText
from reasoning_engine.prompt import Prompt

TOOL_ROUNDS = 2
REPLY = "The stub says what stubs say. " * 7
_ROUND = re.compile(r"Round (\d+) of")
_WANTED = re.compile(r"rounds=(\d+)")
_USAGE = Usage(input_tokens=100, output_tokens=50)


class StubModel:
    """Replies by the round's number alone."""

    async def reply(self, prompt: Prompt, on_text: OnText, on_headers: OnHeaders) -> Message:
        text = str(prompt["messages"][-1]["content"])
        rounds = _ROUND.findall(text)
        wanted = _WANTED.search(text)
        number = int(rounds[-1])
        on_text(REPLY)
        content: list[TextBlock | ToolUseBlock] = [TextBlock(type="text", text=REPLY)]
        is_last = number > (int(wanted[1]) if wanted else TOOL_ROUNDS)
        if not is_last:
            content += [
                ToolUseBlock(
                    type="tool_use", id=f"toolu_{number}_{n}", name="search", input={"q": f"stub {n}"}
                )
                for n in range(2)
            ]
        return Message(
            id="msg_stub",
            type="message",
            role="assistant",
            model="stub",
            content=content,
            stop_reason="end_turn" if is_last else "tool_use",
            stop_sequence=None,
            usage=_USAGE,
        )


def build_stubbed(bus: Bus) -> Service:
    """Build the reasoning engine with a stub in place of its model."""
    return build(bus, StubModel())


if __name__ == "__main__":
    main("reasoning_engine", build_stubbed)
