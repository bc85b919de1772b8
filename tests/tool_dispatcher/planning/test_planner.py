"""The tool `_plan`: which of the session's workflows reaches a goal, and the proposal when none does."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import pytest
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.workflow_store import WorkflowStore
from antiphon_shared.tools.calls import Catalogue
from antiphon_shared.tools.relevance import FIND_TOOLS, PLAN
from antiphon_shared.workflows.as_tool import RECIPE, WORKFLOW, as_tool
from antiphon_shared.workflows.specification import Specification

from tests.tool_dispatcher.builders import Dispatcher, a_bus, a_call, a_dispatcher, a_request, a_tool
from tool_dispatcher.authoring.tool import Tool
from tool_dispatcher.catalogue import Registry, to_catalogue

TOOLS: list[Tool] = [
    a_tool("book_flight", lambda a, c: None, "write"),
    a_tool("list_flights", lambda a, c: None),
    a_tool("pay_flight", lambda a, c: None, "write", scopes=("pay",)),
]
BOOK = {
    "description": "Book a flight.",
    "params": {
        "day": {"type": "str", "format": "date", "required": True},
        "seat": {"type": "str", "default": "any"},
    },
    "graph": {"booked": {"call": "book_flight", "args": {"day": "$day"}}},
}
PAY = {"description": "Pay for a flight.", "graph": {"paid": {"call": "pay_flight"}}}
SPECIFICATION = Specification.model_validate(
    {"domain": "d", "version": "1", "workflows": {"book": BOOK, "pay": PAY}}
)


@asynccontextmanager
async def planning(**settings: Any) -> AsyncIterator[tuple[Dispatcher, Bus, str]]:
    """Yield a dispatcher, its bus, and the hash of a session's catalogue with the workflow as both kinds of tool."""
    async with a_bus() as bus, a_dispatcher(*TOOLS, bus=bus, **settings) as dispatcher:
        await WorkflowStore(bus).store(SPECIFICATION)
        own = to_catalogue(Registry(TOOLS))
        more = [
            as_tool(SPECIFICATION, name, own, prefix)
            for name, prefix in (("book", WORKFLOW), ("book", RECIPE), ("pay", WORKFLOW))
        ]
        merged = Catalogue(tools=(*own.tools, *(one for one in more if one is not None)))
        yield dispatcher, bus, await bus.keep_catalogue(merged)


ALL = ("book_flight", "list_flights", "pay_flight", "w_book", "r_book", "w_pay")


async def plan(
    dispatcher: Dispatcher, catalogue: str, goal: str, allowed: tuple[str, ...] = ALL
) -> dict[str, Any]:
    call = a_call("p", PLAN, arguments={"goal": goal})
    request = a_request(call, allowed=(*allowed, PLAN), catalogue=catalogue)
    (result,) = await dispatcher.run(request, session_id=uuid4().hex)
    assert result.status == "ok"
    found: dict[str, Any] = result.data
    return found


async def test_workflows_and_recipes_are_named_with_their_params_and_missing_values() -> None:
    async with planning() as (dispatcher, _, catalogue):
        found = await plan(dispatcher, catalogue, "Book it, please.")
        assert [(one["name"], one["kind"]) for one in found["tools"]] == [
            ("r_book", "recipe"),
            ("w_book", "workflow"),
        ]
        for one in found["tools"]:
            assert one["params"] == {"day": "str (date)", "seat": 'str = "any"'}
            assert one["missing"] == ["day"]
        assert "from the next round on" in found["note"]
        found = await plan(dispatcher, catalogue, "Book it on 2030-05-01.")
        assert [one["missing"] for one in found["tools"]] == [[], []]


async def test_find_tools_finds_workflows_and_recipes_too() -> None:
    async with planning() as (dispatcher, _, catalogue):
        call = a_call("f", FIND_TOOLS, arguments={"need": "book a flight"})
        request = a_request(call, allowed=(*ALL, FIND_TOOLS), catalogue=catalogue)
        (result,) = await dispatcher.run(request)
        found = [one["name"] for one in result.data["tools"]]
        assert {"w_book", "r_book", "book_flight"} <= {*found}
        assert "w_pay" not in found, "its scope is not among the default ones"
        without = await dispatcher.run(request.model_copy(update={"catalogue": ""}), session_id="s2")
        assert not any(one["name"].startswith(("w_", "r_")) for one in without[0].data["tools"])


async def test_a_tool_that_the_session_may_not_run_is_not_named() -> None:
    async with planning() as (dispatcher, _, catalogue):
        found = await plan(dispatcher, catalogue, "Book it.", allowed=("w_book",))
        assert [one["name"] for one in found["tools"]] == ["w_book"]
        assert (await plan(dispatcher, catalogue, "Pay it."))[
            "tools"
        ] == []  # its scope is not among the default ones
    async with planning(default_scopes=("read", "write", "pay")) as (dispatcher, _, catalogue):
        assert [one["name"] for one in (await plan(dispatcher, catalogue, "Pay it."))["tools"]] == ["w_pay"]


@pytest.mark.parametrize("is_kept", [True, False])
async def test_a_workflow_of_permitted_tools_is_proposed_when_none_fits(
    is_kept: bool,
) -> None:
    async with planning() as (dispatcher, bus, catalogue):
        if not is_kept:
            await bus.client.execute_command("DEL", bus.keys.catalogue_content(catalogue))
        found = await plan(dispatcher, catalogue, "List what there is.", allowed=ALL[:3])
        assert found["tools"] == []
        assert "call: list_flights" in found["proposed"]
        assert "pay_flight" not in found["proposed"]
        assert "only proposed" in found["note"]


async def test_nothing_is_proposed_when_no_tool_fits() -> None:
    async with planning() as (dispatcher, _, catalogue):
        assert await plan(dispatcher, catalogue, "chess") == {
            "tools": [],
            "note": "No workflow, recipe or tool fits. Use other words, or go on without.",
        }
