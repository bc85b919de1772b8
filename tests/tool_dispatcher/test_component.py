"""The dispatcher as a service: built from the environment or from tools, and publishing its catalogue."""

import asyncio

import pytest

from shared.bus.redis_bus import Bus
from shared.errors import ConfigurationError
from shared.events import ToolsRequested
from tests.tool_dispatcher.builders import Ledger, until
from tool_dispatcher.catalogue import Registry, to_catalogue
from tool_dispatcher.component import build


async def test_it_publishes_its_catalogue_at_once(bus: Bus) -> None:
    registry = Registry([Ledger().tool("look")])
    service = build(bus, registry)
    assert set(service.handlers) == {ToolsRequested}
    publishing = asyncio.ensure_future(service.background[0]())
    try:
        await until(bus.current_catalogue)
    finally:
        publishing.cancel()
    content_hash = await bus.current_catalogue()
    assert content_hash is not None
    assert await bus.catalogue(content_hash) == to_catalogue(registry)
    assert service.close is not None
    await service.close()


async def test_it_loads_the_tools_the_environment_names(bus: Bus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTIPHON_TOOLS", "tests.tool_dispatcher.toolboxes.empty")
    with pytest.raises(ConfigurationError, match="has no tool at its top level"):
        build(bus)
    monkeypatch.setenv("ANTIPHON_TOOLS", "tests.tool_dispatcher.toolboxes.library")
    assert build(bus).name == "tool_dispatcher"


@pytest.mark.parametrize(
    ("variable", "value"),
    [("CONCURRENCY", "0"), ("THREADS", "many"), ("RESULT_BYTES_MAX", "-1"), ("THREAD", "1")],
)
async def test_a_bad_setting_is_refused_by_name(
    variable: str, value: str, bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"ANTIPHON_TOOL_DISPATCHER_{variable}", value)
    with pytest.raises(ConfigurationError, match=f"ANTIPHON_TOOL_DISPATCHER_{variable}.*antiphon settings"):
        build(bus, Registry())
