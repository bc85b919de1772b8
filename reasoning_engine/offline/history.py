"""A conversation with tool calls and results, converted to a briefing, which the rules read. Pure.

So a client that sends the whole history gets the same answers: the first user message is the question, the
tools' results are the facts, and the calls are the tried ones.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from antiphon_shared.text.fence import CLOSING, fence, opening

_FENCE = "<result "


@dataclass
class _Read:
    """The content read from a history."""

    question: str = ""
    facts: list[str] = field(default_factory=list)
    tried: list[str] = field(default_factory=list)
    uses: dict[str, tuple[int, str, Any]] = field(default_factory=dict)
    """The round, the tool and the arguments of each call, by the call's id."""
    numbered: int = 0
    """The number of results without ids of their facts, which have one fact each."""


def as_briefing(messages: list[Any]) -> str | None:
    """Return the briefing with the messages' content, or None if they hold no result of a tool.

    A result may hold its facts by id, below a line such as `ok: F1-F9`, as in a briefing. Any other result is
    one fact: JSON where it can be parsed, else text.
    """
    read, round = _Read(), 0
    for message in messages:
        if not isinstance(message, dict):
            continue
        blocks = list(_blocks(message.get("content")))
        if message.get("role") == "assistant":
            round += 1
            for use in blocks:
                if use.get("type") == "tool_use" and isinstance(use.get("name"), str):
                    read.uses[str(use.get("id"))] = (round, use["name"], use.get("input"))
        elif message.get("role") == "user":
            read.question = read.question or "\n".join(_texts(blocks)).strip()
            for block in blocks:
                if block.get("type") == "tool_result":
                    _take_in(read, block)
    if not read.tried:
        return None
    facts, tried = "\n".join(read.facts), "\n".join(read.tried)
    return f"# Question\n{read.question}\n\n# Facts\n{facts}\n\n# Tools tried\n{tried}"


def _take_in(read: _Read, block: dict[str, Any]) -> None:
    """Add one result: its facts, and the call that it answers."""
    id = str(block.get("tool_use_id"))
    round, name, arguments = read.uses.get(id, (0, "unknown", {}))
    came, _, below = "\n".join(_texts(_blocks(block.get("content")))).partition("\n")
    if not below.startswith(_FENCE) and not (came.startswith("ok: ") and not below):
        text = fence(f"{came}\n{below}".strip())
        if block.get("is_error") is True:
            came, below = "error", f"{opening(id, name, round, True)}\n  {text}\n{CLOSING}"
        elif text:
            read.numbered += 1
            came = f"ok: F{read.numbered}"
            below = f"{opening(id, name, round, True)}\nF{read.numbered} {text}\n{CLOSING}"
        else:
            came, below = "ok: found nothing", ""
    written = " ".join(json.dumps(arguments, ensure_ascii=False).split())
    line = f"- round {round}: {fence(f'{name} {written} -> {came}')}"
    if came.startswith("ok"):
        read.facts.append(below)
        read.tried.append(line)
    else:
        read.tried.append(f"{line}\n{below}")


def _blocks(content: Any) -> Iterator[dict[str, Any]]:
    if isinstance(content, str):
        yield {"type": "text", "text": content}
    elif isinstance(content, list):
        yield from (block for block in content if isinstance(block, dict))


def _texts(blocks: Any) -> Iterator[str]:
    return (block["text"] for block in blocks if isinstance(block.get("text"), str))
