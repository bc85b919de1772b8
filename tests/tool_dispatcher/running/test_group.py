"""Many calls as one call of a batch variant: each gets its own result, and only failed items run again."""

import asyncio
from collections import Counter
from typing import Any

import pytest
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.tools.calls import RequestedCall, ToolResult
from antiphon_shared.tools.contract import BatchVariant, Effect
from antiphon_shared.tools.journal import outcome_entry

from tests.tool_dispatcher.booking_service import end_lease
from tests.tool_dispatcher.builders import (
    QUICK,
    a_bus,
    a_call,
    a_dispatcher,
    a_request,
    a_tool,
    error_in,
    noted,
    results_of,
    until,
)
from tool_dispatcher.authoring.context import ToolContext
from tool_dispatcher.authoring.reconcile import TookEffect
from tool_dispatcher.authoring.tool import Tool

KEY = "default/s1/1/c0+4"
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
CITIES = {"type": "object", "properties": {"items": {"type": "array"}}, "required": ["items"]}
NAMES = ("Oslo", "Bergen", "Bodo", "Hamar", "Narvik")


def a_failure(error_type: str, message: str = "busy", **more: Any) -> dict[str, Any]:
    return {"status": "error", "error": {"error_type": error_type, "message": message, **more}}


class Service:
    """Does many things at once. `failures` are its first answers, by city."""

    def __init__(self, **failures: list[Any]) -> None:
        self.failures = failures
        self.runs: list[tuple[str, list[str]]] = []
        """The key and the cities of each run."""
        self.effects: Counter[str] = Counter()
        self.whole: list[BaseException] = []
        """The errors of the first runs as a whole."""

    async def __call__(self, arguments: dict[str, Any], context: ToolContext) -> Any:
        cities = [item["city"] for item in arguments["items"]]
        self.runs.append((context.idempotency_key, cities))
        if self.whole:
            raise self.whole.pop(0)
        return [self._one(city) for city in cities]

    def _one(self, city: str) -> Any:
        if failures := self.failures.get(city):
            return failures.pop(0)
        self.effects[city] += 1
        return {"city": city, "times": self.effects[city]}

    def tools(self, effect: Effect = "read", **options: Any) -> list[Tool]:
        batch = BatchVariant(tool="many", argument="items")
        single = Tool("one", "One.", CITY, _alone, effect=effect, batch=batch)
        many = Tool("many", "Many.", CITIES, self, effect=effect, **{"backoff": QUICK, **options})
        return [single, many]


def _alone(arguments: dict[str, Any], context: ToolContext) -> str:
    return f"{arguments['city']} alone"


def five(**changed: RequestedCall) -> list[RequestedCall]:
    calls = [a_call(f"c{n}", "one", arguments={"city": city}) for n, city in enumerate(NAMES)]
    return [changed.get(call.id, call) for call in calls]


async def answers(tools: list[Tool], calls: list[RequestedCall], **more: Any) -> tuple[ToolResult, ...]:
    return await results_of(tools, a_request(*calls, allowed=("one", "many")), **more)


def cities_of(results: tuple[ToolResult, ...]) -> list[Any]:
    return [result.data["city"] if result.data else None for result in results]


@pytest.mark.parametrize("effect", ["read", "write"])
async def test_many_calls_run_as_one_and_each_gets_its_own_result(effect: Effect) -> None:
    service = Service()
    results = await answers(service.tools(effect), five())
    assert cities_of(results) == list(NAMES)
    assert service.runs == [(KEY, list(NAMES))]
    assert {result.tool for result in results} == {"one"}


async def test_few_calls_run_each_by_itself() -> None:
    service = Service()
    results = await answers(service.tools(), five()[:3])
    assert [result.data for result in results] == [f"{city} alone" for city in NAMES[:3]]
    assert service.runs == []


async def test_calls_run_singly_when_the_batch_variant_is_not_offered() -> None:
    service = Service()
    results = await results_of(service.tools(), a_request(*five(), allowed=("one",)))
    assert {result.status for result in results} == {"ok"}
    assert service.runs == []


async def test_an_invalid_call_of_a_group_is_answered_and_the_others_run() -> None:
    service = Service()
    calls = five(c2=a_call("c2", "one", arguments={"city": 7}))
    results = await answers(service.tools(), calls)
    assert error_in(results[2]).error_type == "validation_error"
    assert cities_of(results) == ["Oslo", "Bergen", None, "Hamar", "Narvik"]
    assert service.runs == [(KEY, ["Oslo", "Bergen", "Hamar", "Narvik"])]


async def test_arguments_that_the_variant_refuses_are_reported_to_each_call_and_not_run() -> None:
    service = Service()
    single, _ = service.tools()
    narrow = {**CITIES, "properties": {"items": {"type": "array", "maxItems": 100, "uniqueItems": True}}}
    many = Tool("many", "Many.", narrow, service, effect="read")
    same = [a_call(f"c{n}", "one", arguments={"city": "Oslo"}) for n in range(5)]
    for result in await answers([single, many], same):
        error = error_in(result)
        assert error.message.startswith("one was to run as one of 5 by many, and was not run.")
        assert "non-unique" in error.message
        assert error.suggested_action.startswith("Call one again")
    assert service.runs == []


class TestAgain:
    """The failed part of a group runs again, without the part that is done."""

    async def test_only_the_items_that_failed_run_again(self) -> None:
        service = Service(Bergen=[a_failure("api_failure")], Narvik=[a_failure("timeout")] * 2)
        results = await answers(service.tools(), five())
        assert cities_of(results) == list(NAMES)
        assert [cities for _, cities in service.runs] == [list(NAMES), ["Bergen", "Narvik"], ["Narvik"]]
        assert set(service.effects.values()) == {1}

    async def test_each_set_of_items_has_its_own_key(self) -> None:
        service = Service(Bergen=[a_failure("api_failure")], Narvik=[a_failure("api_failure")] * 2)
        await answers(service.tools(), five())
        keys = [key for key, _ in service.runs]
        assert keys[0] == KEY
        assert len(set(keys)) == 3
        assert all(key.startswith(f"{KEY}~") for key in keys[1:])

    async def test_the_same_items_keep_their_key(self) -> None:
        """Another worker that takes over has to come to the same keys."""
        first = Service(Bergen=[a_failure("api_failure")] * 2)
        second = Service(Oslo=[a_failure("timeout")], Bergen=[a_failure("timeout")] * 2)
        await answers(first.tools(), five())
        await answers(second.tools(), five())
        assert first.runs[1] == first.runs[2]
        assert first.runs[2] == second.runs[2]
        assert second.runs[1][0] != second.runs[2][0]

    async def test_an_item_is_tried_as_often_as_its_contract_permits_and_reports_the_attempts(self) -> None:
        service = Service(Bergen=[a_failure("api_failure")] * 9)
        results = await answers(service.tools(retry=2), five())
        assert error_in(results[1]).message == "busy (Tried 2 times)"
        assert len(service.runs) == 2
        assert cities_of(results) == ["Oslo", None, "Bodo", "Hamar", "Narvik"]

    async def test_attempts_at_the_whole_count_too(self) -> None:
        service = Service(Bergen=[a_failure("api_failure")] * 9)
        service.whole = [ConnectionResetError("gone")]
        results = await answers(service.tools(), five())
        assert len(service.runs) == 3
        assert service.runs[0] == service.runs[1], "a group that failed as a whole is retried unchanged"
        assert "(Tried 3 times)" in error_in(results[1]).message

    async def test_a_permanent_failure_of_an_item_is_not_retried(self) -> None:
        service = Service(Bergen=[a_failure("not_found", "no such city")], Bodo=[a_failure("api_failure")])
        results = await answers(service.tools(), five())
        assert error_in(results[1]).message == "no such city"
        assert [cities for _, cities in service.runs] == [list(NAMES), ["Bodo"]]

    async def test_results_of_the_first_run_are_kept_when_the_second_fails_as_a_whole(self) -> None:
        class Falling(Service):
            async def __call__(self, arguments: dict[str, Any], context: ToolContext) -> Any:
                if self.runs:
                    self.runs.append((context.idempotency_key, []))
                    raise ValueError("a fault of the tool's")
                return await super().__call__(arguments, context)

        service = Falling(Bergen=[a_failure("api_failure")])
        results = await answers(service.tools(), five())
        assert cities_of(results) == ["Oslo", None, "Bodo", "Hamar", "Narvik"]
        error = error_in(results[1])
        assert error.error_type == "internal_error"
        assert "a fault of the tool's" in error.message
        assert len(service.runs) == 2

    async def test_each_call_receives_an_error_when_every_attempt_of_the_group_fails(self) -> None:
        service = Service()
        service.whole = [ConnectionResetError("gone")] * 9
        for result in await answers(service.tools(), five()):
            error = error_in(result)
            assert error.error_type == "api_failure"
            assert "ConnectionResetError: gone" in error.message
            assert "(Tried 3 times)" in error.message
        assert service.runs == [(KEY, list(NAMES))] * 3

    async def test_a_delay_beyond_the_deadline_requested_by_an_item_is_reported(self) -> None:
        service = Service(Bergen=[a_failure("rate_limit", retry_after_s=600)])
        results = await answers(service.tools(), five())
        assert error_in(results[1]).retry_after_s == 600
        assert len(service.runs) == 1


class TestWrites:
    @pytest.mark.parametrize("options", [{}, {"idempotent": True}], ids=["plain", "idempotent"])
    async def test_an_item_that_was_refused_is_written_again_alone(self, options: dict[str, Any]) -> None:
        service = Service(Bergen=[a_failure("rate_limit")])
        results = await answers(service.tools("write", **options), five())
        assert cities_of(results) == list(NAMES)
        assert [cities for _, cities in service.runs] == [list(NAMES), ["Bergen"]]
        assert set(service.effects.values()) == {1}

    @pytest.mark.parametrize("error_type", ["api_failure", "timeout", "outcome_unknown"])
    @pytest.mark.parametrize("options", [{}, {"idempotent": True}], ids=["plain", "idempotent"])
    async def test_an_item_that_may_have_been_written_is_not_written_under_another_key(
        self, options: dict[str, Any], error_type: str
    ) -> None:
        service = Service(Bergen=[a_failure(error_type)])
        results = await answers(service.tools("write", **options), five())
        assert error_in(results[1]).error_type == error_type
        assert len(service.runs) == 1

    async def test_an_idempotent_write_that_failed_as_a_whole_is_made_again_with_its_key(self) -> None:
        service = Service()
        service.whole = [ConnectionResetError("gone")]
        results = await answers(service.tools("write", idempotent=True), five())
        assert cities_of(results) == list(NAMES)
        assert service.runs == [(KEY, list(NAMES))] * 2

    async def test_a_reconcilable_write_is_not_retried_in_a_group(self) -> None:
        service = Service(Bergen=[a_failure("rate_limit")])
        results = await answers(service.tools("write", reconcile=lambda key, arguments: None), five())
        assert error_in(results[1]).error_type == "rate_limit"
        assert len(service.runs) == 1

    async def test_a_failed_fail_fast_group_cancels_the_calls_after_it(self) -> None:
        service = Service(Bergen=[a_failure("not_found", "no such city")])
        later = a_tool("later", lambda a, c: "ran", "write")
        results = await results_of(
            [*service.tools("write"), later],
            a_request(*five(), a_call("z", "later"), allowed=("one", "many", "later")),
        )
        assert cities_of(results[:5]) == ["Oslo", None, "Bodo", "Hamar", "Narvik"]
        assert error_in(results[5]).error_type == "cancelled"
        assert "calls[1] (one) failed (not_found: no such city)" in error_in(results[5]).message


class TestCache:
    async def test_a_group_is_read_from_the_cache_when_all_of_it_was_read(self, bus: Bus) -> None:
        service = Service(Bergen=[a_failure("api_failure")])
        tools = service.tools(cache_ttl_s=60)
        first = await answers(tools, five(), bus=bus)
        again = [call.model_copy(update={"id": f"again {call.id}"}) for call in five()]
        second = await answers(tools, again, bus=bus)
        assert cities_of(first) == cities_of(second) == list(NAMES)
        assert len(service.runs) == 2, "one for all, one for the one that failed"

    async def test_a_group_one_of_which_failed_is_not_kept(self) -> None:
        service = Service(Bergen=[a_failure("not_found")])
        tools = service.tools(cache_ttl_s=60)
        async with a_bus() as bus:
            assert cities_of(await answers(tools, five(), bus=bus))[1] is None
            again = [call.model_copy(update={"id": f"again {call.id}"}) for call in five()]
            assert cities_of(await answers(tools, again, bus=bus)) == list(NAMES)
        assert len(service.runs) == 2


class TestTakeover:
    """Another worker begins where one has died."""

    async def die(self, tools: list[Tool], bus: Bus, begun: asyncio.Event) -> None:
        """Let a dispatcher begin the batch, and end then."""
        async with a_dispatcher(*tools, bus=bus) as dispatcher:
            request = a_request(*five(), allowed=("one", "many"))
            dying = asyncio.create_task(dispatcher.run(request))
            await begun.wait()
            dying.cancel()
            with pytest.raises(asyncio.CancelledError):
                await dying

    async def test_a_settled_call_of_a_group_keeps_its_result(self) -> None:
        service = Service()
        async with a_bus() as bus:
            result = ToolResult(index=1, call_id="c1", tool="one", status="ok", data={"city": "as it was"})
            await bus.session("s1").note("journal:1", outcome_entry("c1"), result.model_dump_json().encode())
            results = await answers(service.tools(), five(), bus=bus, redelivered=True)
        assert cities_of(results) == ["Oslo", "as it was", "Bodo", "Hamar", "Narvik"]

    @pytest.mark.parametrize(
        ("options", "statuses"),
        [
            ({"idempotent": True}, {"ok"}),
            ({"reconcile": lambda key, arguments: TookEffect([{"city": city} for city in NAMES])}, {"ok"}),
            ({}, {"error"}),
        ],
        ids=["runs again with the same key", "is asked", "is not known"],
    )
    async def test_a_group_cut_off_is_seen_to_under_the_same_key(
        self, options: dict[str, Any], statuses: set[str]
    ) -> None:
        service, begun = Service(), asyncio.Event()

        async def never_ends(arguments: dict[str, Any], context: ToolContext) -> None:
            service.runs.append((context.idempotency_key, [item["city"] for item in arguments["items"]]))
            begun.set()
            await asyncio.Event().wait()

        single, many = service.tools("write", **options)
        stuck = Tool("many", "Many.", CITIES, never_ends, effect="write", **options)
        async with a_bus() as bus:
            await self.die([single, stuck], bus, begun)
            await end_lease(bus, KEY)
            results = await answers([single, many], five(), bus=bus, redelivered=True)
        assert {result.status for result in results} == statuses
        if "idempotent" in options:
            assert service.runs == [(KEY, list(NAMES))] * 2
        else:
            assert len(service.runs) == 1
        if not options:
            assert {error_in(result).error_type for result in results} == {"outcome_unknown"}

    async def test_every_call_of_a_group_is_noted_as_begun(self) -> None:
        begun, service = asyncio.Event(), Service()

        async def never_ends(arguments: dict[str, Any], context: ToolContext) -> None:
            begun.set()
            await asyncio.Event().wait()

        single, _ = service.tools("write")
        stuck = Tool("many", "Many.", CITIES, never_ends, effect="write")
        async with a_bus() as bus:
            await self.die([single, stuck], bus, begun)

            async def are_noted() -> bool:
                return set(await noted(bus)) == {f"begun:c{n}" for n in range(5)}

            await until(are_noted)
