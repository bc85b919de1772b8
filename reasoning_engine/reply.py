"""From the SDK's Message to our reply. Pure, and total: it accepts any message.

The SDK hardly checks a server's reply, so no value is assumed to have its declared type.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING, Any

from antiphon_shared.events import StopReason
from antiphon_shared.tools.calls import ToolCall
from antiphon_shared.values import Usage

if TYPE_CHECKING:
    from anthropic.types import Message

_STOP_REASONS: dict[str, StopReason] = {
    "end_turn": "end_turn",
    "stop_sequence": "end_turn",
    "tool_use": "tool_use",
    "max_tokens": "max_tokens",
    "refusal": "refusal",
    "model_context_window_exceeded": "context_window",
}
_CUT_OFF: tuple[StopReason, ...] = ("max_tokens", "context_window")
_ID_CHARACTERS_MAX = 180
_NAME_CHARACTERS_MAX = 200
_DEPTH_MAX = 64
"""Far below the limit for events, whose depth includes the levels around the arguments."""
_INTEGER_BITS_MAX = 1024
_KINDS = {dict: "an object", list: "a list", str: "text", bool: "a truth value", type(None): "nothing"}


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply of the model."""

    text: str
    tool_calls: tuple[ToolCall, ...]
    stop_reason: StopReason
    model: str
    usage: Usage
    refused: tuple[str, ...] = ()
    """The reasons why the reply is refused, a sentence each: it lacks the form that the prompt demands."""
    is_paused: bool = False
    """Whether the model paused, and continues when the same call is made again with its text so far."""

    @property
    def is_empty(self) -> bool:
        """Return whether it has neither text nor tool calls, although it ended normally."""
        is_silent = not self.text.strip() and not self.tool_calls
        return is_silent and self.stop_reason in ("end_turn", "tool_use")


def parse(message: "Message") -> Reply:
    """Return the reply in `message`, without its cost.

    A tool call at the end of a truncated reply is dropped: its arguments may be incomplete. A refused reply
    has no tool calls. An unknown stop reason counts as a normal end.
    """
    content: list[Any] = message.content if isinstance(message.content, list) else []
    reason = message.stop_reason if isinstance(message.stop_reason, str) else ""
    text = _text(content)
    if reason == "refusal":
        text = text or _string(getattr(getattr(message, "stop_details", None), "explanation", None))
        content = []
    stop_reason = _STOP_REASONS.get(reason)
    if stop_reason in _CUT_OFF and content and _type(content[-1]) == "tool_use":
        content = content[:-1]
    calls = _tool_calls(block for block in content if _type(block) == "tool_use")
    return Reply(
        text=text,
        tool_calls=calls,
        stop_reason=stop_reason or ("tool_use" if calls else "end_turn"),
        model=_string(getattr(message, "model", None))[:_NAME_CHARACTERS_MAX],
        usage=usage_of(message),
        is_paused=reason == "pause_turn" and bool(content) and not calls,
    )


def join_replies(before: Reply, after: Reply) -> Reply:
    """Return a paused reply and its continuation as one reply; it is paused if the continuation is."""
    return replace(after, text=before.text + after.text)


def unfinished(reply: Reply) -> Reply:
    """Return a reply that paused too often as a truncated one."""
    return replace(reply, stop_reason="max_tokens", is_paused=False)


def usage_of(message: "Message") -> Usage:
    """Return the usage of a message, complete or not."""
    usage = getattr(message, "usage", None)
    return Usage.trusted(
        input_tokens=_count(usage, "input_tokens"),
        output_tokens=_count(usage, "output_tokens"),
        cache_read_tokens=_count(usage, "cache_read_input_tokens"),
        cache_write_tokens=_count(usage, "cache_creation_input_tokens"),
        cost_usd=None,
    )


def _text(content: list[Any]) -> str:
    """Return all text; adjacent text blocks are joined, others become paragraphs."""
    parts: list[str] = []
    is_apart = False
    for block in content:
        if _type(block) != "text":
            is_apart = bool(parts)
            continue
        text = _string(getattr(block, "text", None))
        if text:
            parts.append(f"\n\n{text}" if is_apart else text)
            is_apart = False
    return "".join(parts)


def _tool_calls(blocks: Iterable[Any]) -> tuple[ToolCall, ...]:
    calls: list[ToolCall] = []
    taken: set[str] = set()
    for block in blocks:
        call_id = _unique(_string(getattr(block, "id", None))[:_ID_CHARACTERS_MAX] or "call", taken)
        taken.add(call_id)
        arguments = getattr(block, "input", None)
        problem = _problem(arguments)
        calls.append(
            ToolCall(
                id=call_id,
                name=_string(getattr(block, "name", None))[:_NAME_CHARACTERS_MAX],
                arguments={} if problem or not isinstance(arguments, dict) else arguments,
                problem=problem,
            )
        )
    return tuple(calls)


def _problem(arguments: object) -> str | None:
    """Return why the arguments cannot be used, as a sentence for the model that wrote them."""
    if not isinstance(arguments, dict):
        kind = _KINDS.get(type(arguments), "a number")
        return f"The arguments came as {kind}; they must be one whole JSON object."
    fault = _fault(arguments, _DEPTH_MAX)
    return f"The arguments hold {fault}." if fault else None


def _fault(value: object, depth_left: int) -> str | None:
    """Return the part of a value that JSON cannot hold, in words, or None."""
    if depth_left == 0:
        return f"more than {_DEPTH_MAX} levels of lists and objects; flatten them"
    match value:
        case str():
            return None if _is_unicode(value) else "half a surrogate pair; write the whole character"
        case None | bool():
            return None
        case int():
            is_small = value.bit_length() <= _INTEGER_BITS_MAX
            return None if is_small else "an integer that is too large; write it as text"
        case float():
            return None if isfinite(value) else "a number that JSON lacks; use a finite one"
        case list():
            faults = (_fault(item, depth_left - 1) for item in value)
        case dict():
            faults = (_fault(item, depth_left - 1) for pair in value.items() for item in pair)
        case _:
            return "something that is not JSON"
    return next(filter(None, faults), None)


def _unique(call_id: str, taken: set[str]) -> str:
    if call_id not in taken:
        return call_id
    number = 2
    while f"{call_id}_{number}" in taken:
        number += 1
    return f"{call_id}_{number}"


def _type(block: object) -> object:
    return getattr(block, "type", None)


def _string(value: object) -> str:
    """Return a text that can be encoded; empty for a value that is not text."""
    if not isinstance(value, str):
        return ""
    return value if _is_unicode(value) else value.encode(errors="replace").decode()


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _count(usage: object, name: str) -> int:
    value = getattr(usage, name, None)
    return value if isinstance(value, int) and 0 <= value < 1 << 53 else 0
