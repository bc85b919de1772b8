"""Calls that run as one call of their tool's batch variant."""

from typing import Any

import pytest
from antiphon_shared.tools.calls import ToolError
from antiphon_shared.tools.contract import BatchVariant, Contract, Dependency

from tests.rows import each_row
from tests.tool_dispatcher.batch.builders import (
    MANY,
    READ,
    ROOMY,
    SEARCH_FIRST,
    WRITE,
    PlanRun,
    a_call,
    a_failure,
    a_plan,
    a_request,
    error_in,
    ok,
)
from tool_dispatcher import batch
from tool_dispatcher.batch import Bounds, Plan, gathered, plan_batch

ONE = READ.model_copy(update={"batch": MANY})
CONTRACTS = {"one": ONE, "many": READ}


def spread(variant: BatchVariant, effect: Any, outcome: Any, count: int) -> Any:
    """Spread a variant's outcome of any type over its calls."""
    return batch.spread(variant, effect, outcome, count)


def _plan_of(count: int, contracts: dict[str, Contract] | None = None, **known: Any) -> Plan:
    calls = [a_call("one", arguments={"n": n}) for n in range(count)]
    return a_plan(*calls, contracts=contracts or CONTRACTS, **known)


def _calls(plan: Plan) -> list[tuple[int, ...]]:
    return [unit.calls for unit in plan.units]


def test_calls_beyond_the_bound_are_collapsed_into_one() -> None:
    plan = _plan_of(4)
    (unit,) = plan.units
    assert (unit.calls, unit.tool, unit.variant) == ((0, 1, 2, 3), "many", MANY)
    assert unit.key == "k0+3"


def test_calls_up_to_the_bound_run_singly() -> None:
    plan = _plan_of(3)
    assert _calls(plan) == [(0,), (1,), (2,)]
    assert [(unit.tool, unit.key, unit.variant) for unit in plan.units] == [
        ("one", f"k{n}", None) for n in range(3)
    ]


def test_a_group_has_no_more_calls_than_the_variant_takes() -> None:
    plan = _plan_of(25)
    assert [len(unit.calls) for unit in plan.units] == [10, 10, 5]
    assert [unit.key for unit in plan.units] == ["k0+9", "k10+9", "k20+4"]


def test_a_call_left_over_runs_by_itself() -> None:
    last = _plan_of(11).units[-1]
    assert (last.calls, last.tool, last.key) == ((10,), "one", "k10")


def test_calls_of_other_tools_in_between_do_not_matter() -> None:
    calls = [a_call(name) for name in ("one", "look", "one", "one", "look", "one")]
    plan = a_plan(*calls, contracts={**CONTRACTS, "look": READ})
    assert _calls(plan) == [(0, 2, 3, 5), (1,), (4,)]


def test_calls_that_need_a_value_of_another_run_by_themselves_and_do_not_count() -> None:
    needy = a_call("one", arguments={"n": "${calls[0]}"})
    assert _calls(a_plan(*[a_call("one")] * 3, needy, contracts=CONTRACTS)) == [(0,), (1,), (2,), (3,)]
    assert _calls(a_plan(*[a_call("one")] * 4, needy, contracts=CONTRACTS)) == [(0, 1, 2, 3), (4,)]


def test_calls_that_the_request_refuses_do_not_count() -> None:
    refused = [a_call("one", refused="the limit is reached"), a_call("one", problem="cut off")]
    twins = [a_call("one", id="twin")] * 2
    assert len(a_plan(*[a_call("one")] * 3, *refused, contracts=CONTRACTS).units) == 5
    assert len(a_plan(*[a_call("one")] * 2, *twins, contracts=CONTRACTS).units) == 4


@pytest.mark.parametrize(
    ("contracts", "known"),
    [
        ({"one": ONE}, {}),
        ({"one": READ, "many": READ}, {}),
        ({"one": ONE, "many": WRITE}, {}),
        ({"one": ONE, "many": READ.model_copy(update={"rounds": (2,)})}, {}),
        ({"one": ONE, "many": READ.model_copy(update={"depends_on": (Dependency(tool="one"),)})}, {}),
        (CONTRACTS, {"denied": {"many"}}),
    ],
    ids=["no variant there", "none declared", "other effect", "other round", "needs more", "denied"],
)
def test_calls_without_a_usable_batch_variant_run_singly(
    contracts: dict[str, Contract], known: dict[str, Any]
) -> None:
    assert len(_plan_of(5, contracts, **known).units) == 5


def test_a_variant_that_is_not_allowed_is_not_used() -> None:
    request = a_request(*[a_call("one")] * 5, allowed=("one",))
    assert len(plan_batch(request, CONTRACTS, ROOMY).units) == 5


def test_a_group_keeps_to_the_bounds_of_both_tools() -> None:
    contracts = {
        "one": WRITE.model_copy(update={"batch": MANY, "max_concurrency": 3}),
        "many": Contract(effect="write", max_concurrency=2),
    }
    (unit,) = _plan_of(4, contracts).units
    assert unit.is_sequential
    assert unit.is_fail_fast
    assert unit.limits == (("one", 3), ("many", 2))


def test_groups_do_not_depend_on_settled_or_refused_calls() -> None:
    """A group has an idempotency key: a batch taken over must find the very same one."""
    fresh = _plan_of(25)
    later = _plan_of(
        25, settled={index: ok(index, name="one") for index in (0, 3, 11, 24)}, refused={2: a_failure()}
    )
    assert [unit.key for unit in later.units] == [unit.key for unit in fresh.units]
    assert later.unit_of == fresh.unit_of


def test_a_refused_call_is_left_out_of_its_group() -> None:
    plan_run = PlanRun(_plan_of(4, refused={1: a_failure("not valid", error_type="validation_error")}))
    assert plan_run.begun_calls == [(0, 2, 3)]
    assert [result.status for result in plan_run.end_all()] == ["ok", "error", "ok", "ok"]


def test_a_partly_settled_group_runs_whole_and_keeps_its_settled_results() -> None:
    plan_run = PlanRun(_plan_of(4, settled={1: ok(1, "as it was", "one")}))
    assert plan_run.begun_calls == [(0, 1, 2, 3)]
    assert [result.data for result in plan_run.end_all()] == [{"id": 1}, "as it was", {"id": 1}, {"id": 1}]
    assert plan_run.answered == []


def test_calls_that_waited_for_another_tool_are_collapsed_too() -> None:
    contracts = {**CONTRACTS, "one": SEARCH_FIRST.model_copy(update={"batch": MANY}), "search": READ}
    calls = [a_call("search"), *[a_call("one")] * 4]
    plan_run = PlanRun(a_plan(*calls, contracts=contracts, settled={2: ok(2, "as it was", "one")}))
    plan_run.end(0)
    assert plan_run.running_calls == [(1, 2, 3, 4)]
    assert [result.status for result in plan_run.end_all()] == ["ok"] * 5


def test_a_group_that_has_settled_does_not_run() -> None:
    plan_run = PlanRun(_plan_of(4, settled={index: ok(index, index, "one") for index in range(4)}))
    assert plan_run.begun == []
    assert [result.data for result in plan_run.end_all()] == [0, 1, 2, 3]


def test_a_group_all_of_whose_calls_are_refused_does_not_run() -> None:
    plan_run = PlanRun(_plan_of(4, refused=dict.fromkeys(range(4), a_failure())))
    assert plan_run.begun == []
    assert len(plan_run.end_all()) == 4


def test_bounds_count_a_group_once() -> None:
    calls = [a_call("one")] * 20 + [a_call("look")] * 2
    plan = a_plan(*calls, contracts={**CONTRACTS, "look": READ}, bounds=Bounds(batch_concurrency=3))
    assert PlanRun(plan).running_calls == [tuple(range(10)), tuple(range(10, 20)), (20,)]


def test_a_result_names_the_tool_that_was_called() -> None:
    assert {result.tool for result in PlanRun(_plan_of(4)).end_all()} == {"one"}


def test_arguments_are_gathered_in_order() -> None:
    assert gathered(MANY, [{"n": 1}, {"n": 2}]) == {"items": [{"n": 1}, {"n": 2}]}


@pytest.mark.parametrize(
    "outcome",
    [
        [{"id": 1}, "two", None],
        [{"status": "ok", "data": {"id": 1}}, "two", {"status": "ok", "data": None}],
        {
            "results": [
                {"index": 2, "status": "ok", "data": None},
                {"index": 0, "status": "ok", "data": {"id": 1}},
                {"index": 1, "status": "ok", "data": "two"},
            ],
            "summary": {"ok": 3},
        },
        {"results": [{"id": 1}, "two", None]},
    ],
    ids=["list", "list of envelopes", "results in any order", "results without index"],
)
def test_each_call_gets_its_own_item(outcome: Any) -> None:
    assert spread(MANY, "read", outcome, 3) == [{"id": 1}, "two", None]


def test_an_item_that_only_looks_a_little_like_an_envelope_is_data() -> None:
    items: list[Any] = [
        {"status": "ok", "id": 5},
        {"status": "error", "job": "nightly"},
        {"error": None, "id": 3},
        {"error": "late", "train": "IC 5"},
        {"status": "ok"},
        {"index": 9},
    ]
    assert spread(MANY, "read", items, 6) == items


@pytest.mark.parametrize(
    ("item", "error_type", "message", "action"),
    [
        (
            {
                "error": {
                    "error_type": "not_found",
                    "message": "no such city",
                    "suggested_action": "Ask for one.",
                }
            },
            "not_found",
            "no such city",
            "Ask for one.",
        ),
        (
            {"status": "error", "error": {"error_type": "rate_limit", "message": "slow"}},
            "rate_limit",
            "slow",
            "Wait",
        ),
        ({"status": "error", "error": {"code": 7}, "id": 3}, "internal_error", "7", "Go on without"),
        ({"status": "error", "error": {"error_type": "of our own"}}, "internal_error", "of our own", "Go on"),
        ({"status": "error"}, "internal_error", "no reason was given", "Go on without"),
        ({"error": "duplicate"}, "internal_error", "duplicate", "Go on without"),
        (
            {"error": {"error_type": "timeout", "message": 5, "retry_after_s": "soon"}},
            "timeout",
            "5",
            "Ask for less",
        ),
    ],
)
def test_an_item_may_fail_by_itself(item: Any, error_type: str, message: str, action: str) -> None:
    good, error = spread(MANY, "read", ["fine", item], 2)
    assert good == "fine"
    assert isinstance(error, ToolError)
    assert error.error_type == error_type
    assert message in error.message
    assert action in error.suggested_action


def test_the_error_of_an_item_keeps_its_fields() -> None:
    item_error = {
        "error_type": "rate_limit",
        "message": "slow",
        "retry_after_s": 90_000,
        "fields": {"n": "too often"},
    }
    (error,) = spread(MANY, "read", [{"error": item_error}], 1)
    assert (error.retry_after_s, error.fields) == (90_000, {"n": "too often"})


def test_the_failed_item_of_a_write_is_not_simply_called_again() -> None:
    (error,) = spread(MANY, "write", [{"error": "duplicate"}], 1)
    assert "check with a reading tool before making this call again" in error.suggested_action


@each_row(
    ("outcome", "returned"),
    [
        ([1], "a list of 1"),
        (None, "null"),
        ({"done": 2}, "an object with 'done'"),
        ({"results": [1, 2, 3]}, "where `results` is a list of 3"),
        ({"results": [{"index": 0}, {"index": 0}]}, "where `results` is a list of 2"),
        ({"results": [{"index": 1}, {"index": 2}]}, "each index from 0 to 1 once"),
        ({"results": [{"index": True}, {"index": 0}]}, "each index from 0 to 1 once"),
        ({"results": [{"index": 0}, "x"]}, "each index from 0 to 1 once"),
    ],
)
def test_results_that_cannot_be_assigned_to_calls_are_an_error_for_each(outcome: Any, returned: str) -> None:
    for effect, action in (("read", "one item at a time"), ("write", "took effect; do not repeat it")):
        errors = spread(MANY, effect, outcome, 2)
        assert len(errors) == 2
        for error in errors:
            assert error.error_type == "internal_error"
            assert "run as one of 2 by many" in error.message
            assert returned in error.message
            assert action in error.suggested_action


def test_the_failure_of_the_whole_is_that_of_each() -> None:
    whole = a_failure("the service is down", retry_after_s=3.0)
    first, second = spread(MANY, "read", whole, 2)
    assert first == second
    assert first.message == "This call was one of 2 in one call of many: the service is down"
    assert (first.error_type, first.retry_after_s) == ("api_failure", 3.0)


def test_one_bad_item_is_the_failure_of_its_call_alone() -> None:
    outcomes = dict(enumerate(spread(MANY, "read", ["a", {"error": "no"}, "c", "d"], 4)))
    results = PlanRun(_plan_of(4), outcomes).end_all()
    assert [result.status for result in results] == ["ok", "error", "ok", "ok"]
    assert "no" in error_in(results[1]).message


@each_row(
    ("item", "code", "error_type"),
    [
        ({"error": {"code": "NOT_FOUND"}}, "NOT_FOUND", "not_found"),
        ({"error": {"code": "NOT_FOUND", "message": "No such city."}}, "NOT_FOUND", "not_found"),
        ({"error": "NOT_FOUND"}, "NOT_FOUND", "not_found"),
        ({"status": "error", "error": {"code": "not-found"}}, "not-found", "not_found"),
        ({"index": 0, "status": "error", "code": "NOT_FOUND", "message": "None."}, "NOT_FOUND", "not_found"),
        ({"error": {"code": 404}}, "404", "not_found"),
        ({"error": {"code": "ORA-00942", "error_type": "not_found"}}, "ORA-00942", "not_found"),
        ({"error": {"code": "E_FULL"}}, "E_FULL", "internal_error"),
        ({"error": {"code": "TOO_MANY_REQUESTS"}}, "TOO_MANY_REQUESTS", "rate_limit"),
        ({"error": {"code": "has spaces\n"}}, "", "internal_error"),
        ({"error": {"code": True}}, "", "internal_error"),
        ({"error": {"message": "no code"}}, "", "internal_error"),
    ],
)
def test_the_error_of_an_item_keeps_its_code_next_to_the_error_type(
    item: Any, code: str, error_type: str
) -> None:
    (error,) = spread(MANY, "read", [item], 1)
    assert isinstance(error, ToolError)
    assert (error.code, error.error_type) == (code, error_type)
    assert code in error.message or "message" in str(item)


@pytest.mark.parametrize("code", ["TIMEOUT", "RATE_LIMITED", "UNAVAILABLE", "503"])
def test_a_transient_code_of_a_write_item_still_means_an_unknown_outcome(code: str) -> None:
    (error,) = spread(MANY, "write", [{"error": {"code": code}}], 1)
    assert (error.code, error.error_type) == (code, "outcome_unknown")


def test_data_with_its_own_code_or_status_field_is_data() -> None:
    items = [{"code": "NOT_FOUND"}, {"status": "error", "host": "a"}, {"data": {"code": "X"}, "status": "ok"}]
    assert spread(MANY, "read", items, 3) == [*items[:2], {"code": "X"}]
