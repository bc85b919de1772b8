"""The tool catalogue as it comes from Redis, where dispatchers of other versions may have put it."""

from typing import Any

import orjson
import pytest
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.tools.calls import Catalogue, ToolDefinition

LOOK = ToolDefinition(name="look", description="Looks.", input_schema={"type": "object"}, effect="read")


async def published(bus: Bus, content: bytes) -> Catalogue:
    await bus.batcher.submit("SET", bus.keys.catalogue_content("c0ffee"), content)
    return await bus.catalogue("c0ffee")


async def test_a_catalogue_is_read_back_unchanged(bus: Bus) -> None:
    catalogue = Catalogue(tools=(LOOK,), default_scopes=("read", "crm"))
    assert await bus.catalogue(await bus.publish_catalogue(catalogue)) == catalogue


async def test_the_readable_tools_of_a_newer_catalogue_are_used(bus: Bus) -> None:
    """Else one dispatcher that is upgraded first would keep every new session from opening."""
    tools: list[Any] = [
        {**LOOK.model_dump(mode="json"), "colour": "red"},
        LOOK.model_dump(mode="json"),
        {**LOOK.model_dump(mode="json"), "name": "book", "approval": "by_two"},
        None,
    ]
    content = orjson.dumps({"tools": tools, "default_scopes": ["read"], "since": 2})
    assert await published(bus, content) == Catalogue(tools=(LOOK,), default_scopes=("read",))


@pytest.mark.parametrize("content", [b"[1]", b"{}", b"nothing", b"3", b'{"tools": 3}', b'{"tools": null}'])
async def test_an_invalid_catalogue_has_no_tools(bus: Bus, content: bytes) -> None:
    assert await published(bus, content) == Catalogue()


async def test_an_invalid_contract_is_a_fault_of_its_tool_alone(bus: Bus) -> None:
    schema = {"type": "object", "x-orchestration": [1]}
    odd = LOOK.model_copy(update={"name": "odd", "input_schema": schema})
    content = Catalogue(tools=(odd, LOOK)).model_dump_json().encode()
    assert (await published(bus, content)).by_name["look"].contract.effect == "read"
