"""Failures of calls to the model: their codes, the remedy for each, and the meaning of a server's error. Pure.

model_errors.py classifies the SDKs' exceptions; this file does not import an SDK, which takes long.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Literal

from antiphon_shared.process.errors import ErrorInfo
from antiphon_shared.redaction.redactor import WELL_KNOWN

from reasoning_engine.wires import Wire

Code = Literal[
    "rate_limited",
    "overloaded",
    "server_error",
    "timeout",
    "connection_failed",
    "empty_reply",
    "unreadable_reply",
    "invalid_request",
    "authentication_failed",
    "permission_denied",
    "model_not_found",
    "context_too_long",
    "circuit_open",
]

WHAT_TO_DO: dict[Code, str] = {
    "rate_limited": "Wait, or have the account's limits raised; docs/limits.md.",
    "overloaded": "Try again later.",
    "server_error": "Try again later.",
    "timeout": "Try again, or raise ANTIPHON_REASONING_ENGINE_REQUEST_TIMEOUT_S or the query's deadline_s.",
    "connection_failed": "Check the network and ANTHROPIC_BASE_URL.",
    "empty_reply": "Ask the question in other words.",
    "unreadable_reply": "Check that ANTHROPIC_BASE_URL names a server that speaks the Messages API.",
    "invalid_request": "Check the tools' schemas and ANTIPHON_MODEL.",
    "authentication_failed": "Check ANTHROPIC_API_KEY.",
    "permission_denied": "Check what the account of ANTHROPIC_API_KEY may use, and its credit.",
    "model_not_found": "Check ANTIPHON_MODEL, the query's model, and that ANTHROPIC_BASE_URL has no /v1.",
    "context_too_long": "Lower ANTIPHON_CONTEXT_SYNTHESIZER_BRIEFING_TOKENS, or offer fewer tools.",
    "circuit_open": "Try again after that, or name models to fall back to in ANTIPHON_MODELS.",
}
WHAT_TO_DO_CHAT: dict[Code, str] = WHAT_TO_DO | {
    "connection_failed": "Check the network and OPENAI_BASE_URL.",
    "unreadable_reply": "Check that OPENAI_BASE_URL names a server that speaks chat completions.",
    "authentication_failed": "Check OPENAI_API_KEY, and OPENAI_BASE_URL where the server is not OpenAI's.",
    "permission_denied": "Check what the account of OPENAI_API_KEY may use, and its credit.",
    "model_not_found": "Check ANTIPHON_MODEL, the query's model, and that OPENAI_BASE_URL ends as the server has it, "
    "usually in /v1.",
}
"""For models of chat completions."""
_RETRYABLE: frozenset[Code] = frozenset(
    {
        "rate_limited",
        "overloaded",
        "server_error",
        "timeout",
        "connection_failed",
        "unreadable_reply",
        "circuit_open",
    }
)
_BY_STATUS: dict[int, Code] = {
    401: "authentication_failed",
    402: "permission_denied",
    403: "permission_denied",
    404: "model_not_found",
    408: "timeout",
    409: "server_error",  # a lock conflict, which passes
    413: "context_too_long",
    429: "rate_limited",
    504: "timeout",
    529: "overloaded",
}
_BY_TYPE: dict[str, Code] = {
    "authentication_error": "authentication_failed",
    "billing_error": "permission_denied",
    "permission_error": "permission_denied",
    "not_found_error": "model_not_found",
    "request_too_large": "context_too_long",
    "rate_limit_error": "rate_limited",
    "timeout_error": "timeout",
    "api_error": "server_error",
    "overloaded_error": "overloaded",
}
"""For errors inside a stream, whose status is 200."""
_BY_TYPE_CHAT: dict[str, Code] = _BY_TYPE | {
    "server_error": "server_error",
    "service_unavailable_error": "overloaded",
    "unavailable_error": "overloaded",
    "rate_limit_exceeded": "rate_limited",
    "requests": "rate_limited",
    "tokens": "rate_limited",
    "insufficient_quota": "permission_denied",
    "exceed_context_size_error": "context_too_long",
    "BadRequestError": "invalid_request",
    "NotFoundError": "model_not_found",
    "InternalServerError": "server_error",
    "invalid_request_error": "invalid_request",
}
"""The error names of chat completions, from OpenAI, vLLM and llama.cpp."""
_SPENT = ("contract_spend_limit_reached", "enforced_spend_limit_reached")
"""Error codes with status 429 for which a later retry fails too."""
_QUOTA, _CONTEXT_LENGTH = "insufficient_quota", "context_length_exceeded"
"""Error codes of chat completions: the first has status 429 and fails again later, the second has status 400."""
_TOO_LONG = ("prompt is too long", "exceed context limit", "context window")
_TOO_LONG_CHAT = (*_TOO_LONG, "maximum context length", "context size", "context length")
_OF_SCHEMA = re.compile(
    r"(?!tools\.).*(?:output_config|output_format|grammar|schema)", re.IGNORECASE | re.DOTALL
)
"""Matches the Messages API's messages about `output_config`, which may call it a tool's schema; excludes
those about a tool by its index.
"""
_MESSAGE_CHARACTERS_MAX = 500
_RETRY_AFTER_MAX_S = 86_400.0


@dataclass(frozen=True, slots=True)
class Failure:
    """One classified failure."""

    error: ErrorInfo
    retry_after_s: float | None = None
    """The wait that the server asks for, in seconds."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """The headers of the server's response, if there is one."""
    is_of_schema: bool = False
    """Whether the server refuses the schema that the answer must fit."""


class Failed(Exception):
    """A call that failed, classified."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.error.message)
        self.failure = failure


def failure(
    code: Code,
    what: str,
    *,
    is_retryable: bool | None = None,
    retry_after_s: float | None = None,
    wire: Wire = "messages",
) -> Failure:
    """Return a failure with a message: what happened, and what to do next."""
    message = WELL_KNOWN.text(what)  # a server may quote the key it refuses
    what = message[:_MESSAGE_CHARACTERS_MAX].encode(errors="replace").decode().rstrip(". ")
    retryable = code in _RETRYABLE if is_retryable is None else is_retryable
    what_to_do = (WHAT_TO_DO_CHAT if wire == "chat" else WHAT_TO_DO)[code]
    info = ErrorInfo(code=code, message=f"{what}. {what_to_do}", retryable=retryable)
    return Failure(info, retry_after_s)


def server_failure(status: int, headers: Mapping[str, str], body: object, wire: Wire = "messages") -> Failure:
    """Return the meaning of a server's error; `headers` have lower-case names, `body` is JSON or text."""
    if wire == "chat":
        return _of_chat_answer(status, headers, body)
    kind, message = _in_body(body, "error", "type"), _in_body(body, "error", "message")
    message = message if isinstance(message, str) else ""
    code = _code(status, _by_type(kind) or "invalid_request")
    if _in_body(body, "error", "details", "error_code") in _SPENT:
        code = "permission_denied"
    if code == "invalid_request" and any(words in message.lower() for words in _TOO_LONG):
        code = "context_too_long"
    classified = _server_failure(code, kind, message, status, headers, "messages")
    is_of_schema = code == "invalid_request" and status == 400 and bool(_OF_SCHEMA.match(message))
    return replace(classified, is_of_schema=is_of_schema and not classified.error.retryable)


def _of_chat_answer(status: int, headers: Mapping[str, str], body: object) -> Failure:
    """Classify an error of chat completions: OpenAI's format, which other servers follow more or less."""
    kind, message, name = (_in_body(body, "error", key) for key in ("type", "message", "code"))
    message = message if isinstance(message, str) else body if isinstance(body, str) else ""
    if status < 400 and isinstance(name, int) and 400 <= name < 600:  # within a stream, whose status was 200
        status = name
    names = [one for one in (name, kind) if isinstance(one, str)]
    by_name = next((_BY_TYPE_CHAT[one] for one in names if one in _BY_TYPE_CHAT), None)
    code = "permission_denied" if _QUOTA in names else _code(status, by_name or "server_error")
    if code == "invalid_request" and (
        _CONTEXT_LENGTH in names or any(words in message.lower() for words in _TOO_LONG_CHAT)
    ):
        code = "context_too_long"
    return _server_failure(code, kind or name, message, status, headers, "chat")


def _code(status: int, by_name: Code) -> Code:
    """Return the code of an error by its status, else by its name in the body.

    A status shows more reliably than a name whether the same request would fail again.
    """
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if 400 <= status < 500 and by_name == "server_error":
        return "invalid_request"
    return "server_error" if status >= 500 and by_name == "invalid_request" else by_name


def _server_failure(
    code: Code, kind: object, message: str, status: int, headers: Mapping[str, str], wire: Wire
) -> Failure:
    problem = f"The model's server answered with {kind or f'status {status}'}"
    should_retry = {"true": True, "false": False}.get(headers.get("x-should-retry", ""))
    classified = failure(
        code,
        f"{problem}: {message}" if message else problem,
        is_retryable=should_retry if status >= 400 else None,
        retry_after_s=_retry_after_s(headers),
        wire=wire,
    )
    return replace(classified, headers=headers)


def _in_body(body: object, *path: str) -> object:
    """Return the value at a path in an error's body; None if its shape differs."""
    for key in path:
        body = body.get(key) if isinstance(body, Mapping) else None
    return body


def _by_type(kind: object) -> Code | None:
    return _BY_TYPE.get(kind) if isinstance(kind, str) else None


def _retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of `retry-after-ms` or `retry-after`; a date in it counts from the reply's own date."""
    for name, seconds in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            wait_s = float(headers[name]) * seconds
        except (KeyError, ValueError):
            continue
        return min(wait_s, _RETRY_AFTER_MAX_S) if isfinite(wait_s) and wait_s >= 0 else None
    try:
        until, now = parsedate_to_datetime(headers["retry-after"]), parsedate_to_datetime(headers["date"])
        return min(max(0.0, (until - now).total_seconds()), _RETRY_AFTER_MAX_S)
    except (KeyError, ValueError, TypeError, OverflowError):
        return None
