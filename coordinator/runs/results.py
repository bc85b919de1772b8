"""The result of a node in an event of the run's log. Pure."""

from typing import Any

from antiphon_shared.events import ChildEnded, EventData, ToolsCompleted
from antiphon_shared.process.errors import UnreadableEvent


def result_in(data: EventData | None) -> Any:
    """Return the complete result. Raises UnreadableEvent if the event has no result."""
    if isinstance(data, ChildEnded):
        return data.response.answer if data.response.result is None else data.response.result
    if not isinstance(data, ToolsCompleted):
        raise UnreadableEvent("the log entry of a node's result holds another event")
    (result,) = data.results
    return result.data
