"""Wiring: the only place of this room that reads settings and loads tools."""

import asyncio
from collections.abc import Mapping

from shared.bus.connection import patiently
from shared.bus.redis_bus import Bus
from shared.service import Service
from shared.settings import PipelineSettings, load
from tool_dispatcher.catalogue import load_tools, to_catalogue
from tool_dispatcher.handlers import ToolDispatcher
from tool_dispatcher.settings import ToolDispatcherSettings
from tool_dispatcher.tool import Tool


def build(bus: Bus, registry: Mapping[str, Tool] | None = None) -> Service:
    """The tool dispatcher with the tools of ANTIPHON_TOOLS, or those given. Raises ConfigurationError."""
    settings = load(ToolDispatcherSettings)
    tools = load_tools(load(PipelineSettings).tools) if registry is None else registry
    catalogue = to_catalogue(tools)
    dispatcher = ToolDispatcher(tools, settings, bus.settings.max_event_bytes)

    async def publish() -> None:
        """Again and again: what Redis has lost or let expire is there again soon."""
        while True:
            await patiently("publish catalogue", lambda: bus.publish_catalogue(catalogue))
            await asyncio.sleep(settings.catalogue_interval_s)

    return Service(
        "tool_dispatcher",
        dispatcher.handlers,
        settings.concurrency,
        background=(publish,),
        close=dispatcher.close,
    )
