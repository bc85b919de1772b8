"""Antiphon: hard questions answered in rounds, by five programs that answer each other.

async with Antiphon() as antiphon:
    response = await antiphon.ask("Find a course that ...")
    print(response.answer)
"""

from antiphon.client import Antiphon, TextDelta
from antiphon.errors import InvalidQuery, PipelineFailed, StillRunning, SubmissionRejected, UnknownSession
from shared.errors import AntiphonError, ConfigurationError, RedisUnavailable
from shared.events import Event
from shared.session import QueryOptions, Response, Source, Uncertainty
from tool_dispatcher.tool import InvalidTool, Tool, ToolContext, ToolFailed, Toolset, tool

__all__ = [
    "Antiphon",
    "AntiphonError",
    "ConfigurationError",
    "Event",
    "InvalidQuery",
    "InvalidTool",
    "PipelineFailed",
    "QueryOptions",
    "RedisUnavailable",
    "Response",
    "Source",
    "StillRunning",
    "SubmissionRejected",
    "TextDelta",
    "Tool",
    "ToolContext",
    "ToolFailed",
    "Toolset",
    "Uncertainty",
    "UnknownSession",
    "tool",
]
