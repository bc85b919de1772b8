"""The effect of a fault on a recorded event. Pure."""

from collections.abc import Callable, Mapping
from typing import Literal, get_args

from antiphon_shared.events import (
    BriefingReady,
    CancellationRequested,
    Component,
    ComponentFailed,
    DeadlineReached,
    EventData,
    QuerySubmitted,
    ReasoningCompleted,
    ReasoningFailed,
    ResponseReady,
    SummaryCompleted,
    SummaryFailed,
    ToolsCompleted,
)
from antiphon_shared.process.errors import ConfigurationError, ErrorInfo
from antiphon_shared.tools.calls import Catalogue, ErrorType, ToolResult
from antiphon_shared.values import Usage

from coordinator.session import Session
from reasoning_engine.failure import Code, failure
from tool_dispatcher.authoring.failures import tool_error

Kind = Literal[
    "tool_timeout",
    "tool_error",
    "tool_unknown",
    "model_timeout",
    "model_overloaded",
    "model_refused",
    "empty_reply",
    "deadline",
    "cancelled",
    "component_failed",
]
KINDS: tuple[Kind, ...] = get_args(Kind)

_RETRY_AFTER_S = 30.0
_MODEL: Mapping[Kind, tuple[Code, str]] = {
    "model_timeout": ("timeout", "The model did not reply in time"),
    "model_overloaded": ("overloaded", "The model's server answered with overloaded_error"),
    "model_refused": ("circuit_open", "The model keeps failing. It is not called for another 30 s"),
    "empty_reply": ("empty_reply", "The model replied with nothing 2 times"),
}
_TOOLS: Mapping[Kind, tuple[ErrorType, str]] = {
    "tool_timeout": ("timeout", "{tool} did not finish in time."),
    "tool_error": ("api_failure", "{tool} could not reach its service."),
    "tool_unknown": ("outcome_unknown", "The worker stopped while {tool} was running."),
}
_REPLIES: Mapping[type[EventData], Component] = {
    BriefingReady: "context_synthesizer",
    ReasoningCompleted: "reasoning_engine",
    ReasoningFailed: "reasoning_engine",
    SummaryCompleted: "reasoning_engine",
    SummaryFailed: "reasoning_engine",
    ToolsCompleted: "tool_dispatcher",
    ResponseReady: "response_assembler",
}
"""The replies that the coordinator waits for, and their components."""


def kinds_for(data: EventData) -> tuple[Kind, ...]:
    """Return the faults that can replace an event."""
    fitting: list[Kind] = []
    if isinstance(data, ToolsCompleted):
        fitting += _TOOLS
    if isinstance(data, ReasoningCompleted | ReasoningFailed):
        fitting += _MODEL
    if type(data) in _REPLIES:
        fitting.append("component_failed")
    if data.inbox == "coordinator" and not isinstance(data, ResponseReady | QuerySubmitted):
        fitting += ("deadline", "cancelled")
    return tuple(kind for kind in KINDS if kind in fitting)


def is_reply(kind: Kind) -> bool:
    """Return whether the fault is a reply to the same request, not an event of another source."""
    return kind in _MODEL or kind in _TOOLS


def faulty(kind: Kind, tool: str, data: EventData, session: Session, catalogue: Catalogue) -> EventData:
    """Return the event of a fault that `kinds_for` allows; with `tool`, only that tool's calls fail.

    Raises ConfigurationError if the batch has no call of that tool.
    """
    match data:
        case ToolsCompleted() if kind in _TOOLS:
            return _tools(kind, tool, data, catalogue)
        case ReasoningCompleted() | ReasoningFailed() if kind in _MODEL:
            return _model(kind, data, session)
    return _OTHERS[kind](data, session)


def _model(kind: Kind, data: ReasoningCompleted | ReasoningFailed, session: Session) -> ReasoningFailed:
    code, message = _MODEL[kind]
    failed = failure(code, message)
    is_called = code != "circuit_open"
    return ReasoningFailed(
        round=data.round,
        error=failed.error,
        model=session.models.asked or data.model,
        usage=Usage(cost_usd=0.0),
        attempts=int(is_called),
        retry_after_s=None if is_called else _RETRY_AFTER_S,
    )


def _tools(kind: Kind, tool: str, data: ToolsCompleted, catalogue: Catalogue) -> ToolsCompleted:
    called = tuple(dict.fromkeys(result.tool for result in data.results))
    if tool and tool not in called:
        raise ConfigurationError(
            f"That batch has no call of {tool!r}.", hint=f"It called {', '.join(called)}."
        )
    results = tuple(
        _failed(kind, result, catalogue) if tool in ("", result.tool) else result for result in data.results
    )
    return ToolsCompleted.of(data.round, results, data.duration_ms)


def _failed(kind: Kind, result: ToolResult, catalogue: Catalogue) -> ToolResult:
    """Return a failed call; a write that timed out has an unknown outcome."""
    error_type, message = _TOOLS[kind]
    tool = catalogue.by_name.get(result.tool)
    if kind == "tool_timeout" and tool is not None and tool.effect == "write":
        error_type = "outcome_unknown"
    error = tool_error(error_type, message.format(tool=result.tool))
    return ToolResult(
        index=result.index, call_id=result.call_id, tool=result.tool, status="error", error=error
    )


def _component_failed(data: EventData, session: Session) -> ComponentFailed:
    awaited = session.pending_request
    if isinstance(data, SummaryCompleted | SummaryFailed):
        awaited = session.summaries.awaiting
    assert awaited is not None, "a reply is waited for"
    error = ErrorInfo(code="workers_lost", message="4 workers in a row stopped while they processed it")
    return ComponentFailed(component=_REPLIES[type(data)], failed_event=awaited, error=error)


_OTHERS: Mapping[Kind, Callable[[EventData, Session], EventData]] = {
    "deadline": lambda data, session: DeadlineReached(),
    "cancelled": lambda data, session: CancellationRequested(reason="injected"),
    "component_failed": _component_failed,
}
