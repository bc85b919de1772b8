"""The order in which calls begin, and the calls that a failure stops."""

import pytest
from antiphon_shared.tools.contract import Contract

from tests.tool_dispatcher.batch.builders import (
    MANY,
    READ,
    WRITE,
    PlanRun,
    a_call,
    a_failure,
    a_plan,
    a_request,
    error_in,
    ok,
)
from tool_dispatcher.batch import Bounds, advance, failed, plan_batch, start

CONTRACTS = {
    "look": READ,
    "write": WRITE,
    "rank": Contract(effect="read", mode="sequential-only"),
    "poll": Contract(effect="read", mode="fan-out-bounded", max_concurrency=2),
    "check": Contract(effect="read", error_propagation="fail-fast"),
    "note": Contract(effect="write", error_propagation="partial-success"),
}
WAITS_FOR = {n: {"a": f"${{calls[{n}]}}"} for n in range(5)}


def _plan_run(*names: str, outcomes: dict[int, object] | None = None, concurrency: int = 100) -> PlanRun:
    plan = a_plan(*map(a_call, names), contracts=CONTRACTS, bounds=Bounds(concurrency))
    return PlanRun(plan, outcomes or {})


def test_parallel_safe_calls_begin_at_once_in_order() -> None:
    assert _plan_run("look", "look", "look").running_calls == [(0,), (1,), (2,)]


def test_no_more_calls_start_than_the_concurrency_allows() -> None:
    plan_run = _plan_run(*["look"] * 5, concurrency=2)
    assert plan_run.running_calls == [(0,), (1,)]
    plan_run.end(1)
    assert plan_run.running_calls == [(0,), (2,)]


def test_sequential_calls_run_one_at_a_time_in_order_across_tools() -> None:
    plan_run = _plan_run("write", "rank", "write", "rank")
    for index in range(4):
        assert plan_run.running_calls == [(index,)]
        plan_run.end(index)


def test_other_calls_run_concurrently_with_the_sequential_ones() -> None:
    plan_run = _plan_run("rank", "look", "rank", "look")
    assert plan_run.running_calls == [(0,), (1,), (3,)]
    plan_run.end(0)
    assert plan_run.running_calls == [(1,), (3,), (2,)]


@pytest.mark.parametrize(
    ("calls", "refused", "begun"),
    [
        ((("look", None), ("write", 0), ("write", None)), (), (0, 1, 2)),
        ((("write", 1), ("look", 3), ("write", None), ("write", None)), (), (3, 1, 0, 2)),
        ((("look", 2), ("write", None), ("write", None)), (), (1, 2, 0)),
        ((("rank", 2), ("rank", None), ("rank", None)), (0,), (1, 2)),
    ],
    ids=[
        "after the one before, even if that has to wait",
        "after a later one that it needs",
        "whatever other calls need",
        "whatever a refused one would have needed",
    ],
)
def test_the_order_of_sequential_calls_depends_only_on_their_dependencies(
    calls: tuple[tuple[str, int | None], ...], refused: tuple[int, ...], begun: tuple[int, ...]
) -> None:
    """It does not depend on how long something else takes."""
    made = [a_call(name, arguments={} if after is None else WAITS_FOR[after]) for name, after in calls]
    plan_run = PlanRun(a_plan(*made, contracts=CONTRACTS, refused=dict.fromkeys(refused, a_failure())))
    plan_run.end_all()
    assert plan_run.begun_calls == [(index,) for index in begun]


def test_a_sequential_call_that_is_answered_does_not_hold_up_the_next() -> None:
    calls = [a_call("rank", arguments=WAITS_FOR[1]), a_call("look"), a_call("rank")]
    plan_run = PlanRun(a_plan(*calls, contracts=CONTRACTS), {1: a_failure()})
    assert plan_run.running_calls == [(1,)]
    plan_run.end(1)
    assert plan_run.running_calls == [(2,)]


def test_a_sequential_call_that_waits_for_a_slot_starts_once() -> None:
    plan_run = _plan_run("look", "rank", "look", concurrency=1)
    for index in range(3):
        assert plan_run.running_calls == [(index,)]
        plan_run.end(index)
    assert plan_run.progress.is_done


def test_no_more_calls_of_a_bounded_tool_run_than_it_allows() -> None:
    plan_run = _plan_run("poll", "poll", "poll", "look")
    assert plan_run.running_calls == [(0,), (1,), (3,)]
    plan_run.end(3)
    assert plan_run.running_calls == [(0,), (1,)]
    plan_run.end(0)
    assert plan_run.running_calls == [(1,), (2,)]


def test_calls_beyond_a_tools_limit_do_not_occupy_the_slots_of_others() -> None:
    plan_run = _plan_run(*["poll"] * 10, "look", concurrency=3)
    assert plan_run.running_calls == [(0,), (1,), (10,)]


def test_results_come_in_the_order_of_the_calls_not_of_their_ends() -> None:
    plan_run = _plan_run("look", "look", "look", outcomes={0: "a", 1: "b", 2: "c"})
    for index in (2, 0, 1):
        plan_run.end(index)
    assert [(result.index, result.data) for result in plan_run.progress.results()] == [
        (0, "a"),
        (1, "b"),
        (2, "c"),
    ]


def test_with_partial_success_the_others_continue_after_a_failure() -> None:
    results = _plan_run("look", "note", "note", outcomes={0: a_failure(), 1: a_failure()}).end_all()
    assert [result.status for result in results] == ["error", "error", "ok"]


def test_the_failure_of_a_fail_fast_call_cancels_calls_that_have_not_begun() -> None:
    plan_run = _plan_run("write", "write", "write", outcomes={1: a_failure("the disk is full")})
    results = plan_run.end_all()
    assert plan_run.begun_calls == [(0,), (1,)]
    assert [result.status for result in results] == ["ok", "error", "error"]
    error = error_in(results[2])
    assert error.error_type == "cancelled"
    assert error.message == (
        "write was not run and has had no effect: calls[1] (write) failed (api_failure: the disk is full), "
        "and calls of tools like these stop at the first failure."
    )
    assert error.suggested_action == (
        "First correct calls[1]: Try later. Then repeat this call unchanged, if it is still needed."
    )
    assert plan_run.answered == [results[2]]


def test_a_failure_stops_only_fail_fast_calls_of_any_tool() -> None:
    plan_run = _plan_run("check", "write", "look", "rank", outcomes={0: a_failure()}, concurrency=1)
    results = plan_run.end_all()
    assert [result.status for result in results] == ["error", "error", "ok", "ok"]


def test_a_running_call_finishes_after_a_failure() -> None:
    plan_run = _plan_run("check", "check", "check", outcomes={0: a_failure()}, concurrency=2)
    plan_run.end(0)
    assert plan_run.running_calls == [(1,)]
    assert [result.status for result in plan_run.end_all()] == ["error", "ok", "error"]


def test_a_call_that_depends_on_a_cancelled_one_is_answered_too() -> None:
    calls = [a_call("write"), a_call("write"), a_call("look", arguments=WAITS_FOR[1])]
    results = PlanRun(a_plan(*calls, contracts=CONTRACTS), {0: a_failure()}).end_all()
    assert error_in(results[1]).error_type == "cancelled"
    assert error_in(results[2]).error_type == "dependency_failed"


def test_a_batch_of_writes_one_of_which_is_known_to_fail_does_not_begin() -> None:
    invalid = a_failure("email: not an address", error_type="validation_error")
    plan_run = PlanRun(a_plan(*[a_call("write")] * 3, contracts=CONTRACTS, refused={2: invalid}))
    assert plan_run.begun == []
    results = plan_run.end_all()
    assert [error_in(result).error_type for result in results] == [
        "cancelled",
        "cancelled",
        "validation_error",
    ]
    assert "calls[2] (write) failed (validation_error: email: not an address)" in error_in(results[0]).message


def test_a_call_with_a_dependency_that_must_fail_does_not_start() -> None:
    calls = [a_call("write"), a_call("zzz"), a_call("write", arguments=WAITS_FOR[1])]
    plan_run = PlanRun(a_plan(*calls, contracts=CONTRACTS))
    assert plan_run.begun == []
    kinds = [error_in(result).error_type for result in plan_run.progress.results()]
    assert kinds == ["cancelled", "unknown_tool", "dependency_failed"]


def test_a_call_that_was_only_cancelled_stops_nothing() -> None:
    """Such as one a person has denied, or one beyond the session's limit."""
    calls = [a_call("write", refused="Ada denied it"), a_call("write")]
    plan_run = PlanRun(a_plan(*calls, contracts=CONTRACTS))
    assert [result.status for result in plan_run.end_all()] == ["error", "ok"]


def test_a_failure_that_settled_before_a_crash_still_stops_the_rest() -> None:
    calls = [a_call("write")] * 3
    settled = {0: ok(0, name="write"), 1: failed(1, calls[1], a_failure())}
    plan_run = PlanRun(a_plan(*calls, contracts=CONTRACTS, settled=settled))
    assert plan_run.begun == []
    assert [result.status for result in plan_run.end_all()] == ["ok", "error", "error"]


def test_one_failed_item_of_a_group_stops_fail_fast_calls() -> None:
    contracts = {"write": WRITE.model_copy(update={"batch": MANY}), "many": Contract(effect="write")}
    calls = [*[a_call("write")] * 12, a_call("write", arguments=WAITS_FOR[0])]
    plan_run = PlanRun(a_plan(*calls, contracts=contracts), {4: a_failure()})
    results = plan_run.end_all()
    assert plan_run.begun_calls == [tuple(range(10))]
    assert {error_in(result).error_type for result in results[10:]} == {"cancelled"}
    assert [result.status for result in results[:10]].count("ok") == 9


def test_an_end_that_cannot_be_is_refused() -> None:
    step = start(plan_batch(a_request(a_call(), a_call()), {"look": READ}, Bounds(1)))
    (unit,) = step.begin
    other = step.progress.plan.units[1]
    with pytest.raises(ValueError, match="has not been begun"):
        advance(step.progress, (other, [ok(1)]))
    with pytest.raises(ValueError, match="answers the calls"):
        advance(step.progress, (unit, [ok(1)]))
    with pytest.raises(ValueError, match="answers the calls"):
        advance(step.progress, (unit, []))
    later = advance(step.progress, (unit, [ok(0)]))
    with pytest.raises(ValueError, match="has ended before"):
        advance(later.progress, (unit, [ok(0)]))
    with pytest.raises(ValueError, match="1 calls have no result yet"):
        later.progress.results()


def test_a_step_changes_nothing_of_the_progress_it_came_from() -> None:
    before = start(a_plan(a_call(), a_call("write"), a_call("write"), contracts=CONTRACTS)).progress
    (unit, _) = (before.plan.units[number] for number in sorted(before.running))
    assert advance(before, (unit, [ok(0)])) == advance(before, (unit, [ok(0)]))
    assert before.outcomes == (None, None, None)


class TestBegunBefore:
    """Another worker has begun a call, and died: no result may claim that it had no effect."""

    def test_a_failure_does_not_stop_a_call_that_had_begun_before_the_takeover(self) -> None:
        calls = [a_call("write"), a_call("write"), a_call("write")]
        before = failed(0, a_request(*calls).calls[0], a_failure())
        step = start(a_plan(*calls, contracts=CONTRACTS, settled={0: before}, begun={1}))
        assert [unit.calls for unit in step.begin] == [(1,)]
        assert [result.index for result in step.answered] == [2]

    def test_an_outcome_is_unknown_when_the_call_began_and_its_dependency_fails_now(self) -> None:
        calls = [a_call("look"), a_call("write", arguments={"to": "${calls[0].id}"})]
        step = start(a_plan(*calls, contracts=CONTRACTS, begun={1}))
        (look,) = step.begin
        after = advance(step.progress, (look, [failed(0, a_request(*calls).calls[0], a_failure())]))
        error = error_in(after.answered[0])
        assert error.error_type == "outcome_unknown"
        assert "may or may not have taken effect" in error.message
