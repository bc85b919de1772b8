"""Antiphon: answers to hard questions, found in several rounds by five programs that work together.

async with Antiphon() as antiphon:
    response = await antiphon.ask("Find a course that ...")
    print(response.answer)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from antiphon_shared.events import Event, Question
    from antiphon_shared.events.session import QueryOptions, Response, Source, Uncertainty
    from antiphon_shared.process.errors import AntiphonError, ConfigurationError, RedisUnavailable
    from antiphon_shared.tools.contract import (
        Alternative,
        Backoff,
        BatchVariant,
        Dependency,
        RateLimit,
        Retry,
    )
    from antiphon_shared.tools.hints import describe

    from antiphon.client import Antiphon, Job, TextDelta
    from antiphon.errors import (
        AlreadyThere,
        InvalidQuery,
        NotWaiting,
        Overloaded,
        PipelineFailed,
        SessionConflict,
        StillRunning,
        SubmissionRejected,
        TooLate,
        UnknownSession,
    )
    from antiphon.steps import Step
    from tool_dispatcher.authoring.reconcile import NO_EFFECT, TookEffect
    from tool_dispatcher.authoring.secret import Secret
    from tool_dispatcher.authoring.tool import InvalidTool, Tool, ToolContext, ToolFailed, tool
    from tool_dispatcher.authoring.toolset import Toolset

_NAMES = {
    "antiphon.client": ("Antiphon", "Job", "TextDelta"),
    "antiphon.errors": (
        "AlreadyThere",
        "InvalidQuery",
        "NotWaiting",
        "Overloaded",
        "PipelineFailed",
        "SessionConflict",
        "StillRunning",
        "SubmissionRejected",
        "TooLate",
        "UnknownSession",
    ),
    "antiphon.steps": ("Step",),
    "antiphon_shared.events": ("Event", "Question"),
    "antiphon_shared.events.session": ("QueryOptions", "Response", "Source", "Uncertainty"),
    "antiphon_shared.process.errors": ("AntiphonError", "ConfigurationError", "RedisUnavailable"),
    "antiphon_shared.tools.contract": (
        "Alternative",
        "Backoff",
        "BatchVariant",
        "Dependency",
        "RateLimit",
        "Retry",
    ),
    "antiphon_shared.tools.hints": ("describe",),
    "tool_dispatcher.authoring.reconcile": ("NO_EFFECT", "TookEffect"),
    "tool_dispatcher.authoring.secret": ("Secret",),
    "tool_dispatcher.authoring.tool": (
        "InvalidTool",
        "Tool",
        "ToolContext",
        "ToolFailed",
        "tool",
    ),
    "tool_dispatcher.authoring.toolset": ("Toolset",),
}
"""The public names, by the module that defines them. Each is imported on first use, as most programs need few."""
_MODULES = {name: module for module, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        value = getattr(import_module(_MODULES[name]), name)
    except ImportError as error:
        from antiphon.own_packages import import_error

        raise import_error(error) from None
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


__all__ = [
    "NO_EFFECT",
    "AlreadyThere",
    "Alternative",
    "Antiphon",
    "AntiphonError",
    "Backoff",
    "BatchVariant",
    "ConfigurationError",
    "Dependency",
    "Event",
    "InvalidQuery",
    "InvalidTool",
    "Job",
    "NotWaiting",
    "Overloaded",
    "PipelineFailed",
    "QueryOptions",
    "Question",
    "RateLimit",
    "RedisUnavailable",
    "Response",
    "Retry",
    "Secret",
    "SessionConflict",
    "Source",
    "Step",
    "StillRunning",
    "SubmissionRejected",
    "TextDelta",
    "TooLate",
    "TookEffect",
    "Tool",
    "ToolContext",
    "ToolFailed",
    "Toolset",
    "Uncertainty",
    "UnknownSession",
    "describe",
    "tool",
]
