"""A model with the replies of a test, behind the Anthropic SDK, within the process.

scripted_model.calls("search", q="lamps").and_calls("look_up", what="mast")   # the first reply
scripted_model.fails(529).says("It is 27 metres high [F1].")                  # the next call fails; the last reply

The SDK is imported when a pipeline needs the model, which is not the case for an answer from a recording.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import httpx2
import orjson
from antiphon_shared.values import JsonObject

from antiphon.replay.serving.messages import error_body, message_events

if TYPE_CHECKING:
    from reasoning_engine.model import AnthropicModel

_ID = "msg_scripted_"
_URL = "https://scripted.invalid"
_ERRORS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}
_MESSAGE_CHARACTERS_MAX = 500


@dataclass
class _Reply:
    """A reply of the script, or an error if `status` is not 200."""

    text: str = ""
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    stop_reason: str = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


class ScriptedModel:
    """A model whose replies a test defines in advance, one for each request."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        """The requests so far, as parameters of the Messages API."""
        self.unexpected: list[str] = []
        """The requests without a reply in the script."""
        self._replies: list[_Reply] = []
        self._replied = 0

    @property
    def left(self) -> int:
        """Return the number of unused replies."""
        return len(self._replies)

    def says(self, text: str, *, stop_reason: str = "") -> Self:
        """Add a reply with text; `stop_reason` is `end_turn` by default."""
        self._replies.append(_Reply(text=text, stop_reason=stop_reason))
        return self

    def calls(self, tool: str, /, **arguments: Any) -> Self:
        """Add a reply that calls a tool."""
        self._replies.append(_Reply(calls=[(tool, arguments)]))
        return self

    def and_calls(self, tool: str, /, **arguments: Any) -> Self:
        """Add a call of a tool to the last reply."""
        if not self._replies or self._replies[-1].status != 200:
            raise ValueError("no reply exists to add a call to; begin with `says` or `calls`.")
        self._replies[-1].calls.append((tool, arguments))
        return self

    def fails(self, status: int, text: str = "scripted", **headers: str) -> Self:
        """Add an error in place of a reply: 529 overloaded, 429 with retry_after="1", 500, ..."""
        if not 400 <= status <= 599:
            raise ValueError(f"{status} is not an error status; use 400 to 599.")
        http_headers = {name.replace("_", "-"): value for name, value in headers.items()}
        self._replies.append(_Reply(text=text, status=status, headers=http_headers))
        return self

    @property
    def script(self) -> list[dict[str, Any]]:
        """Return the unused replies in the form of `scripted_reply`."""
        return [
            scripted_reply(_message(reply, 0, "")) if reply.status == 200 else {"status": reply.status}
            for reply in self._replies
        ]

    def answered(self, requests: Sequence[dict[str, Any]]) -> None:
        """Count recorded requests as made and answered."""
        self.requests += requests
        del self._replies[: len(requests)]

    def model(self) -> AnthropicModel:
        """Return the model for a pipeline."""
        from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient

        from reasoning_engine.model import AnthropicModel

        transport = httpx2.MockTransport(lambda request: self.answer(orjson.loads(request.content)))
        client = DefaultAsyncHttpxClient(transport=transport)
        return AnthropicModel(
            AsyncAnthropic(api_key="scripted", base_url=_URL, max_retries=0, http_client=client)
        )

    def answer(self, body: JsonObject) -> httpx2.Response:
        """Return the reply to one request."""
        self.requests.append(body)
        if not self._replies:
            messages = orjson.dumps(body.get("messages")).decode()[-_MESSAGE_CHARACTERS_MAX:]
            self.unexpected.append(
                f"The scripted model received {len(self.requests)} requests, more than it has "
                f"replies. The last request ends: {messages}"
            )
            return _failed(400, "the script has no reply to this request", {})
        reply = self._replies.pop(0)
        if reply.status != 200:
            return _failed(reply.status, reply.text, reply.headers)
        self._replied += 1
        message = _message(reply, self._replied, str(body.get("model")))
        headers = {"content-type": "text/event-stream; charset=utf-8"}
        return httpx2.Response(200, headers=headers, content=message_events(message))


def is_scripted(message: Mapping[str, object]) -> bool:
    """Return whether a message of the Messages API comes from a scripted model."""
    return str(message.get("id", "")).startswith(_ID)


def scripted_reply(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of a message that a script decides."""
    content = message.get("content") or ()
    return {
        "text": "".join(part.get("text", "") for part in content if part.get("type") == "text"),
        "calls": [
            {"tool": part.get("name"), "arguments": part.get("input")}
            for part in content
            if part.get("type") == "tool_use"
        ],
        "stop_reason": message.get("stop_reason"),
    }


def _failed(status: int, text: str, headers: dict[str, str]) -> httpx2.Response:
    body = error_body(_ERRORS.get(status, "api_error"), text)
    return httpx2.Response(status, headers={"content-type": "application/json", **headers}, content=body)


def _message(reply: _Reply, number: int, model: str) -> dict[str, Any]:
    text = [{"type": "text", "text": reply.text}] if reply.text else []
    uses = [
        {"type": "tool_use", "id": f"toolu_{number}_{position}", "name": name, "input": arguments}
        for position, (name, arguments) in enumerate(reply.calls, 1)
    ]
    return {
        "id": f"{_ID}{number}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [*text, *uses],
        "stop_reason": reply.stop_reason or ("tool_use" if uses else "end_turn"),
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 20},
    }
