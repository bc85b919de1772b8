"""The Messages API's JSON, as far as the offline model needs it: requests read, replies written. Pure."""

import hashlib
import re
from typing import Any

import orjson
from antiphon_shared.text.tokens import estimate_tokens

from reasoning_engine.offline.demand import read_demand, takes_answer
from reasoning_engine.offline.history import as_briefing, texts_of
from reasoning_engine.offline.reasoner import Reply, Request
from reasoning_engine.offline.schema import Tool

MODEL = "offline"
_CHUNK = re.compile(r"\s*\S{1,60}(?:\s+\S{1,60}){0,5}\s*", re.DOTALL)


def read_request(body: dict[str, Any]) -> Request:
    """Return the last user message and the tools of a request; a history with results of tools is read whole."""
    text = as_briefing(body["messages"]) or texts_of(body["messages"][-1].get("content"))
    are_tools_disabled = (body.get("tool_choice") or {}).get("type") == "none"
    tools = tuple(
        Tool(tool["name"], tool.get("description", ""), tool["input_schema"])
        for tool in body.get("tools") or ()
        if "input_schema" in tool and not are_tools_disabled
    )
    demand = read_demand(body, tools, text)
    return Request(text, tuple(tool for tool in tools if not takes_answer(tool)), demand)


def message(body: dict[str, Any], request: Request, reply: Reply) -> dict[str, Any]:
    """Return the whole reply as the API's message object."""
    content: list[dict[str, Any]] = [{"type": "text", "text": reply.text}] if reply.text else []
    content += [
        {"type": "tool_use", "id": use.id, "name": use.name, "input": use.input} for use in reply.tool_uses
    ]
    digest = hashlib.sha256(
        request.text.encode(errors="replace") + reply.text.encode(errors="replace")
    ).hexdigest()
    written = orjson.dumps([use.input for use in reply.tool_uses]).decode() if reply.tool_uses else ""
    return {
        "id": f"msg_offline_{digest[:20]}",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": content,
        "stop_reason": "tool_use" if reply.tool_uses else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": _input_tokens(body, request),
            "output_tokens": max(1, estimate_tokens(reply.text + written)),
        },
    }


def chunks(text: str) -> list[str]:
    """Return the text in pieces of a few words; together they are the text."""
    pieces = _CHUNK.findall(text)
    return pieces if "".join(pieces) == text else [text]


def _input_tokens(body: dict[str, Any], request: Request) -> int:
    rest = orjson.dumps([body.get("system"), body.get("tools")], default=str).decode()
    messages = body["messages"]
    text = orjson.dumps(messages, default=str).decode() if len(messages) > 1 else request.text
    return estimate_tokens(text) + estimate_tokens(rest)
