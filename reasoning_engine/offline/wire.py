"""The Messages API's JSON, as far as the offline model needs it: requests read, replies written. Pure."""

import hashlib
import re
from bisect import bisect_right
from typing import Any

import orjson
from antiphon_shared.process.errors import AntiphonError
from antiphon_shared.text.tokens import estimate_tokens

from reasoning_engine.offline.demand import read_demand, takes_answer
from reasoning_engine.offline.history import as_briefing
from reasoning_engine.offline.reasoner import SIGNATURE, Reply, Request
from reasoning_engine.offline.schema import Tool

MODEL = "offline"
_CHUNK = re.compile(r"\s*\S{1,60}(?:\s+\S{1,60}){0,5}\s*", re.DOTALL)


class InvalidRequest(AntiphonError):
    """The request body is not one that the Messages API defines."""

    code = "invalid_request_error"


def read_request(body: Any) -> Request:
    """Return the last user message and the tools of a request. Raises InvalidRequest, which names the field.

    A history with results of tools is read whole: see history.py.
    """
    if not isinstance(body, dict):
        raise InvalidRequest(
            "body: expected a JSON object.", hint="Send the fields model, max_tokens and messages."
        )
    if not isinstance(body.get("model"), str):
        raise InvalidRequest("model: expected a string.", hint="Any model id will do here.")
    limit = body.get("max_tokens")
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
        raise InvalidRequest("max_tokens: expected an integer of at least 1.", hint="1024 is a usual value.")
    text = _last_user_text(body.get("messages"))
    tools = _tools(body.get("tools"), body.get("tool_choice"))
    demand = read_demand(body, tools, text)
    return Request(text, tuple(tool for tool in tools if not takes_answer(tool)), demand)


def message(body: dict[str, Any], request: Request, reply: Reply) -> dict[str, Any]:
    """Return the whole reply as the API's message object. Text beyond `max_tokens` is cut, like a model's."""
    text, cut = _within(reply.text, body["max_tokens"])
    content: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
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
        "stop_reason": "max_tokens" if cut else "tool_use" if reply.tool_uses else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": _input_tokens(body, request),
            "output_tokens": max(1, estimate_tokens(text + written)),
        },
    }


def chunks(text: str) -> list[str]:
    """Return the text in pieces of a few words; together they are the text."""
    pieces = _CHUNK.findall(text)
    return pieces if "".join(pieces) == text else [text]


def _within(text: str, tokens_max: int) -> tuple[str, bool]:
    """Return the text cut to that number of tokens, with the signature if it fits; and whether it was cut."""
    if estimate_tokens(text) <= tokens_max:
        return text, False
    signed = "…\n\n" + SIGNATURE
    room = tokens_max - estimate_tokens(signed)
    if text.endswith(SIGNATURE) and room > 0:
        return _beginning(text, room) + signed, True
    return _beginning(text, tokens_max), True


def _beginning(text: str, tokens_max: int) -> str:
    ends = range(1, len(text) + 1)
    return text[: bisect_right(ends, tokens_max, key=lambda end: estimate_tokens(text[:end]))]


def _last_user_text(messages: Any) -> str:
    if not isinstance(messages, list) or not messages:
        raise InvalidRequest("messages: expected at least one message.", hint="Send one with the role user.")
    last = messages[-1]
    if not isinstance(last, dict) or last.get("role") != "user":
        raise InvalidRequest(
            f"messages.{len(messages) - 1}.role: expected `user`.", hint="End with the user's message."
        )
    if (history := as_briefing(messages)) is not None:
        return history
    content = last.get("content")
    if isinstance(content, str):
        text = content
    elif isinstance(content, list):
        blocks = [block for block in content if isinstance(block, dict)]
        text = "\n".join(block["text"] for block in blocks if isinstance(block.get("text"), str))
    else:
        text = ""
    if not text.strip():
        raise InvalidRequest(
            f"messages.{len(messages) - 1}.content: expected text.", hint="Send the briefing as text."
        )
    return text


def _tools(tools: Any, choice: Any) -> tuple[Tool, ...]:
    """Return the tools with a schema of their own; an empty tuple when the request forbids their use."""
    if tools is None or (isinstance(choice, dict) and choice.get("type") == "none"):
        return ()
    if not isinstance(tools, list):
        raise InvalidRequest("tools: expected a list.", hint="Leave it out when there are no tools.")
    found = []
    for index, tool in enumerate(tools):
        if not isinstance(tool, dict) or not isinstance(tool.get("name"), str) or not tool["name"]:
            raise InvalidRequest(f"tools.{index}.name: expected a string.", hint="Name every tool.")
        schema, said = tool.get("input_schema"), tool.get("description")
        if isinstance(schema, dict):
            found.append(Tool(tool["name"], said if isinstance(said, str) else "", schema))
    return tuple(found)


def _input_tokens(body: dict[str, Any], request: Request) -> int:
    rest = orjson.dumps([body.get("system"), body.get("tools")], default=str).decode()
    messages = body["messages"]
    text = orjson.dumps(messages, default=str).decode() if len(messages) > 1 else request.text
    return estimate_tokens(text) + estimate_tokens(rest)
