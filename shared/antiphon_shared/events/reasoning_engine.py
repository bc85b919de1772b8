"""Events of the reasoning engine."""

from typing import ClassVar, Literal

from pydantic import Field

from antiphon_shared.events.base import Component, EventData
from antiphon_shared.formats import since
from antiphon_shared.process.errors import ErrorInfo
from antiphon_shared.tools.calls import ToolCall
from antiphon_shared.values import Round, Usage

StopReason = Literal["end_turn", "tool_use", "max_tokens", "refusal", "context_window"]


class ReasoningCompleted(EventData):
    """The model's reply to one briefing."""

    type: ClassVar[str] = "antiphon.reasoning.completed.v1"
    inbox: ClassVar[Component | None] = "coordinator"

    round: Round
    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    stop_reason: StopReason
    refused: tuple[str, ...] = Field(
        default=(),
        json_schema_extra=since(4),
        description="Reasons why the reply is refused, a sentence each: it does not have the form "
        "that models without tool calling must use. Such a reply has no tool calls.",
    )
    model: str
    usage: Usage = Usage()
    attempts: int = Field(default=1, ge=1, description="Calls to the model, the failed ones included.")
    prompt_tokens_estimated: int = Field(
        default=0,
        ge=0,
        description="Estimated tokens of one call's prompt; 0 when the estimate "
        "cannot be compared with the usage.",
    )
    duration_ms: int = Field(default=0, ge=0)


class ReasoningFailed(EventData):
    """The failure of a call to the model; `error.code` classifies it.

    Codes: rate_limited, overloaded, server_error, timeout, connection_failed, empty_reply, unreadable_reply,
    invalid_request, authentication_failed, permission_denied, model_not_found, context_too_long; and
    circuit_open when the model was not called, because it keeps failing.
    """

    type: ClassVar[str] = "antiphon.reasoning.failed.v1"
    inbox: ClassVar[Component | None] = "coordinator"

    round: Round
    error: ErrorInfo
    model: str
    usage: Usage = Usage()
    attempts: int = Field(default=1, ge=0, description="Calls to the model; 0 when it was not asked.")
    retry_after_s: float | None = Field(default=None, ge=0, description="Seconds until a retry may succeed.")
    duration_ms: int = Field(default=0, ge=0)


class SummaryCompleted(EventData):
    """A model's summary, not checked yet."""

    type: ClassVar[str] = "antiphon.summary.completed.v1"
    inbox: ClassVar[Component | None] = "coordinator"

    round: Round
    text: str
    facts: tuple[str, ...] = Field(description="Ids of the facts it stands for; neighbours as `F3-F9`.")
    model: str
    usage: Usage = Usage()
    duration_ms: int = Field(default=0, ge=0)


class SummaryFailed(EventData):
    """The failure of a summary; codes as in ReasoningFailed, and `not_supported` by the offline model."""

    type: ClassVar[str] = "antiphon.summary.failed.v1"
    inbox: ClassVar[Component | None] = "coordinator"

    round: Round
    error: ErrorInfo
    model: str
    usage: Usage = Usage()
    duration_ms: int = Field(default=0, ge=0)
