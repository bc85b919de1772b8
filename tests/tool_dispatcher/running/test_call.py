"""The life of a call: retried where that is safe, answered by an alternative, given the results of other calls."""

import asyncio
from copy import deepcopy
from typing import Any

import pytest
from antiphon_shared.process.clock import monotonic_s
from antiphon_shared.tools.calls import ErrorType, ToolResult
from antiphon_shared.tools.contract import Alternative, Effect

from tests.tool_dispatcher.builders import (
    QUICK,
    Flaky,
    Ledger,
    a_bus,
    a_call,
    a_dispatcher,
    a_request,
    a_tool,
    error_in,
    results_of,
    soon,
)
from tool_dispatcher.authoring.context import ToolContext
from tool_dispatcher.authoring.tool import Tool, ToolFailed, tool


def failing(error_type: ErrorType, message: str = "out of order", **more: Any) -> ToolFailed:
    return ToolFailed(error_type, message, **more)


class TestRetries:
    async def test_a_transient_failure_of_a_read_is_retried(self) -> None:
        flaky = Flaky(failing("api_failure"), ConnectionResetError("gone"))
        (result,) = await results_of([flaky.tool()], a_request(a_call()))
        assert (result.data, len(flaky.runs)) == ("at last", 3)
        assert [run.attempt for run in flaky.runs] == [1, 2, 3]
        assert {run.idempotency_key for run in flaky.runs} == {"default/s1/1/c1"}

    async def test_a_read_that_keeps_failing_is_reported_with_its_number_of_attempts(self) -> None:
        flaky = Flaky(*[failing("api_failure")] * 9)
        (result,) = await results_of([flaky.tool(retry=4)], a_request(a_call()))
        error = error_in(result)
        assert (error.message, len(flaky.runs)) == ("out of order (Tried 4 times)", 4)
        assert error.suggested_action == "It has been tried again already: go on without it and say so."

    @pytest.mark.parametrize("error_type", ["not_found", "validation_error", "permission_denied"])
    async def test_a_final_error_is_not_retried(self, error_type: ErrorType) -> None:
        flaky = Flaky(failing(error_type))
        (result,) = await results_of([flaky.tool()], a_request(a_call()))
        assert (error_in(result).error_type, len(flaky.runs)) == (error_type, 1)

    async def test_a_plain_write_is_not_retried(self) -> None:
        flaky = Flaky(failing("api_failure"))
        (result,) = await results_of([flaky.tool(effect="write")], a_request(a_call()))
        assert (error_in(result).error_type, len(flaky.runs)) == ("api_failure", 1)

    async def test_an_idempotent_write_is_retried_with_the_same_key(self) -> None:
        flaky = Flaky(ConnectionResetError("gone"), failing("timeout"))
        (result,) = await results_of([flaky.tool(effect="write", idempotent=True)], a_request(a_call()))
        assert result.data == "at last"
        assert [run.idempotency_key for run in flaky.runs] == ["default/s1/1/c1"] * 3
        assert {run.fence for run in flaky.runs} == {1}

    async def test_a_plain_write_that_was_refused_is_retried(self) -> None:
        flaky = Flaky(failing("rate_limit"))
        (result,) = await results_of([flaky.tool(effect="write")], a_request(a_call()))
        assert (result.data, len(flaky.runs)) == ("at last", 2)

    async def test_the_retry_delay_requested_by_a_tool_is_respected(self) -> None:
        flaky = Flaky(failing("rate_limit", retry_after_s=0.2))
        begun_s = monotonic_s()
        (result,) = await results_of([flaky.tool()], a_request(a_call()))
        assert result.data == "at last"
        assert monotonic_s() - begun_s >= 0.2

    @pytest.mark.parametrize("asked_s", [25.0, 31.0], ids=["longer than the session has", "too long"])
    async def test_a_requested_delay_beyond_the_deadline_is_reported_at_once(self, asked_s: float) -> None:
        flaky = Flaky(failing("rate_limit", retry_after_s=asked_s))
        (result,) = await results_of([flaky.tool()], a_request(a_call(), deadline=soon(20)))
        error = error_in(result)
        assert (error.error_type, error.retry_after_s, len(flaky.runs)) == ("rate_limit", asked_s, 1)

    async def test_each_attempt_begins_with_the_arguments_of_the_call(self) -> None:
        seen: list[dict[str, Any]] = []

        def spoil(arguments: dict[str, Any], context: ToolContext) -> None:
            seen.append(deepcopy(arguments))
            arguments.pop("cities").clear()
            raise failing("api_failure")

        stand_in = a_tool("other", lambda arguments, context: arguments)
        tools = [a_tool("look", spoil, alternatives="other", backoff=QUICK, retry=2), stand_in]
        request = a_request(a_call(arguments={"cities": ["Oslo"]}), allowed=("look", "other"))
        (result,) = await results_of(tools, request)
        assert seen == [{"cities": ["Oslo"]}] * 2
        assert result.data == {"cities": ["Oslo"]}


class TestAlternatives:
    """A tool that keeps failing is substituted by another one, and the result says so."""

    def broken(self, effect: Effect = "read", error_type: ErrorType = "api_failure", **options: Any) -> Tool:
        def fail(arguments: dict[str, Any], context: ToolContext) -> None:
            raise failing(error_type)

        given: dict[str, Any] = {"retry": 1, "alternatives": "other", **options}
        return a_tool("look", fail, effect, **given)

    async def answer(self, *tools: Tool, **settings: Any) -> ToolResult:
        call = a_call(arguments={"city": "Oslo", "days": 3})
        round = settings.pop("round", 1)
        allowed = settings.pop("allowed", tuple(tool.name for tool in tools))
        (result,) = await results_of(list(tools), a_request(call, allowed=allowed, round=round), **settings)
        return result

    async def test_an_alternative_answers_with_mapped_arguments_and_is_named_in_the_result(self) -> None:
        @tool(effect="read")
        async def other(place: str) -> str:
            """Looks elsewhere."""
            return f"rain in {place}"

        alternative = Alternative(tool="other", arguments={"city": "place"})
        result = await self.answer(self.broken(alternatives=alternative), other)
        assert (result.status, result.data, result.tool) == ("ok", "rain in Oslo", "look")
        assert result.substitute == "other"
        assert result.substitute_because == "look failed (api_failure: out of order); other answered instead."

    @pytest.mark.parametrize(
        ("options", "circumstances"),
        [
            ({"scopes": "crm"}, {}),
            ({"rounds": 2}, {}),
            ({}, {"approval": ("other",)}),
            ({}, {"allowed": ("look",)}),
        ],
        ids=["scopes", "rounds", "approval", "not offered"],
    )
    async def test_an_alternative_that_the_session_may_not_use_does_not_run(
        self, options: dict[str, Any], circumstances: dict[str, Any]
    ) -> None:
        ledger = Ledger()

        async def run(arguments: dict[str, Any], context: ToolContext) -> None:
            ledger.effects["other"] += 1

        result = await self.answer(self.broken(), a_tool("other", run, **options), **circumstances)
        assert (error_in(result).message, result.substitute) == ("out of order", "")
        assert not ledger.effects

    @pytest.mark.parametrize("error_type", ["not_found", "validation_error", "permission_denied"])
    async def test_a_final_error_has_no_alternative(self, error_type: ErrorType) -> None:
        ledger = Ledger()
        result = await self.answer(self.broken(error_type=error_type), ledger.tool("other"))
        assert error_in(result).error_type == error_type
        assert not ledger.effects

    @pytest.mark.parametrize("error_type", ["api_failure", "timeout", "internal_error", "outcome_unknown"])
    async def test_no_other_write_is_made_where_the_first_may_have_had_an_effect(
        self, error_type: ErrorType
    ) -> None:
        ledger = Ledger()
        result = await self.answer(self.broken("write", error_type), ledger.tool("other", "write"))
        assert error_in(result).error_type == error_type
        assert not ledger.effects

    async def test_another_write_is_made_where_the_first_had_no_effect(self) -> None:
        ledger = Ledger()
        result = await self.answer(self.broken("write", "rate_limit"), ledger.tool("other", "write"))
        assert (result.status, result.substitute) == ("ok", "other")
        assert ledger.effects == {"default/s1/1/c1": 1}

    async def test_an_alternative_write_is_made_while_the_breaker_of_the_first_is_open(self) -> None:
        ledger = Ledger()
        async with a_dispatcher(self.broken("write"), ledger.tool("other", "write")) as dispatcher:
            for n in range(11):
                (result,) = await dispatcher.run(a_request(a_call(f"c{n}"), allowed=("look", "other")))
        assert (result.status, result.substitute) == ("ok", "other")
        assert "circuit_open" in result.substitute_because
        assert ledger.effects == {"default/s1/1/c10": 1}

    async def test_the_first_failure_is_reported_with_the_others_when_all_alternatives_fail(self) -> None:
        second = a_tool("other", Flaky(failing("not_found"), failing("not_found")))
        third = a_tool("third", Flaky(failing("internal_error")))
        tools = [self.broken(alternatives=["other", "third"]), second, third]
        error = error_in(await self.answer(*tools))
        assert error.error_type == "api_failure"
        assert error.message == "out of order (other, third, asked instead, failed as well.)"

    async def test_the_next_one_is_asked_when_one_does_not_take_the_arguments(self) -> None:
        @tool(effect="read")
        async def other(city: int, days: int) -> str:
            """Takes a number."""
            return "never"

        result = await self.answer(
            self.broken(alternatives=["other", "third"]), other, Ledger().tool("third")
        )
        assert (result.status, result.substitute) == ("ok", "third")


class TestPlaceholders:
    """A value that one call returns and another one needs."""

    async def test_a_placeholder_keeps_the_type_of_the_result(self) -> None:
        @tool(effect="read")
        async def add(numbers: list[int]) -> int:
            """Adds."""
            return sum(numbers)

        look = a_tool("look", lambda a, c: {"found": [{"n": 2}, {"n": 40}]})
        request = a_request(
            a_call("a", "add", arguments={"numbers": ["${calls[1].found[0].n}", "${calls[1].found[1].n}"]}),
            a_call("b"),
        )
        added, _ = await results_of([look, add], request)
        assert added.data == 42

    async def test_an_argument_from_a_placeholder_is_validated_strictly(self) -> None:
        @tool(effect="read")
        async def double(number: int) -> int:
            """Doubles."""
            return 2 * number

        look = a_tool("look", lambda a, c: {"n": "42"})
        request = a_request(a_call("a"), a_call("b", "double", arguments={"number": "${calls[0].n}"}))
        _, doubled = await results_of([look, double], request)
        assert error_in(doubled).error_type == "validation_error"
        assert "number" in error_in(doubled).fields

    async def test_a_value_in_the_hidden_part_of_a_result_is_available(self) -> None:
        documents = a_tool("look", lambda a, c: [{"id": f"document {n}"} for n in range(5_000)])
        fetch = a_tool("fetch", lambda a, c: a)
        calls = a_call("a"), a_call("b", "fetch", arguments={"id": "${calls[0][4999].id}"})
        shown, fetched = await results_of([documents, fetch], a_request(*calls), result_bytes_max=1_000)
        assert len(shown.data) < 100
        assert fetched.data == {"id": "document 4999"}

    async def test_placeholders_are_resolved_by_the_worker_that_takes_the_batch_over(self) -> None:
        async with a_bus() as bus:
            documents = a_tool("look", lambda a, c: [{"id": f"document {n}"} for n in range(5_000)])
            fetched: list[Any] = []
            fetch = a_tool("fetch", lambda a, c: fetched.append(a))
            calls = a_call("a"), a_call("b", "fetch", arguments={"id": "${calls[0][4999].id}"})
            bounds: dict[str, Any] = {"result_bytes_max": 1_000}
            await results_of([documents], a_request(calls[0], a_call("c", refused="no")), bus, **bounds)
            unavailable = a_tool("look", Flaky(AssertionError("it has run before")))
            first, _ = await results_of(
                [unavailable, fetch], a_request(*calls), bus, redelivered=True, **bounds
            )
        assert first.status == "ok"
        assert fetched == [{"id": "document 4999"}]

    async def test_an_invalid_path_is_reported_with_the_existing_ones(self) -> None:
        look = a_tool("look", lambda a, c: {"documents": []})
        fetch = Tool(
            "fetch", "Fetches.", {"properties": {"id": {"type": "string"}}}, lambda a, c: a, effect="read"
        )
        request = a_request(a_call("a"), a_call("b", "fetch", arguments={"id": "${calls[0].documents[0]}"}))
        _, fetched = await results_of([look, fetch], request)
        error = error_in(fetched)
        assert error.error_type == "validation_error"
        assert error.fields == {
            "id": "${calls[0].documents[0]} does not exist: calls[0].documents is an empty list"
        }
        assert error.example_valid_call == fetch.example


async def test_two_timeouts_among_ten_calls_do_not_stop_the_eight_others() -> None:
    """The two that hang hold both places of the tool until they have timed out three times each."""

    async def look(arguments: dict[str, Any], context: ToolContext) -> str:
        if arguments["city"] in ("Fog", "Mist"):
            await asyncio.sleep(60)
        return f"sun in {arguments['city']}"

    cities = ("Fog", "Mist", *"ABCDEFGH")
    calls = [a_call(f"c{n}", arguments={"city": city}) for n, city in enumerate(cities)]
    bounded = a_tool("look", look, max_concurrency=2, timeout_s=0.05, backoff=QUICK)
    results = await results_of([bounded], a_request(*calls))
    assert [error_in(result).error_type for result in results[:2]] == ["timeout"] * 2
    assert [result.data for result in results[2:]] == [f"sun in {city}" for city in "ABCDEFGH"]


async def test_fetches_begin_after_their_search_and_run_side_by_side_up_to_their_bound() -> None:
    events: list[str] = []
    running, most = 0, 0

    async def search(arguments: dict[str, Any], context: ToolContext) -> dict[str, list[int]]:
        events.append("search begins")
        await asyncio.sleep(0.02)
        events.append("search ends")
        return {"ids": list(range(8))}

    async def fetch(arguments: dict[str, Any], context: ToolContext) -> int:
        nonlocal running, most
        events.append("fetch")
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.02)
        running -= 1
        return int(arguments["id"])

    tools = [a_tool("search", search), a_tool("fetch", fetch, depends_on="search", max_concurrency=3)]
    fetches = [
        a_call(f"f{n}", "fetch", arguments={"id": f"${{calls[8].ids[{n}]}}" if n % 2 else n})
        for n in range(8)
    ]
    results = await results_of(tools, a_request(*fetches, a_call("s", "search")))
    assert [result.data for result in results[:8]] == list(range(8))
    assert events == ["search begins", "search ends", *["fetch"] * 8]
    assert most == 3


async def test_bounded_fetches_do_not_run_where_their_search_has_failed() -> None:
    ledger = Ledger()
    tools = [
        a_tool("search", Flaky(failing("not_found"))),
        Tool(
            "fetch",
            "Fetches.",
            {"type": "object"},
            ledger.tool("fetch").function,
            effect="read",
            depends_on="search",
            max_concurrency=2,
        ),
    ]
    calls = [a_call("s", "search"), *(a_call(f"f{n}", "fetch") for n in range(4))]
    results = await results_of(tools, a_request(*calls))
    assert [error_in(result).error_type for result in results] == ["not_found", *["dependency_failed"] * 4]
    assert not ledger.effects
