"""Antiphon: hard questions answered in rounds, by five programs that answer each other.

async with Antiphon() as antiphon:
    response = await antiphon.ask("Find a course that ...")
    print(response.answer)
"""

from antiphon_shared.events import Event, Question
from antiphon_shared.events.session import QueryOptions, Response, Source, Uncertainty
from antiphon_shared.process.errors import AntiphonError, ConfigurationError, RedisUnavailable
from antiphon_shared.tools.contract import Alternative, Backoff, BatchVariant, Dependency, RateLimit, Retry

from antiphon.own_packages import explained

try:
    from antiphon.client import Antiphon, TextDelta
    from antiphon.errors import (
        AlreadyThere,
        InvalidQuery,
        NotWaiting,
        Overloaded,
        PipelineFailed,
        SessionConflict,
        StillRunning,
        SubmissionRejected,
        UnknownSession,
    )
    from tool_dispatcher.authoring.hints import describe
    from tool_dispatcher.authoring.reconcile import NO_EFFECT, TookEffect
    from tool_dispatcher.authoring.secret import Secret
    from tool_dispatcher.authoring.tool import InvalidTool, Tool, ToolContext, ToolFailed, Toolset, tool
except ImportError as error:
    raise explained(error) from None

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
    "StillRunning",
    "SubmissionRejected",
    "TextDelta",
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
