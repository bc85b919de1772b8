"""A batch from delivery to outcome: every call answered, and none run twice that must not be."""

import asyncio
import threading
from datetime import timedelta
from typing import Any

import pytest
from pydantic import BaseModel, model_validator
from redis.exceptions import ResponseError

from shared.clock import utc_now
from shared.events import ToolsCompleted
from shared.journal import begun_entry, journal_name, outcome_entry, outcomes
from tests.fakes import FakeSession
from tests.tool_dispatcher.builders import (
    Ledger,
    a_call,
    a_delivery,
    a_request,
    a_tool,
    error_in,
    results_of,
    until,
)
from tool_dispatcher.context import ToolContext
from tool_dispatcher.handlers import ToolDispatcher
from tool_dispatcher.settings import ToolDispatcherSettings
from tool_dispatcher.tool import Tool, tool


@tool(effect="read")
async def double(number: int) -> int:
    """Doubles a number."""
    return 2 * number


def _explode(arguments: dict[str, Any], context: ToolContext) -> None:
    raise SystemExit("a tool has no business to end us")


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


async def test_a_tool_learns_what_its_call_is() -> None:
    seen: list[ToolContext] = []

    async def look(arguments: dict[str, Any], context: ToolContext) -> None:
        seen.append(context)

    await results_of([a_tool("look", look, timeout_s=5)], a_request(a_call(key="the key")))
    await results_of([a_tool("look", look)], a_request(a_call()), redelivered=True)
    first, second = seen
    assert (first.idempotency_key, first.session_id, first.call_id) == ("the key", "s1", "c1")
    assert timedelta(0) < first.deadline - utc_now() <= timedelta(seconds=5)
    assert (first.attempt, second.attempt) == (1, 2)


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
            await asyncio.sleep(0)  # time for those to enter who must not
        running -= 1

    calls = [a_call(f"c{n}", "meet") for n in range(9)]
    results = await results_of([a_tool("meet", meet)], a_request(*calls), batch_concurrency=3)
    assert (most, {result.status for result in results}) == (3, {"ok"})


async def test_results_keep_the_order_of_the_calls() -> None:
    async def wait(arguments: dict[str, Any], context: ToolContext) -> str:
        for _ in range(arguments["turns"]):
            await asyncio.sleep(0)
        return context.call_id

    calls = [a_call(f"c{n}", "wait", arguments={"turns": 20 - n}) for n in range(8)]
    results = await results_of([a_tool("wait", wait)], a_request(*calls))
    assert [result.data for result in results] == [call.id for call in calls]


class TestTakeover:
    """Another worker had the batch before; what it did is in the journal, or only that it began."""

    async def test_what_is_settled_is_not_run_again(self) -> None:
        ledger, session = Ledger(), FakeSession()
        tools = [ledger.tool("look"), ledger.tool("book", "write")]
        calls = [a_call("a"), a_call("b", "book"), a_call("c"), a_call("d", "book")]
        before = await results_of(tools, a_request(*calls[:2]), session)
        after = await results_of(tools, a_request(*calls), session, redelivered=True)
        assert after[:2] == before
        assert ledger.effects == {call.idempotency_key: 1 for call in calls}

    async def test_a_write_cut_off_is_never_run_again_and_a_read_is(self) -> None:
        ledger, session = Ledger(), FakeSession()
        book, look = ledger.tool("book", "write"), ledger.tool("look")
        began = asyncio.Event()

        async def never_ends(arguments: dict[str, Any], context: ToolContext) -> None:
            ledger.effects[context.idempotency_key] += 1
            if sum(ledger.effects.values()) == 2:
                began.set()
            await asyncio.Event().wait()

        request = a_request(a_call("a", "book"), a_call("b", "look"))
        slow = [a_tool("book", never_ends, "write"), a_tool("look", never_ends)]
        dying = asyncio.create_task(results_of(slow, request, session))
        await began.wait()
        dying.cancel()
        with pytest.raises(asyncio.CancelledError):
            await dying

        booked, looked = await results_of([book, look], request, session, redelivered=True)
        assert error_in(booked).error_type == "outcome_unknown"
        assert looked.status == "ok"
        assert ledger.effects == {"s1/1/a": 1, "s1/1/b": 2}
        again, _ = await results_of([book, look], request, session, redelivered=True)
        assert again == booked

    async def test_a_write_begun_elsewhere_is_noticed_without_reading_the_journal(self) -> None:
        ledger, session = Ledger(), FakeSession()
        await session.note(journal_name(1), begun_entry("s1/1/c1"), b"somebody else")
        (result,) = await results_of([ledger.tool("book", "write")], a_request(a_call(name="book")), session)
        assert error_in(result).error_type == "outcome_unknown"
        assert not ledger.effects

    async def test_a_first_delivery_does_not_read_the_journal(self) -> None:
        class Unread(FakeSession):
            async def settled(self, journal: str) -> dict[str, bytes]:
                raise AssertionError("nobody has begun before")

        ledger = Ledger()
        request = a_request(a_call("a"), a_call("b", "book"))
        results = await results_of([ledger.tool("look"), ledger.tool("book", "write")], request, Unread())
        assert {result.status for result in results} == {"ok"}

    async def test_two_workers_at_once_agree_and_write_once(self) -> None:
        ledger, session = Ledger(), FakeSession()
        tools = [ledger.tool("look"), ledger.tool("book", "write")]
        request = a_request(a_call("a"), *(a_call(f"b{n}", "book") for n in range(5)))
        await asyncio.gather(
            results_of(tools, request, session), results_of(tools, request, session, redelivered=True)
        )
        written = {key: times for key, times in ledger.effects.items() if "/b" in key}
        assert written == {f"s1/1/b{n}": 1 for n in range(5)}
        assert await results_of(tools, request, session, redelivered=True) == outcomes(
            session.journals[journal_name(1)]
        )


class TestJournal:
    async def test_each_call_is_settled_as_it_ends(self) -> None:
        """The assembler finds what there is of a batch that is still under way."""
        session, end = FakeSession(), asyncio.Event()

        async def wait(arguments: dict[str, Any], context: ToolContext) -> None:
            await end.wait()

        request = a_request(a_call("a"), a_call("b", "wait"), a_call("c", refused="no"))
        running = asyncio.create_task(
            results_of([Ledger().tool("look"), a_tool("wait", wait)], request, session)
        )
        await until(lambda: len(session.journals.get(journal_name(1), {})) == 2)
        assert [result.call_id for result in outcomes(session.journals[journal_name(1)])] == ["a", "c"]
        end.set()
        await running

    async def test_only_a_write_is_noted_as_begun(self) -> None:
        session = FakeSession()
        tools = [Ledger().tool("look"), Ledger().tool("book", "write")]
        await results_of(tools, a_request(a_call("a"), a_call("b", "book")), session)
        assert set(session.journals[journal_name(1)]) == {
            outcome_entry("s1/1/a"),
            outcome_entry("s1/1/b"),
            begun_entry("s1/1/b"),
        }

    async def test_arguments_that_are_not_valid_begin_nothing(self) -> None:
        session = FakeSession()
        book = tool(effect="write", name="book", description="Books.")(lambda: None)
        await results_of([book], a_request(a_call(name="book", arguments={"x": 1})), session)
        assert begun_entry("s1/1/c1") not in session.journals[journal_name(1)]

    async def test_a_journal_that_fails_lets_the_neighbours_finish(self) -> None:
        class Failing(FakeSession):
            async def note(self, journal: str, entry: str, content: bytes) -> bool:
                if entry == outcome_entry("s1/1/a"):
                    raise ResponseError("WRONGTYPE")
                return await super().note(journal, entry, content)

        session = Failing()
        with pytest.raises(ResponseError):
            await results_of([Ledger().tool("book", "write")], a_request(*_two_bookings()), session)
        assert outcome_entry("s1/1/b") in session.journals[journal_name(1)]


def _two_bookings() -> tuple[Any, Any]:
    return a_call("a", "book"), a_call("b", "book")


class TestTime:
    async def test_nothing_begins_after_the_deadline(self) -> None:
        ledger = Ledger()
        late = a_request(a_call(name="book"), deadline=utc_now() - timedelta(seconds=1))
        (result,) = await results_of([ledger.tool("book", "write")], late)
        error = error_in(result)
        assert (error.error_type, "it was not run" in error.message) == ("timeout", True)
        assert not ledger.effects

    @pytest.mark.parametrize(("effect", "error_type"), [("read", "timeout"), ("write", "outcome_unknown")])
    async def test_the_deadline_ends_a_tool_that_would_have_longer(
        self, effect: Any, error_type: str
    ) -> None:
        async def slow(arguments: dict[str, Any], context: ToolContext) -> None:
            await asyncio.Event().wait()

        soon = a_request(a_call(), deadline=utc_now() + timedelta(seconds=0.1))
        (result,) = await results_of([a_tool("look", slow, effect)], soon)
        assert error_in(result).error_type == error_type

    async def test_a_call_that_finds_no_thread_has_not_begun(self) -> None:
        end, session = threading.Event(), FakeSession()

        def hang(arguments: dict[str, Any], context: ToolContext) -> None:
            end.wait(20)

        request = a_request(*_two_bookings(), deadline=utc_now() + timedelta(seconds=0.2))
        try:
            results = await results_of([a_tool("book", hang, "write")], request, session, threads=1)
        finally:
            end.set()
        kinds = sorted(error_in(result).error_type for result in results)
        assert kinds == ["outcome_unknown", "timeout"]
        begun = [entry for entry in session.journals[journal_name(1)] if entry.endswith(":begun")]
        assert len(begun) == 1


NONSENSE: list[dict[str, Any]] = [
    {"": ""},
    {"number": None},
    {"number": [[[[[]]]]]},
    {"number": "x" * 100_000},
    {"number": 10**400},
    {"number": 1, "\x00": {}},
    {"__proto__": {}, "self": 1, "arguments": {}, "context": {}},
    {"p0": 1},
]


@pytest.mark.parametrize("arguments", NONSENSE)
async def test_nonsense_is_answered_with_a_way_out(arguments: dict[str, Any]) -> None:
    by_schema = Tool(
        "by_schema", "By schema.", {"properties": {"number": {"type": "integer"}}}, print, effect="read"
    )
    calls = [a_call("a", "double", arguments=arguments), a_call("b", "by_schema", arguments=arguments)]
    for result in await results_of([double, by_schema], a_request(*calls)):
        if result.error is not None:
            assert result.error.suggested_action
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


async def test_a_result_beyond_the_bound_is_an_error() -> None:
    many = a_tool("look", lambda a, c: list(range(10_000)))
    (result,) = await results_of([many], a_request(a_call()), result_bytes_max=1_000)
    assert "narrow the query" in error_in(result).suggested_action


async def test_results_that_fit_one_by_one_fit_into_one_event_together() -> None:
    """An event too large for the bus would lose every result of the batch."""
    long = a_tool("look", lambda a, c: "x" * 190_000)
    many = a_tool("list", lambda a, c: ["x" * 1_000] * 190)
    calls = [a_call(f"c{n}", "list" if n % 2 else "look") for n in range(40)]
    results = await results_of([long, many], a_request(*calls))
    assert len(ToolsCompleted(round=1, results=results).model_dump_json()) < 4_000_000
    assert "narrow the query" in error_in(results[1]).suggested_action
    assert "Cut after" in results[0].data


async def test_the_outcome_is_one_event_and_nothing_else() -> None:
    dispatcher = ToolDispatcher({"double": double}, ToolDispatcherSettings())
    request = a_request(a_call(name="double", arguments={"number": 1}))
    outcome = await dispatcher.on_tools_requested(a_delivery(request), FakeSession())
    assert (outcome.writes, outcome.timers, len(outcome.events)) == ((), (), 1)
    assert isinstance(outcome.events[0], ToolsCompleted)
    assert outcome.events[0].round == 1
