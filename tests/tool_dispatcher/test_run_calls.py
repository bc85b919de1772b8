"""Calls of workflow runs at the dispatcher: one to a batch, under keys of their nodes, answered whole."""

import asyncio
from typing import Any

import pytest
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import ToolsCompleted, ToolsRequested
from antiphon_shared.tools.calls import ToolResult
from antiphon_shared.tools.journal import journal_name, outcome_entry, result_name
from antiphon_shared.tools.placeholders import as_text
from pydantic_core import from_json

from tests.tool_dispatcher.builders import (
    Flaky,
    Ledger,
    a_call,
    a_delivery,
    a_dispatcher,
    a_request,
    a_tool,
    all_of_redis,
    error_in,
    results_of,
)
from tool_dispatcher.authoring.context import ToolContext
from tool_dispatcher.authoring.tool import Tool, ToolFailed


def a_run_call(
    name: str, path: str, *, number: int = 1, attempt: int = 1, key: int = 1, **fields: Any
) -> ToolsRequested:
    """Return the request of a run at a node, as the coordinator writes it."""
    arguments = as_text(fields.pop("arguments", {}))
    call = a_call(f"{path}#{attempt}", name, key=f"default/s1/{path}/{key}", arguments=arguments)
    return a_request(call, round=number, node=path, **fields)


def unavailable() -> ToolFailed:
    return ToolFailed("api_failure", "The service did not answer.")


async def one(tools: list[Tool], request: ToolsRequested, bus: Bus | None = None, **how: Any) -> ToolResult:
    (result,) = await results_of(tools, request, bus, **how)
    return result


@pytest.mark.parametrize(("is_retried", "runs"), [(True, 3), (False, 1)])
async def test_a_node_with_its_own_retries_ignores_those_of_the_contract(is_retried: bool, runs: int) -> None:
    look = Flaky(*(unavailable() for _ in range(5)))
    tool = a_tool("look", look, retry=3, backoff={"initial_ms": 1})
    result = await one([tool], a_run_call("look", "a", is_retried=is_retried))
    assert error_in(result).error_type == "api_failure"
    assert len(look.runs) == runs


async def test_rounds_of_a_contract_do_not_bind_a_run() -> None:
    tool = a_tool("look", Flaky(), rounds=[1])
    of_run = await one([tool], a_run_call("look", "a", number=12_345))
    of_session = await one([tool], a_request(a_call(), round=2))
    assert (of_run.data, error_in(of_session).error_type) == ("at last", "permission_denied")


@pytest.mark.parametrize(
    "text", ["${calls[0]}", "${calls[7].id}", "$${calls[0]}", "${calls[", "${calls[0]} and more", "$5"]
)
async def test_text_that_looks_like_a_placeholder_reaches_the_tool_unchanged(text: str) -> None:
    seen: list[dict[str, Any]] = []

    async def look(arguments: dict[str, Any], context: ToolContext) -> None:
        seen.append(arguments)

    arguments = {"text": text, "deep": [{"texts": [text, f"see {text}"]}]}
    result = await one([a_tool("look", look)], a_run_call("look", "a", arguments=arguments))
    assert (result.status, seen) == ("ok", [arguments])


async def test_a_run_gets_the_whole_result_that_a_model_sees_in_part() -> None:
    items = [{"id": n} for n in range(60_000)]

    async def look(arguments: dict[str, Any], context: ToolContext) -> Any:
        return items

    tool = a_tool("look", look, result_bytes_max=1_000)
    of_run, of_session = await one([tool], a_run_call("look", "a")), await one([tool], a_request(a_call()))
    assert (of_run.data, of_run.handle) == (items, "")
    assert of_session.handle == "r1c0"


async def test_a_result_too_large_for_an_event_is_kept_whole_under_its_handle(bus: Bus) -> None:
    text = "x" * 3_500_000

    async def look(arguments: dict[str, Any], context: ToolContext) -> Any:
        return text

    result = await one([a_tool("look", look)], a_run_call("look", "a", number=123_456), bus)
    assert result.handle == "r123456c0"
    assert len(result.data) < len(text)
    whole = await bus.session("s1").load(result_name(result.handle))
    assert whole is not None
    assert from_json(whole) == text


async def test_no_result_of_concurrent_calls_contains_a_secret_argument(bus: Bus) -> None:
    async def tell(arguments: dict[str, Any], context: ToolContext) -> Any:
        return {"said": f"I know {arguments['password']}", "text": "x" * 3_500_000}

    schema = {"type": "object", "properties": {"password": {"type": "string", "writeOnly": True}}}
    tool = Tool("tell", "Tells it.", schema, tell, effect="read")
    words = [f"hunter-two-{n}" for n in range(4)]
    requests = [
        a_run_call("tell", f"each/{n}", number=n + 1, arguments={"password": word})
        for n, word in enumerate(words)
    ]
    async with a_dispatcher(tool, bus=bus) as dispatcher:
        found = await asyncio.gather(*map(dispatcher.run, requests))
    assert [result.handle for (result,) in found] == ["r1c0", "r2c0", "r3c0", "r4c0"]
    for word in words:
        assert word not in await all_of_redis(bus)


async def test_only_writes_of_a_run_are_noted_in_the_journal(bus: Bus) -> None:
    """The journal serves only writes, because reads are repeated."""
    ledger = Ledger()
    tools = [ledger.tool("look", "read"), ledger.tool("enter", "write")]
    await one(tools, a_run_call("look", "a", number=1), bus)
    await one(tools, a_run_call("look", "a", number=1), bus, redelivered=True)
    await one(tools, a_run_call("enter", "b", number=2), bus)
    session = bus.session("s1")
    assert await session.settled(journal_name(1)) == {}
    assert outcome_entry("b#1") in await session.settled(journal_name(2))


async def test_two_nodes_with_equal_arguments_make_two_writes_and_one_redelivered_node_makes_one(
    bus: Bus,
) -> None:
    ledger = Ledger()
    tools = [ledger.tool("enter", "write")]
    await one(tools, a_run_call("enter", "a", number=1, arguments={"n": 1}), bus)
    await one(tools, a_run_call("enter", "b", number=2, arguments={"n": 1}), bus)
    await one(tools, a_run_call("enter", "b", number=2, arguments={"n": 1}), bus, redelivered=True)
    assert ledger.effects == {"default/s1/a/1": 1, "default/s1/b/1": 1}


@pytest.mark.parametrize("repeat", ["return", "ask", "run"])
async def test_the_repeat_policy_of_a_contract_does_not_apply_to_nodes(bus: Bus, repeat: str) -> None:
    enter = Flaky()
    tools = [a_tool("enter", enter, "write", repeat=repeat)]
    results = [await one(tools, a_run_call("enter", f"each/{n}", number=n), bus) for n in (1, 2, 3)]
    assert [(result.data, result.repeated) for result in results] == [("at last", None)] * 3
    assert len(enter.runs) == 3


async def test_concurrent_calls_of_one_run_do_not_mix(bus: Bus) -> None:
    ledger = Ledger()
    async with a_dispatcher(ledger.tool("enter", "write"), bus=bus) as dispatcher:
        requests = [a_run_call("enter", f"each/{n}", number=n + 1) for n in range(40)]
        found = await asyncio.gather(*(dispatcher.run(request) for request in (*requests, *requests)))
    assert sorted(ledger.effects.values()) == [1] * 40
    assert {result.status for (result,) in found} == {"ok"}


class TestAnotherAttemptUnderTheSameKey:
    """A run tries an idempotent write again under the key of its first attempt."""

    async def test_runs_with_the_same_key_and_a_higher_fence(self, bus: Bus) -> None:
        enter = Flaky(unavailable(), TimeoutError())
        tools = [a_tool("enter", enter, "write", idempotent=True, retry=1)]
        requests = [a_run_call("enter", "a", number=n, attempt=n, key=1, is_retried=False) for n in (1, 2, 3)]
        results = [await one(tools, request, bus) for request in requests]
        assert [result.status for result in results] == ["error", "error", "ok"]
        assert [result.call_id for result in results] == ["a#1", "a#2", "a#3"]
        assert {context.idempotency_key for context in enter.runs} == {"default/s1/a/1"}
        assert [context.fence for context in enter.runs] == [1, 2, 3]
        again = [await one(tools, request, bus, redelivered=True) for request in requests]
        assert ([result.status for result in again], len(enter.runs)) == (["error", "error", "ok"], 3)

    @pytest.mark.parametrize(
        ("failures", "options", "status", "data"),
        [([], {"idempotent": True}, "ok", "at last"), ([unavailable()], {}, "error", None)],
        ids=["has succeeded", "must not run twice"],
    )
    async def test_a_retried_node_returns_the_result_of_a_write_that_must_not_run_twice(
        self, bus: Bus, failures: list[Exception], options: dict[str, Any], status: str, data: Any
    ) -> None:
        enter = Flaky(*failures)
        tools = [a_tool("enter", enter, "write", **options)]
        first = await one(tools, a_run_call("enter", "a", is_retried=False), bus)
        (second,) = await _results(tools, a_run_call("enter", "a", number=2, attempt=2), bus)
        assert (first.status, first.data) == (second.status, second.data) == (status, data)
        assert len(enter.runs) == 1


async def test_a_dependent_tool_runs_after_the_other_has_succeeded_in_the_run() -> None:
    pay = a_tool("pay", Flaky(), "write", depends_on=[{"tool": "book", "required_fields": ["id"]}])
    tools = [pay, a_tool("book", Flaky(), "write")]
    early = await one(tools, a_run_call("pay", "a"))
    late = await one(tools, a_run_call("pay", "a", succeeded=("book",)))
    assert (error_in(early).error_type, late.data) == ("dependency_failed", "at last")


async def _results(tools: list[Tool], request: ToolsRequested, bus: Bus) -> tuple[ToolResult, ...]:
    """Return the results of a batch whose write another call made, under that call's id."""
    async with a_dispatcher(*tools, bus=bus) as dispatcher:
        outcome = await dispatcher._service.handlers[ToolsRequested](a_delivery(request), bus.session("s1"))
    (completed,) = outcome.events
    assert isinstance(completed, ToolsCompleted)
    return completed.results
