"""A batch from delivery to outcome: every call answered, in order, in time, and in one event."""

import asyncio
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.sessions import RedisSession
from antiphon_shared.events import ToolsCompleted
from antiphon_shared.process.clock import utc_now
from antiphon_shared.tools.calls import RequestedCall, Summary
from antiphon_shared.tools.journal import begun_entry, outcome_entry, outcomes
from pydantic import BaseModel, model_validator
from redis.exceptions import ResponseError

from tests.clock import Clock
from tests.tool_dispatcher.builders import (
    Ledger,
    a_bus,
    a_call,
    a_request,
    a_tool,
    error_in,
    noted,
    results_of,
    soon,
    until,
)
from tool_dispatcher.authoring.context import ToolContext
from tool_dispatcher.authoring.tool import Tool, tool


@tool(effect="read")
async def double(number: int) -> int:
    """Doubles a number."""
    return 2 * number


def _explode(arguments: dict[str, Any], context: ToolContext) -> None:
    raise SystemExit("a tool has no business to end us")


def _until_the_end_of(clock: Clock) -> Callable[..., Any]:
    """Run a tool that does not end, while a minute passes."""

    async def take_long(arguments: dict[str, Any], context: ToolContext) -> None:
        clock.forward(60)
        await asyncio.Event().wait()

    return take_long


async def test_one_bad_call_never_harms_its_neighbours() -> None:
    request = a_request(
        a_call("a", "double", arguments={"number": 1}),
        a_call("b", "double", arguments={"number": "1"}),
        a_call("c", "explode"),
        a_call("d", "double", arguments={"number": 2}, refused="the limit is reached"),
        a_call("e", "dubble", arguments={"number": 3}),
        a_call("f", "double", arguments={"number": 4}),
    )
    results = await results_of([double, a_tool("explode", _explode)], request)
    assert [result.data for result in results] == [2, None, None, None, None, 8]
    assert [result.error.error_type if result.error else "ok" for result in results] == [
        "ok",
        "validation_error",
        "internal_error",
        "cancelled",
        "unknown_tool",
        "ok",
    ]


async def test_a_tool_receives_the_context_of_its_call() -> None:
    seen: list[ToolContext] = []

    async def look(arguments: dict[str, Any], context: ToolContext) -> None:
        seen.append(context)

    async def send(arguments: dict[str, Any], context: ToolContext) -> None:
        seen.append(context)

    await results_of([a_tool("look", look, timeout_s=600)], a_request(a_call(key="the key")))
    await results_of([a_tool("look", look)], a_request(a_call()), redelivered=True)
    await results_of([a_tool("send", send, "write")], a_request(a_call(name="send")))
    first, second, write = seen
    assert (first.idempotency_key, first.session_id, first.call_id) == ("the key", "s1", "c1")
    assert timedelta(0) < first.deadline - utc_now() <= timedelta(seconds=600)
    assert (first.attempt, second.attempt) == (1, 2)
    assert (first.tenant, first.fence, write.fence) == ("default", 0, 1)


async def test_calls_run_together_up_to_the_bound() -> None:
    running, most, gate = 0, 0, asyncio.Event()

    async def meet(arguments: dict[str, Any], context: ToolContext) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        if running == 3:
            gate.set()
        await gate.wait()
        for _ in range(20):
            await asyncio.sleep(0)  # time for forbidden callers to enter
        running -= 1

    calls = [a_call(f"c{n}", "meet") for n in range(9)]
    results = await results_of([a_tool("meet", meet)], a_request(*calls), batch_concurrency=3)
    assert (most, {result.status for result in results}) == (3, {"ok"})


async def test_calls_of_all_batches_keep_to_the_bound_of_the_process() -> None:
    running, most = 0, 0

    async def meet(arguments: dict[str, Any], context: ToolContext) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        for _ in range(20):
            await asyncio.sleep(0)
        running -= 1

    calls = [a_call(f"c{n}", "meet") for n in range(9)]
    await results_of([a_tool("meet", meet)], a_request(*calls), calls_max=2)
    assert most == 2


async def test_results_keep_the_order_of_the_calls() -> None:
    async def wait(arguments: dict[str, Any], context: ToolContext) -> str:
        for _ in range(arguments["turns"]):
            await asyncio.sleep(0)
        return context.call_id

    calls = [a_call(f"c{n}", "wait", arguments={"turns": 20 - n}) for n in range(8)]
    results = await results_of([a_tool("wait", wait)], a_request(*calls))
    assert [result.data for result in results] == [call.id for call in calls]


async def test_the_summary_counts_how_the_calls_ended() -> None:
    calls = a_call("a", "double", arguments={"number": 1}), a_call("b", "dubble")
    results = await results_of([double], a_request(*calls))
    assert ToolsCompleted.of(1, results).summary == Summary(ok=1, error=1)


async def test_the_first_of_two_calls_with_one_id_counts() -> None:
    ledger = Ledger()
    request = a_request(a_call("a"), a_call("a", arguments={"other": 1}))
    first, second = await results_of([ledger.tool("look")], request)
    assert first.data == {"entered": "a", "times": 1}
    assert "Two calls of this batch have the id 'a'" in error_in(second).message
    assert ledger.effects == {"default/s1/1/a": 1}


class TestJournal:
    """The journal's content while a batch is in flight: the assembler reads it at the deadline."""

    async def test_each_call_is_settled_as_it_ends(self) -> None:
        end = asyncio.Event()

        async def wait(arguments: dict[str, Any], context: ToolContext) -> None:
            await end.wait()

        request = a_request(a_call("a"), a_call("b", "wait"), a_call("c", refused="no"))
        async with a_bus() as bus:
            tools = [Ledger().tool("look"), a_tool("wait", wait)]
            running = asyncio.create_task(results_of(tools, request, bus))

            async def are_two_settled() -> bool:
                return len(await noted(bus)) == 2

            await until(are_two_settled)
            assert [result.call_id for result in outcomes(await noted(bus))] == ["a", "c"]
            end.set()
            await running

    async def test_only_a_write_is_noted_as_begun(self) -> None:
        async with a_bus() as bus:
            tools = [Ledger().tool("look"), Ledger().tool("book", "write")]
            await results_of(tools, a_request(a_call("a"), a_call("b", "book")), bus)
            assert set(await noted(bus)) == {outcome_entry("a"), outcome_entry("b"), begun_entry("b")}

    @pytest.mark.parametrize(
        "call",
        [
            a_call(name="book", arguments={"x": 1}),
            a_call(name="book", arguments={"x": "${calls[0]}"}),
            a_call(name="book", refused="no"),
            a_call(name="book", problem="not an object"),
        ],
        ids=["not valid", "waits for itself", "refused", "unusable"],
    )
    async def test_a_call_that_cannot_run_is_not_noted_as_begun(self, call: RequestedCall) -> None:
        book = tool(effect="write", name="book", description="Books.")(lambda: None)
        async with a_bus() as bus:
            await results_of([book], a_request(call, a_call("c2", refused="no")), bus)
            assert set(await noted(bus)) == {outcome_entry("c1"), outcome_entry("c2")}

    async def test_a_single_read_is_not_noted_as_it_is_committed_at_once(self) -> None:
        async with a_bus() as bus:
            await results_of([Ledger().tool("look")], a_request(a_call("a")), bus)
            assert not await noted(bus)

    async def test_a_single_write_is_noted_by_the_ledger(self) -> None:
        async with a_bus() as bus:
            await results_of([Ledger().tool("book", "write")], a_request(a_call("b", "book")), bus)
            assert set(await noted(bus)) == {outcome_entry("b"), begun_entry("b")}

    async def test_a_first_delivery_does_not_read_the_journal(self) -> None:
        class Unread(RedisSession):
            async def settled(self, journal: str) -> dict[str, bytes]:
                raise AssertionError("no worker has begun before")

        tools = [Ledger().tool("look"), Ledger().tool("book", "write")]
        request = a_request(a_call("a"), a_call("b", "book"))
        async with a_bus() as bus:
            session = Unread(bus.batcher, bus.keys, "s1", 60)
            results = await results_of(tools, request, bus, session=session)
        assert {result.status for result in results} == {"ok"}

    async def test_a_journal_that_fails_lets_the_neighbours_finish(self) -> None:
        class Failing(RedisSession):
            async def note(self, journal: str, entry: str, content: bytes) -> bool:
                if entry == outcome_entry("a"):
                    raise ResponseError("WRONGTYPE")
                return await super().note(journal, entry, content)

        async with a_bus() as bus:
            session = Failing(bus.batcher, bus.keys, "s1", 60)
            with pytest.raises(ResponseError):
                await results_of(
                    [Ledger().tool("look")], a_request(a_call("a"), a_call("b")), bus, session=session
                )
            assert set(await noted(bus)) == {outcome_entry("b")}


class TestTime:
    async def test_no_call_starts_after_the_deadline(self) -> None:
        ledger = Ledger()
        late = a_request(a_call(name="book"), deadline=soon(-1))
        (result,) = await results_of([ledger.tool("book", "write")], late)
        error = error_in(result)
        assert (error.error_type, "it was not run" in error.message) == ("timeout", True)
        assert not ledger.effects

    @pytest.mark.parametrize(("effect", "error_type"), [("read", "timeout"), ("write", "outcome_unknown")])
    async def test_the_deadline_ends_a_tool_that_would_have_longer(
        self, clock: Clock, effect: Any, error_type: str
    ) -> None:
        look = a_tool("look", _until_the_end_of(clock), effect, timeout_s=3_600)
        (result,) = await results_of([look], a_request(a_call(), deadline=soon(60)))
        assert error_in(result).error_type == error_type

    async def test_a_call_that_finds_no_thread_has_not_run(self, clock: Clock) -> None:
        end, runs = threading.Event(), 0

        def hang(arguments: dict[str, Any], context: ToolContext) -> None:
            nonlocal runs
            runs += 1
            end.wait(60)

        request = a_request(a_call("a"), a_call("b"), deadline=soon(60))
        tools = [a_tool("look", hang, timeout_s=3_600)]
        running = asyncio.create_task(results_of(tools, request, threads=1, batch_concurrency=2))
        try:
            await until(lambda: runs == 1)
            clock.forward(60)
            results = await running
        finally:
            end.set()
        messages = sorted(error_in(result).message for result in results)
        assert "time was over before the call began; it was not run" in messages[0]
        assert "look did not finish within" in messages[1]
        assert runs == 1

    async def test_no_other_tool_is_asked_when_time_is_over(self, clock: Clock) -> None:
        other = Ledger()
        slow = a_tool("look", _until_the_end_of(clock), alternatives="stand_in", timeout_s=3_600)
        request = a_request(a_call(), allowed=("look", "stand_in"), deadline=soon(60))
        (result,) = await results_of([slow, other.tool("stand_in")], request)
        assert "stand_in" not in error_in(result).message
        assert not other.effects


NONSENSE: list[dict[str, Any]] = [
    {"": ""},
    {"number": None},
    {"number": [[[[[]]]]]},
    {"number": "x" * 100_000},
    {"number": 10**400, "more": 1},
    {"number": 1, "\x00": {}},
    {"__proto__": {}, "self": 1, "arguments": {}, "context": {}},
    {"p0": 1},
]


@pytest.mark.parametrize("arguments", NONSENSE, ids=range(len(NONSENSE)))
async def test_invalid_arguments_are_answered_with_a_hint(arguments: dict[str, Any]) -> None:
    by_schema = Tool(
        "by_schema",
        "By schema.",
        {"properties": {"number": {"type": "integer", "maximum": 9}}, "required": ["number"]},
        lambda given, context: None,
        effect="read",
    )
    calls = [a_call("a", "double", arguments=arguments), a_call("b", "by_schema", arguments=arguments)]
    for result in await results_of([double, by_schema], a_request(*calls)):
        error = error_in(result)
        assert error.error_type == "validation_error"
        assert "number (required)" in error.suggested_action
        assert error.fields
        assert error.example_valid_call is not None
        assert len(result.model_dump_json()) < 20_000


async def test_a_validator_that_breaks_is_a_failure_of_the_tool() -> None:
    class Broken(BaseModel):
        @model_validator(mode="after")
        def explode(self) -> "Broken":
            raise KeyError("a fault of the tool's")

    async def take(broken: Broken) -> None: ...

    broken = tool(effect="write", name="look", description="Looks.")(take)
    (result,) = await results_of([broken], a_request(a_call()))
    assert error_in(result).error_type == "internal_error"


class TestSize:
    async def test_a_result_beyond_the_bound_is_shown_in_part_and_kept_whole(self) -> None:
        many = a_tool("look", lambda a, c: list(range(10_000)))
        async with a_bus() as bus:
            (result,) = await results_of([many], a_request(a_call()), bus, result_bytes_max=1_000)
            kept = await bus.session("s1").load("result:r1c0")
        assert len(result.model_dump_json()) < 1_300
        assert result.data[:3] == [0, 1, 2]
        assert 'read_result(handle="r1c0"' in result.data[-1]
        assert result.handle == "r1c0"
        assert kept is not None
        assert kept.endswith(b"9998,9999]")

    async def test_a_tool_may_show_less_than_the_dispatcher_would(self) -> None:
        text = a_tool("look", lambda a, c: "x" * 5_000, result_bytes_max=1_000)
        (result,) = await results_of([text], a_request(a_call()))
        assert len(result.data) < 1_000
        assert result.handle == "r1c0"

    async def test_a_result_too_large_to_be_kept_is_an_error(self) -> None:
        many = a_tool("look", lambda a, c: list(range(10_000)))
        bounds: dict[str, Any] = {"result_bytes_max": 1_000, "stored_result_bytes_max": 5_000}
        (result,) = await results_of([many], a_request(a_call()), **bounds)
        assert "narrow the query" in error_in(result).suggested_action

    async def test_results_that_fit_one_by_one_fit_into_one_event_together(self) -> None:
        """An event too large for the bus would lose every result of the batch."""
        long = a_tool("look", lambda a, c: "x" * 190_000)
        many = a_tool("list", lambda a, c: ["x" * 1_000] * 190)
        calls = [a_call(f"c{n}", "list" if n % 2 else "look") for n in range(40)]
        results = await results_of([long, many], a_request(*calls))
        assert len(ToolsCompleted.of(1, results).model_dump_json()) < 4_000_000
        assert {result.handle for result in results} == {f"r1c{n}" for n in range(40)}
        assert "characters" in results[0].data
        assert "items" in results[1].data[-1]


async def test_the_dispatcher_answers_on_every_kind_of_redis(bus: Bus) -> None:
    ledger = Ledger()
    tools = [ledger.tool("look"), ledger.tool("book", "write")]
    request = a_request(a_call("a"), a_call("b", "book"))
    before = await results_of(tools, request, bus)
    assert {result.status for result in before} == {"ok"}
    assert await results_of(tools, request, bus, redelivered=True) == before
    assert ledger.effects == {call.idempotency_key: 1 for call in request.calls}
