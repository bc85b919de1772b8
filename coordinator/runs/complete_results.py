"""The complete results of an event that holds only the beginning of large ones."""

import asyncio
from typing import Any

from antiphon_shared.bus.handling import SessionStore
from antiphon_shared.events import AnyEvent, ToolsCompleted
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.process.offload import offload
from antiphon_shared.tools.calls import ToolResult
from antiphon_shared.tools.journal import result_name
from pydantic_core import from_json


async def complete_event(event: AnyEvent, store: SessionStore) -> AnyEvent:
    """Return the event with complete results, in place of results of which it holds only the beginning."""
    data = event.data
    if not isinstance(data, ToolsCompleted) or not any(result.handle for result in data.results):
        return event
    contents = await asyncio.gather(*(_complete_result(result, store) for result in data.results))
    results = tuple(
        result.model_copy(update={"data": content})
        for result, content in zip(data.results, contents, strict=True)
    )
    return event.model_copy(update={"data": data.model_copy(update={"results": results})})


async def _complete_result(result: ToolResult, store: SessionStore) -> Any:
    if not result.handle:
        return result.data
    content = await store.load(result_name(result.handle))
    if content is None:
        raise UnreadableEvent(f"the complete result of {result.tool} ({result.handle}) is no longer stored")
    return await offload(from_json, content)
