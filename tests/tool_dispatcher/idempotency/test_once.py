"""The life of one write, in every way it can go."""

import asyncio

import pytest
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.tools.journal import begun_entry, outcome_entry, read_outcome

from tests.tool_dispatcher.idempotency.builders import (
    UNKNOWN,
    Service,
    WriteHooks,
    a_ledger,
    a_write,
    abandoned,
    end_lease,
    journal,
    never,
    once,
    record_of,
    results_of,
    state,
    the_error,
)
from tool_dispatcher.authoring.failures import tool_error
from tool_dispatcher.authoring.reconcile import NO_EFFECT, TookEffect
from tool_dispatcher.idempotency.port import Claim
from tool_dispatcher.idempotency.write import Results

WRITE = a_write()
FAILED = tool_error("api_failure", "The bank is closed.")
NOT_FOUND = tool_error("not_found", "No such account.")


@pytest.mark.parametrize(
    "outcome", ["paid", None, {"id": [1, None]}, FAILED], ids=lambda value: type(value).__name__
)
async def test_a_write_runs_once_and_a_repetition_gets_its_outcome(bus: Bus, outcome: object) -> None:
    service = Service(outcome)
    first = await once(a_ledger(bus), WRITE, service.hooks())
    again = [await once(a_ledger(bus), WRITE, service.hooks(is_safe_to_repeat=True)) for _ in range(3)]
    assert [first, *again] == [results_of(outcome)] * 4
    assert service.runs == [1]
    assert await state(bus) == "settled"


async def test_the_journal_notes_the_begin_of_a_write_and_then_its_outcome(
    bus: Bus,
) -> None:
    service = Service()
    service.go_on.clear()
    running = asyncio.create_task(once(a_ledger(bus), WRITE, service.hooks()))
    await service.begun.wait()
    assert set(await journal(bus)) == {begun_entry("c1")}
    service.go_on.set()
    (result,) = await running
    assert read_outcome((await journal(bus))[outcome_entry("c1")]) == result


async def stopped(bus: Bus, at_ms: int) -> None:
    await bus.batcher.submit("ZADD", bus.keys.stopped(bus.keys.partition("s1")), at_ms, "s1")


async def test_a_write_of_a_session_that_was_stopped_since_does_not_begin(bus: Bus) -> None:
    await stopped(bus, 1_000)
    service = Service()
    results = await once(a_ledger(bus), a_write(requested_at_ms=1_000), service.hooks())
    assert (the_error(results).error_type, service.runs) == ("cancelled", [])
    assert (await state(bus), await journal(bus)) == ("none", {})


async def test_a_write_that_was_asked_for_after_the_stop_is_of_another_session_and_runs(bus: Bus) -> None:
    await stopped(bus, 1_000)
    service = Service()
    await once(a_ledger(bus), a_write(requested_at_ms=1_001), service.hooks())
    assert service.runs == [1]


async def test_a_begun_write_finishes_though_its_session_is_stopped(bus: Bus) -> None:
    service = Service()
    service.go_on.clear()
    running = asyncio.create_task(once(a_ledger(bus), WRITE, service.hooks()))
    await service.begun.wait()
    await stopped(bus, 1_000)
    assert (await a_ledger(bus).claim(WRITE)) is None, "it has begun, so it is followed"
    service.go_on.set()
    assert await running == results_of("paid")


async def test_several_calls_in_one_write_are_each_answered(bus: Bus) -> None:
    write = a_write(call_ids=("c1", "c2", "c3"))
    service = Service("all of it", write)
    results = await once(a_ledger(bus), write, service.hooks())
    assert [result.call_id for result in results] == ["c1", "c2", "c3"]
    assert await once(a_ledger(bus), write, service.hooks()) == results
    assert service.runs == [1]


async def test_one_of_16_callers_with_one_key_runs_and_the_others_wait_for_its_result(bus: Bus) -> None:
    service = Service()
    service.go_on.clear()
    callers = [asyncio.create_task(once(a_ledger(bus), WRITE, service.hooks())) for _ in range(16)]
    await service.begun.wait()
    service.go_on.set()
    assert await asyncio.gather(*callers) == [results_of("paid")] * 16
    assert service.runs == [1]


async def test_a_caller_that_cannot_wait_receives_an_error_that_it_is_still_running(bus: Bus) -> None:
    await a_ledger(bus).claim(WRITE)
    service = Service()
    error = the_error(await once(a_ledger(bus), WRITE, service.hooks(wait_s=0.05, is_safe_to_repeat=True)))
    assert error.error_type == "outcome_unknown", "any other type invites the model to call it again"
    assert "still being run by another dispatcher" in error.message
    assert "do not repeat it" in error.suggested_action
    assert service.runs == []
    assert await state(bus) == "in_progress"


async def test_a_key_used_for_another_call_is_refused_and_never_replayed(bus: Bus) -> None:
    await once(a_ledger(bus), WRITE, Service().hooks())
    for other in (a_write("other arguments"), a_write(tool="refund")):
        service = Service(write=other)
        error = the_error(await once(a_ledger(bus), other, service.hooks(is_safe_to_repeat=True)))
        assert error.error_type == "validation_error"
        assert f"{other.tool} was not run" in error.message
        assert service.runs == []
    assert await once(a_ledger(bus), WRITE, Service().hooks()) == results_of("paid")


# The state that a dead dispatcher left behind.


async def test_a_repeatable_write_runs_again_with_the_next_fence(bus: Bus) -> None:
    await abandoned(bus)
    service = Service()
    assert await once(a_ledger(bus), WRITE, service.hooks(is_safe_to_repeat=True)) == results_of("paid")
    assert service.runs == [2]
    assert await state(bus) == "settled"


async def test_a_failed_second_run_does_not_settle_the_first(bus: Bus) -> None:
    """A second run that could not begin settles nothing: "not run" would be wrong if the first took effect."""
    await abandoned(bus)
    service = Service(tool_error("circuit_open", "This call was not run.", retry_after_s=3))
    for _ in range(2):
        error = the_error(await once(a_ledger(bus), WRITE, service.hooks(is_safe_to_repeat=True)))
        assert (error.error_type, error.retry_after_s) == ("outcome_unknown", None)
        assert "It may or may not have taken effect" in error.message
        assert error.message.endswith("circuit_open, This call was not run.")
    assert service.runs == [2]
    assert await state(bus) == "unknown"


async def test_a_failure_of_a_second_run_is_reported_unchanged_without_a_first_effect(bus: Bus) -> None:
    await abandoned(bus)
    service = Service(NOT_FOUND)
    service.final_outcome = NO_EFFECT
    assert the_error(await once(a_ledger(bus), WRITE, service.hooks(can_be_asked=True))) == NOT_FOUND


async def test_failed_calls_of_a_group_that_ran_again_keep_the_errors_of_the_tool(bus: Bus) -> None:
    """It has answered for all of them, and honours their key."""
    write = a_write(call_ids=("c1", "c2"))
    await abandoned(bus, write)
    done, failed = results_of("paid", write)[0], results_of(NOT_FOUND, write)[1]

    async def run(_: Claim) -> Results:
        return (done, failed)

    hooks = WriteHooks(run, never, is_safe_to_repeat=True, wait_s=20)
    assert await once(a_ledger(bus), write, hooks) == (done, failed)


@pytest.mark.parametrize(
    ("reconciled", "outcome", "runs"),
    [(TookEffect(None), None, []), (NO_EFFECT, "paid", [2])],
    ids=["took effect", "no effect"],
)
async def test_the_reconciliation_of_a_tool_settles_its_write(
    bus: Bus, reconciled: object, outcome: object, runs: list[int]
) -> None:
    await abandoned(bus)
    service = Service()
    service.final_outcome = reconciled
    for _ in range(2):
        assert await once(a_ledger(bus), WRITE, service.hooks(can_be_asked=True)) == results_of(outcome)
    assert (service.runs, service.asked) == (runs, [2])
    assert await state(bus) == "settled"


@pytest.mark.parametrize(
    "reply", [None, RuntimeError("no answer"), True, TookEffect], ids=["None", "error", "True", "a class"]
)
async def test_a_write_that_cannot_be_reconciled_is_not_run_and_its_outcome_is_unknown(
    bus: Bus, reply: object
) -> None:
    await abandoned(bus)
    service = Service()
    service.final_outcome = reply
    for _ in range(2):
        results = await once(a_ledger(bus), WRITE, service.hooks(can_be_asked=True))
        assert the_error(results).error_type == "outcome_unknown"
    assert (service.runs, service.asked) == ([], [2])
    assert await state(bus) == "unknown"


async def test_a_write_that_can_neither_be_repeated_nor_reconciled_stays_unknown(bus: Bus) -> None:
    await abandoned(bus)
    service = Service()
    service.final_outcome = NO_EFFECT
    error = the_error(await once(a_ledger(bus), WRITE, service.hooks()))
    assert error.error_type == "outcome_unknown"
    assert "may or may not have taken effect" in error.message
    assert "do not repeat it" in error.suggested_action
    assert await state(bus) == "unknown"
    for hooks in (service.hooks(is_safe_to_repeat=True), service.hooks(can_be_asked=True), service.hooks()):
        assert the_error(await once(a_ledger(bus), WRITE, hooks)) == error
    assert (service.runs, service.asked) == ([], [])
    (result,) = results_of(error)
    assert read_outcome((await journal(bus))[outcome_entry("c1")]) == result


async def test_one_of_many_callers_that_find_an_abandoned_write_runs_it(bus: Bus) -> None:
    await abandoned(bus)
    service = Service()
    callers = [once(a_ledger(bus), WRITE, service.hooks(is_safe_to_repeat=True)) for _ in range(16)]
    assert await asyncio.gather(*callers) == [results_of("paid")] * 16
    assert service.runs == [2]


async def test_a_waiting_caller_takes_over_when_the_lease_ends(bus: Bus) -> None:
    await a_ledger(bus, lease_s=0.2).claim(WRITE)
    service = Service()
    assert await once(a_ledger(bus), WRITE, service.hooks(is_safe_to_repeat=True)) == results_of("paid")
    assert service.runs == [2]


async def test_a_settled_outcome_that_cannot_be_read_is_unknown_and_does_not_run(bus: Bus) -> None:
    service = Service()
    await once(a_ledger(bus), WRITE, service.hooks())
    await bus.batcher.submit("HSET", record_of(bus, WRITE), "outcomes", "[{}]")
    results = await once(a_ledger(bus), WRITE, service.hooks(is_safe_to_repeat=True))
    assert the_error(results).error_type == "outcome_unknown"
    assert service.runs == [1]


# A run of unknown outcome.


async def test_a_run_that_ends_as_unknown_is_never_repeated(bus: Bus) -> None:
    service = Service(UNKNOWN)
    for _ in range(3):
        assert the_error(await once(a_ledger(bus), WRITE, service.hooks(is_safe_to_repeat=True))) == UNKNOWN
    assert service.runs == [1]
    assert await state(bus) == "unknown"


async def test_a_tool_is_asked_when_its_own_run_ended_as_unknown(bus: Bus) -> None:
    service = Service(UNKNOWN)
    service.final_outcome = TookEffect("paid after all")
    for _ in range(2):
        assert await once(a_ledger(bus), WRITE, service.hooks(can_be_asked=True)) == results_of(
            "paid after all"
        )
    assert (service.runs, service.asked) == ([1], [1])
    assert await state(bus) == "settled"


@pytest.mark.parametrize("reply", [NO_EFFECT, None])
async def test_no_effect_is_not_accepted_while_a_request_may_be_in_flight(bus: Bus, reply: object) -> None:
    service = Service(UNKNOWN)
    service.final_outcome = reply
    assert the_error(await once(a_ledger(bus), WRITE, service.hooks(can_be_asked=True))) == UNKNOWN
    assert (service.runs, service.asked) == ([1], [1])
    assert await state(bus) == "unknown"


async def test_a_partly_unknown_write_is_never_repeated_and_its_known_results_are_kept(
    bus: Bus,
) -> None:
    write = a_write(call_ids=("c1", "c2"))
    service = Service(write=write)

    async def run(claim: Claim) -> Results:
        service.runs.append(claim.fence)
        return results_of("paid", write)[:1] + results_of(UNKNOWN, write)[1:]

    service.run = run  # type: ignore[method-assign]  # one call goes well, the other does not
    service.final_outcome = TookEffect("all of it")
    results = await once(a_ledger(bus), write, service.hooks(can_be_asked=True))
    assert [result.status for result in results] == ["ok", "error"]
    assert await once(a_ledger(bus), write, service.hooks(is_safe_to_repeat=True)) == results
    assert (service.runs, service.asked) == ([1], [])
    assert await state(bus) == "unknown"


async def test_a_run_that_raises_settles_nothing_and_is_not_a_reason_to_run_again(bus: Bus) -> None:
    service = Service()

    async def run(claim: Claim) -> Results:
        service.runs.append(claim.fence)
        raise RuntimeError("a fault of ours")

    service.run = run  # type: ignore[method-assign]  # what a dispatcher's own fault looks like
    with pytest.raises(RuntimeError, match="a fault of ours"):
        await once(a_ledger(bus), WRITE, service.hooks())
    assert await state(bus) == "in_progress"
    await end_lease(bus)
    assert the_error(await once(a_ledger(bus), WRITE, service.hooks())).error_type == "outcome_unknown"
    assert service.runs == [1]
