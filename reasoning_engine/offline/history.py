"""A conversation of `antiphon.linear`, with calls and results, converted to a briefing, which the rules read. Pure.

The first user message is the question, the tools' results are the facts, and the calls are the tried ones.
"""

import json
from typing import Any

from antiphon_shared.text.fence import fence


def as_briefing(messages: list[Any]) -> str | None:
    """Return the briefing with the messages' content, or None if they hold no result of a tool.

    A result is its outcome, such as `ok: F1-F9`, and below it the facts with their ids, as in a briefing.
    """
    facts: list[str] = []
    tried: list[str] = []
    calls: dict[str, str] = {}
    for index, message in enumerate(messages):
        for block in message["content"] if isinstance(message["content"], list) else ():
            if block["type"] == "tool_use":
                written = " ".join(json.dumps(block["input"], ensure_ascii=False).split())
                call = fence(f"{block['name']} {written}")
                calls[block["id"]] = f"- round {(index + 1) // 2}: {call}"
            elif block["type"] == "tool_result":
                outcome, _, below = texts_of(block["content"]).partition("\n")
                tried.append(f"{calls[block['tool_use_id']]} -> {outcome}")
                (facts if outcome.startswith("ok") else tried).append(below)
    if not tried:
        return None
    question = texts_of(messages[0]["content"]).strip()
    return "\n".join(["# Question", question, "", "# Facts", *facts, "", "# Tools tried", *tried])


def texts_of(content: Any) -> str:
    """Return the texts of a message or a result, one below the other."""
    if isinstance(content, str):
        return content
    return "\n".join(block["text"] for block in content if block["type"] == "text")
