"""Reads that are kept: the same call by the same session's rights does not run again, any other does."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.tools.calls import ToolResult

from tests.tool_dispatcher.builders import (
    Dispatcher,
    a_bus,
    a_call,
    a_dispatcher,
    a_request,
    a_tool,
    results_of,
)
from tests.tool_dispatcher.keys import an_issuer
from tool_dispatcher.authoring.context import ToolContext
from tool_dispatcher.authoring.tool import Tool, ToolFailed


class Counting:
    """Counts its runs, by arguments."""

    def __init__(self, answer: Any = "an answer", *failures: Exception) -> None:
        self.runs: Counter[str] = Counter()
        self.answer, self.failures = answer, list(failures)

    def __call__(self, arguments: dict[str, Any], context: ToolContext) -> Any:
        self.runs[str(arguments)] += 1
        if self.failures:
            raise self.failures.pop(0)
        return self.answer

    def tool(self, **options: Any) -> Tool:
        return a_tool("look", self, **{"cache_ttl_s": 60, "retry": 1, **options})

    @property
    def count(self) -> int:
        return self.runs.total()


async def ask(tool: Tool, bus: Bus, id: str = "a", **call: Any) -> ToolResult:
    (result,) = await results_of([tool], a_request(a_call(id, **call)), bus)
    return result


@pytest.mark.parametrize("answer", ["an answer", None, 0, [], {"a": [1.5, "ü"]}])
async def test_the_second_call_does_not_run(bus: Bus, answer: Any) -> None:
    counting = Counting(answer)
    first, second = await ask(counting.tool(), bus), await ask(counting.tool(), bus, "b")
    assert (first.data, second.data, second.call_id) == (answer, answer, "b")
    assert counting.count == 1


async def test_other_sessions_of_the_same_rights_share_it() -> None:
    counting = Counting()
    async with a_dispatcher(counting.tool()) as dispatcher:
        await dispatcher.run(a_request(a_call()))
        await dispatcher.run(a_request(a_call()), session_id="s2")
    assert counting.count == 1


async def test_other_arguments_run() -> None:
    counting = Counting()
    async with a_bus() as bus:
        for arguments in ({"n": 1}, {"n": "1"}, {"n": 1.0}, {}):
            await ask(counting.tool(), bus, arguments=arguments)
    assert counting.count == 4


async def test_another_version_of_the_tool_runs() -> None:
    counting = Counting()
    async with a_bus() as bus:
        await ask(counting.tool(version="1"), bus)
        await ask(counting.tool(version="2"), bus)
    assert counting.count == 2


async def test_other_scopes_and_other_tenants_run(tmp_path: Path) -> None:
    counting, issuer = Counting(), an_issuer(tmp_path)
    async with a_bus() as bus:
        dispatcher = Dispatcher([counting.tool()], bus, grant_key_file=issuer.key_file)
        for scopes, tenant in ((["read"], "acme"), (["read", "crm"], "acme"), (["read"], "other")):
            grant = issuer.grant(scopes, tenant=tenant)
            for id in ("a", "b"):
                await dispatcher.run(a_request(a_call(id), grant=grant, tenant=tenant))
        await dispatcher.close()
    assert counting.count == 3


async def test_what_is_not_said_to_be_kept_runs_each_time() -> None:
    counting = Counting()
    async with a_bus() as bus:
        for id in ("a", "b"):
            await ask(counting.tool(cache_ttl_s=0), bus, id)
    assert counting.count == 2


async def test_a_failure_is_not_kept() -> None:
    counting = Counting("an answer", ToolFailed("not_found", "no such thing"))
    async with a_bus() as bus:
        assert (await ask(counting.tool(), bus)).status == "error"
        assert (await ask(counting.tool(), bus, "b")).data == "an answer"
    assert counting.count == 2


async def test_what_another_tool_answered_is_not_kept() -> None:
    counting = Counting("an answer", ToolFailed("api_failure", "out of order"))
    tools = [counting.tool(alternatives="other"), a_tool("other", lambda a, c: "another answer")]
    async with a_bus() as bus:
        for id, answer in (("a", "another answer"), ("b", "an answer")):
            request = a_request(a_call(id), allowed=("look", "other"))
            assert (await results_of(tools, request, bus))[0].data == answer


async def test_what_is_kept_is_whole_and_cut_anew_for_each_call() -> None:
    counting = Counting([f"item {n}" for n in range(1_000)])
    async with a_bus() as bus:
        (small,) = await results_of([counting.tool()], a_request(a_call()), bus, result_bytes_max=1_000)
        request = a_request(a_call("b"), a_call("c", "look"))
        larger, _ = await results_of([counting.tool()], request, bus, result_bytes_max=5_000)
        whole = await ask(counting.tool(), bus)
        assert await bus.session("s1").kept("result:r1c0") is not None
    assert len(small.data) < len(larger.data) < len(whole.data) == 1_000
    assert (small.handle, larger.handle, whole.handle) == ("r1c0", "r1c0", "")
    assert counting.count == 1


async def test_permission_is_checked_before_the_cache_is_asked() -> None:
    counting = Counting()
    async with a_bus() as bus:
        await ask(counting.tool(), bus)
        request = a_request(a_call("b"))
        (result,) = await results_of([counting.tool()], request, bus, default_scopes=())
    assert result.status == "error"
    assert result.data is None
