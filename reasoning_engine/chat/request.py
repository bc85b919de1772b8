"""From the parameters of a Messages API call to those of a chat completion. Pure.

One prompt is built and recorded for both wire formats; their requests differ only here. Cache breakpoints are
left out: servers of chat completions cache prompt prefixes by themselves.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from reasoning_engine.prompt import Prompt
from reasoning_engine.wires import name_at_server

ANSWER = "answer"
"""The name of the demanded schema; the API requires one."""


def chat_request(prompt: Prompt, limit_name: str) -> dict[str, Any]:
    """Return the parameters of `chat.completions.create`.

    `limit_name` is the name of the parameter that limits a reply's tokens.
    """
    messages_request: Mapping[str, Any] = prompt
    request: dict[str, Any] = {
        "model": name_at_server(prompt["model"]),
        limit_name: prompt["max_tokens"],
        "messages": [
            {"role": "system", "content": _text(messages_request["system"], "\n\n")},
            *(one for message in messages_request["messages"] for one in _messages(message)),
        ],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if tools := messages_request.get("tools"):
        request["tools"] = list(map(_tool, tools))
        if choice := messages_request.get("tool_choice"):
            request["tool_choice"] = _choice(choice)
    if config := messages_request.get("output_config"):
        shape = {"name": ANSWER, "schema": config["format"]["schema"]}
        request["response_format"] = {"type": "json_schema", "json_schema": shape}
    return request


def _messages(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the messages that replace one message: each tool result becomes a message, before the text."""
    content = message["content"]
    if isinstance(content, str):
        yield {"role": message["role"], "content": content}
        return
    uses = [block for block in content if block["type"] == "tool_use"]
    for block in content:
        if block["type"] == "tool_result":
            yield {
                "role": "tool",
                "tool_call_id": block["tool_use_id"],
                "content": _text(block.get("content") or ""),
            }
    text = _text(block for block in content if block["type"] == "text")
    if uses:
        yield {"role": "assistant", "content": text or None, "tool_calls": list(map(_call, uses))}
    elif text:
        yield {"role": message["role"], "content": text}


def _text(content: str | Iterable[Mapping[str, Any]], between: str = "\n") -> str:
    return content if isinstance(content, str) else between.join(block["text"] for block in content)


def _call(use: Mapping[str, object]) -> dict[str, Any]:
    arguments = json.dumps(use["input"], ensure_ascii=False)
    return {"id": use["id"], "type": "function", "function": {"name": use["name"], "arguments": arguments}}


def _tool(tool: Mapping[str, object]) -> dict[str, Any]:
    function = {
        "name": tool["name"],
        "description": tool.get("description", ""),
        "parameters": tool["input_schema"],
    }
    return {"type": "function", "function": function}


def _choice(choice: Mapping[str, Any]) -> Any:
    if choice["type"] == "tool":
        return {"type": "function", "function": {"name": choice["name"]}}
    return {"any": "required"}.get(choice["type"], choice["type"])
