"""Calls that wait for others, and calls that never can begin."""

from typing import Any

from antiphon_shared.tools.contract import Contract, Dependency
from hypothesis import given
from hypothesis import strategies as st

from tests.rows import each_row
from tests.tool_dispatcher.batch.builders import (
    READ,
    SEARCH_FIRST,
    PlanRun,
    a_call,
    a_failure,
    a_plan,
    error_in,
    ok,
)
from tool_dispatcher.batch.dependencies import find_cycles, missing_fields

CONTRACTS = {"search": READ, "fetch": SEARCH_FIRST, "look": READ}


def _plan_run(*names: str, outcomes: dict[int, Any] | None = None, **known: Any) -> PlanRun:
    return PlanRun(a_plan(*map(a_call, names), contracts=CONTRACTS, **known), outcomes or {})


def test_a_dependent_call_waits_for_every_call_of_the_tool_it_needs() -> None:
    plan_run = _plan_run("fetch", "search", "search", "look")
    assert plan_run.running_calls == [(1,), (2,), (3,)]
    plan_run.end(1)
    assert (0,) not in plan_run.running_calls
    plan_run.end(2)
    assert (0,) in plan_run.running_calls


def test_one_success_of_several_calls_satisfies_a_dependency() -> None:
    results = _plan_run("search", "search", "fetch", outcomes={0: a_failure(), 1: {"id": 7}}).end_all()
    assert [result.status for result in results] == ["error", "ok", "ok"]


def test_a_dependent_call_whose_dependency_failed_is_answered_as_such() -> None:
    plan_run = _plan_run("search", "fetch", outcomes={0: a_failure("the index is being rebuilt")})
    error = error_in(plan_run.end_all()[1])
    assert plan_run.begun_calls == [(0,)]
    assert error.error_type == "dependency_failed"
    assert error.message == (
        "fetch was not run: it needs the `id` search returns; "
        "calls[0] (search) failed (api_failure: the index is being rebuilt)."
    )
    assert error.suggested_action == (
        "First correct the call of search, or call it for something else. "
        "Then call fetch with the `id` it returns."
    )
    assert [result.index for result in plan_run.answered] == [1]


def test_a_result_without_the_fields_needed_is_not_a_success() -> None:
    error = error_in(_plan_run("search", "fetch", outcomes={0: {"documents": []}}).end_all()[1])
    assert error.error_type == "dependency_failed"
    assert "calls[0] (search) returned an object with 'documents', without `id`." in error.message


def test_all_that_failed_are_counted() -> None:
    outcomes = {0: a_failure(), 1: {}}
    error = error_in(_plan_run("search", "search", "fetch", outcomes=outcomes).end_all()[2])
    assert "none of the 2 calls of search in this batch gave it: calls[0] (search) failed" in error.message


def test_a_tool_that_succeeded_in_an_earlier_round_need_not_be_called_again() -> None:
    assert _plan_run("fetch", succeeded=("search",)).running_calls == [(0,)]


def test_a_tool_that_has_not_been_called_is_to_be_called_first() -> None:
    plan_run = _plan_run("fetch", "look")
    error = error_in(plan_run.end_all()[0])
    assert plan_run.begun_calls == [(1,)]
    assert error.error_type == "dependency_failed"
    assert error.message == "fetch was not run: it needs search, which has not succeeded in this session."
    assert error.suggested_action == "Call search first, then fetch with the `id` it returns."


def test_the_batchs_own_calls_count_more_than_earlier_rounds() -> None:
    plan_run = _plan_run("search", "fetch", outcomes={0: a_failure()}, succeeded=("search",))
    assert error_in(plan_run.end_all()[1]).error_type == "dependency_failed"


def test_a_result_settled_before_a_crash_satisfies_a_dependency() -> None:
    assert _plan_run("search", "fetch", settled={0: ok(0, {"id": 1}, "search")}).running_calls == [(1,)]
    plan_run = _plan_run("search", "fetch", settled={0: ok(0, {}, "search")})
    assert error_in(plan_run.end_all()[1]).error_type == "dependency_failed"


def test_a_call_with_a_placeholder_waits_for_the_call_it_names() -> None:
    plan_run = PlanRun(a_plan(a_call(arguments={"a": ["${calls[1].id}"]}), a_call(), a_call()))
    assert plan_run.running_calls == [(1,), (2,)]
    plan_run.end(1)
    assert plan_run.running_calls == [(2,), (0,)]


def test_a_call_whose_placeholder_names_a_call_that_failed_is_not_run() -> None:
    calls = [a_call(), a_call("show", arguments={"id": "${calls[0].id}"})]
    plan_run = PlanRun(a_plan(*calls), {0: a_failure("no route to it.")})
    error = error_in(plan_run.end_all()[1])
    assert plan_run.begun_calls == [(0,)]
    assert error.error_type == "dependency_failed"
    assert error.message == (
        "show was not run: an argument is what calls[0] (look) returns, and that call "
        "failed (api_failure: no route to it)."
    )
    assert error.suggested_action == "First correct calls[0]: Try later. Then call show again."


def test_a_failure_propagates_to_all_dependents_and_no_further() -> None:
    calls = [a_call(), *(a_call(arguments={"a": f"${{calls[{n}]}}"}) for n in range(3)), a_call()]
    results = PlanRun(a_plan(*calls), {0: a_failure()}).end_all()
    assert [result.status for result in results] == ["error"] * 4 + ["ok"]
    assert "calls[2]" in error_in(results[3]).message


def test_a_placeholder_for_a_refused_call_fails_before_anything_runs() -> None:
    waits_for_two = a_call(arguments={"a": "${calls[0]}", "b": "${calls[1]}"})
    plan_run = PlanRun(a_plan(a_call(), a_call(refused="the limit is reached"), waits_for_two))
    assert [result.index for result in plan_run.answered] == [1, 2]


def test_calls_that_wait_for_each_other_receive_an_error_naming_the_cycle() -> None:
    calls = [
        a_call("a", arguments={"x": "${calls[2]}"}),
        a_call("b"),
        a_call("c", arguments={"x": "${calls[0].y}"}),
        a_call("d", arguments={"x": "${calls[2]}"}),
    ]
    plan_run = PlanRun(a_plan(*calls))
    results = plan_run.end_all()
    assert plan_run.begun_calls == [(1,)]
    for index in (0, 2):
        error = error_in(results[index])
        assert error.error_type == "validation_error"
        assert "wait for each other in a cycle: calls[0] (a), calls[2] (c)" in error.message
        assert "in the next reply" in error.suggested_action
    assert error_in(results[3]).error_type == "dependency_failed", "it waits for the cycle, but is not in it"


def test_a_cycle_may_go_through_a_tool_that_is_needed() -> None:
    calls = [a_call("search", arguments={"a": "${calls[1]}"}), a_call("fetch")]
    results = PlanRun(a_plan(*calls, contracts=CONTRACTS)).end_all()
    assert ["cycle" in error_in(result).message for result in results] == [True, True]


def test_a_tool_that_needs_itself_is_a_cycle_and_no_endless_wait() -> None:
    contract = Contract(effect="read", mode="dependent", depends_on=(Dependency(tool="a"),))
    (result,) = PlanRun(a_plan(a_call("a"), contracts={"a": contract})).end_all()
    assert error_in(result).message == "a was not run: calls[0] (a) waits for itself."


def test_a_cycle_is_reported_the_same_way_after_a_crash() -> None:
    calls = [a_call(arguments={"x": "${calls[1]}"}), a_call(arguments={"x": "${calls[0]}"})]
    first, second = PlanRun(a_plan(*calls)).end_all()
    assert PlanRun(a_plan(*calls, settled={0: first})).end_all() == (first, second)


@each_row(
    ("data", "missing"),
    [
        ({"id": 1, "title": "x"}, []),
        ({"id": 0, "title": ""}, []),
        ({"id": None, "title": "x"}, ["id"]),
        ([{"id": 1, "title": "x"}, {}], []),
        ([{}, {"id": 1, "title": "x"}], ["id", "title"]),
        ({"documents": [{"id": 1}], "title": "x"}, []),
        ({"documents": {"id": 1}}, ["id", "title"]),
        ([], ["id", "title"]),
        ("id title", ["id", "title"]),
        (None, ["id", "title"]),
    ],
)
def test_a_field_is_found_at_the_top_or_in_the_first_record(data: Any, missing: list[str]) -> None:
    assert missing_fields(ok(0, data), ("id", "title")) == missing


def test_a_result_shown_in_part_is_taken_to_hold_the_fields() -> None:
    assert missing_fields(ok(0, "[{...", handle="h1"), ("id",)) == []


graphs = st.integers(1, 9).flatmap(
    lambda n: st.lists(st.lists(st.integers(0, n - 1), max_size=3), min_size=n, max_size=n)
)


@given(graphs)
def test_cycles_are_exactly_the_nodes_that_reach_each_other_in_dependency_order(
    needs: list[list[int]],
) -> None:
    reach = [{*edges} for edges in needs]
    for _ in needs:
        reach = [edges.union(*(reach[other] for other in edges)) for edges in reach]
    found = find_cycles(needs, range(len(needs)))
    assert sorted(node for cycle in found for node in cycle) == list(range(len(needs)))
    place = {node: number for number, cycle in enumerate(found) for node in cycle}
    for node in range(len(needs)):
        for other in range(len(needs)):
            is_one_cycle = node == other or (other in reach[node] and node in reach[other])
            assert (place[node] == place[other]) == is_one_cycle
        assert all(place[other] <= place[node] for other in needs[node])


def test_only_requested_nodes_and_their_dependencies_are_ordered() -> None:
    assert find_cycles([[2], [], [4], [1], []], [3, 0]) == [[1], [3], [4], [2], [0]]


def test_a_line_longer_than_any_stack_is_not_a_problem() -> None:
    many = range(20_000)
    assert find_cycles([[n - 1] if n else [] for n in many], many) == [[n] for n in many]
    assert len(find_cycles([[(n + 1) % len(many)] for n in many], many)) == 1
