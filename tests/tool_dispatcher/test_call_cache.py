"""Reads that are kept: the same call by the same session's rights does not run again, any other does."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.process.clock import utc_now
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


async def test_sessions_with_the_same_rights_share_the_cache() -> None:
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


async def test_a_tool_without_caching_runs_each_time() -> None:
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


async def test_an_answer_of_an_alternative_is_not_cached() -> None:
    counting = Counting("an answer", ToolFailed("api_failure", "out of order"))
    tools = [counting.tool(alternatives="other"), a_tool("other", lambda a, c: "another answer")]
    async with a_bus() as bus:
        for id, answer in (("a", "another answer"), ("b", "an answer")):
            request = a_request(a_call(id), allowed=("look", "other"))
            assert (await results_of(tools, request, bus))[0].data == answer


async def test_a_cached_result_is_whole_and_cut_again_for_each_call() -> None:
    counting = Counting([f"item {n}" for n in range(1_000)])
    async with a_bus() as bus:
        (small,) = await results_of([counting.tool()], a_request(a_call()), bus, result_bytes_max=1_000)
        request = a_request(a_call("b"), a_call("c", "look"))
        larger, _ = await results_of([counting.tool()], request, bus, result_bytes_max=5_000)
        whole = await ask(counting.tool(), bus)
        assert await bus.session("s1").load("result:r1c0") is not None
    assert len(small.data) < len(larger.data) < len(whole.data) == 1_000
    assert (small.handle, larger.handle, whole.handle) == ("r1c0", "r1c0", "")
    assert counting.count == 1


async def test_permission_is_checked_before_the_cache_is_read() -> None:
    counting = Counting()
    async with a_bus() as bus:
        await ask(counting.tool(), bus)
        request = a_request(a_call("b"))
        (result,) = await results_of([counting.tool()], request, bus, default_scopes=())
    assert result.status == "error"
    assert result.data is None


async def test_a_cached_result_is_marked_with_its_time(bus: Bus) -> None:
    counting = Counting()
    before = utc_now()
    first, second = await ask(counting.tool(), bus), await ask(counting.tool(), bus, "b")
    assert (first.cached, first.cached_at) == (False, None)
    assert second.cached
    assert second.cached_at is not None
    assert before <= second.cached_at <= utc_now()


async def test_a_deterministic_read_is_cached_without_an_explicit_ttl(bus: Bus) -> None:
    counting = Counting()
    look = a_tool("look", counting, deterministic=True)
    await ask(look, bus)
    assert (await ask(look, bus, "b")).cached


async def test_a_changed_tool_does_not_use_the_cache_of_the_old_one(bus: Bus) -> None:
    counting = Counting()
    await ask(counting.tool(), bus)
    await ask(counting.tool(example={"city": "Oslo"}), bus, "b")
    assert counting.count == 2


async def test_nothing_is_cached_while_caching_is_off(bus: Bus) -> None:
    counting = Counting()
    for id in ("a", "b"):
        (result,) = await results_of([counting.tool()], a_request(a_call(id)), bus, cache=False)
        assert not result.cached
    assert counting.count == 2


class Shelf:
    """Holds a number; a read tells it, writes change it."""

    def __init__(self, *, fails: BaseException | None = None) -> None:
        self.number, self.fails, self.reads = 0, fails, 0

    @property
    def tools(self) -> list[Tool]:
        def look(arguments: dict[str, Any], context: ToolContext) -> int:
            self.reads += 1
            return self.number

        def put(arguments: dict[str, Any], context: ToolContext) -> str:
            self.number += 1
            if self.fails is not None:
                raise self.fails
            return "done"

        return [a_tool("look", look, deterministic=True), a_tool("put", put, "write")]


async def test_a_session_reads_its_own_writes_and_others_may_read_the_cache(bus: Bus) -> None:
    shelf = Shelf()
    async with a_dispatcher(*shelf.tools, bus=bus) as dispatcher:

        async def look(id: str, session_id: str) -> ToolResult:
            (result,) = await dispatcher.run(a_request(a_call(id)), session_id=session_id)
            return result

        assert (await look("a", "s1")).data == (await look("a", "s2")).data == 0
        await dispatcher.run(a_request(a_call("w", "put")))
        assert (fresh := await look("b", "s1")).data == 1
        assert not fresh.cached
        assert (await look("c", "s1")).cached
        assert (await look("b", "s2")).data == 0
    assert shelf.reads == 2


async def test_another_dispatcher_that_takes_the_session_over_knows_of_its_writes(bus: Bus) -> None:
    shelf = Shelf()
    async with a_dispatcher(*shelf.tools, bus=bus) as first:
        await first.run(a_request(a_call("a")))
        await first.run(a_request(a_call("w", "put")))
    async with a_dispatcher(*shelf.tools, bus=bus) as second:
        (result,) = await second.run(a_request(a_call("b"), round=2))
    assert (result.data, result.cached) == (1, False)


async def test_after_a_write_of_unknown_outcome_a_session_is_not_answered_from_the_cache(bus: Bus) -> None:
    shelf = Shelf(fails=ConnectionResetError("gone"))
    async with a_dispatcher(*shelf.tools, bus=bus) as dispatcher:
        await dispatcher.run(a_request(a_call("w", "put")))
        for id in ("a", "b"):
            (result,) = await dispatcher.run(a_request(a_call(id)))
            assert not result.cached
    assert shelf.reads == 2


async def test_a_read_during_a_write_is_not_cached(bus: Bus) -> None:
    go_on, running = asyncio.Event(), asyncio.Event()

    async def put(arguments: dict[str, Any], context: ToolContext) -> str:
        running.set()
        await go_on.wait()
        return "done"

    counting = Counting()
    async with a_dispatcher(counting.tool(), a_tool("put", put, "write"), bus=bus) as dispatcher:
        writing = asyncio.create_task(dispatcher.run(a_request(a_call("w", "put"))))
        await asyncio.wait_for(running.wait(), 60)
        for id in ("a", "b"):
            await dispatcher.run(a_request(a_call(id), round=2))
        assert counting.count == 2
        go_on.set()
        await writing
        for id in ("c", "d"):
            await dispatcher.run(a_request(a_call(id), round=3))
    assert counting.count == 3
