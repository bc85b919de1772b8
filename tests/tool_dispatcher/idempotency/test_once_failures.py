"""The life of a write while leases expire, processes stall, and Redis is unavailable."""

import asyncio

import pytest
from antiphon_shared.bus.batcher import Batcher
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.tools.journal import begun_entry

from tests.bus.builders import eventually
from tests.tool_dispatcher.idempotency.builders import (
    LEASE_S,
    BreakableWire,
    Service,
    a_ledger,
    a_wire,
    a_write,
    end_lease,
    journal,
    once,
    record,
    results_of,
    state,
    the_error,
)
from tool_dispatcher.idempotency.ledger import Ledger
from tool_dispatcher.idempotency.port import Claim
from tool_dispatcher.idempotency.write import Write

WRITE = a_write()
BRIEF_S, LONG_S = 0.05, 60.0
"""The patience with a Redis that is away; and with one that is there, however busy the machine is."""


async def test_a_lease_is_renewed_while_a_write_runs(bus: Bus) -> None:
    service = Service()
    service.go_on.clear()
    running = asyncio.create_task(once(a_ledger(bus, lease_s=0.3), WRITE, service.hooks()))
    await service.begun.wait()
    ends: set[bytes] = set()

    async def has_been_renewed_often() -> bool:
        ends.add((await record(bus))[b"lease_ends"])
        return len(ends) > 4

    await eventually(has_been_renewed_often)
    service.go_on.set()
    assert await running == results_of("paid")


async def test_a_renewal_that_fails_is_tried_again(bus: Bus) -> None:
    service, wire = Service(), a_wire(bus)
    service.go_on.clear()
    ledger = a_ledger(bus, wire, lease_s=0.3)
    running = asyncio.create_task(once(ledger, WRITE, service.hooks()))
    await service.begun.wait()
    wire.is_away, ledger._patience_s = True, BRIEF_S
    attempts = wire.attempts
    await eventually(lambda: wire.attempts > attempts + 3)
    wire.is_away = False
    ledger._patience_s = LONG_S
    before = (await record(bus))[b"lease_ends"]

    async def is_renewed() -> bool:
        return (await record(bus))[b"lease_ends"] != before

    await eventually(is_renewed)
    service.go_on.set()
    assert await running == results_of("paid")


async def test_a_worker_that_lost_its_lease_while_running_gets_the_settled_outcome(bus: Bus) -> None:
    slow, fast = Service("slow"), Service("fast")
    slow.go_on.clear()
    running = asyncio.create_task(once(a_ledger(bus), WRITE, slow.hooks(is_safe_to_repeat=True)))
    await slow.begun.wait()
    await end_lease(bus)
    assert await once(a_ledger(bus), WRITE, fast.hooks(is_safe_to_repeat=True)) == results_of("fast")
    slow.go_on.set()
    assert await running == results_of("fast")
    assert (slow.runs, fast.runs) == ([1], [2])


async def test_a_worker_without_its_lease_waits_for_the_one_that_took_over(bus: Bus) -> None:
    slow, next_one = Service("slow"), Service("next")
    slow.go_on.clear()
    next_one.go_on.clear()
    wire = a_wire(bus)
    running = asyncio.create_task(once(a_ledger(bus, wire), WRITE, slow.hooks(is_safe_to_repeat=True)))
    await slow.begun.wait()
    await end_lease(bus)
    taking_over = asyncio.create_task(once(a_ledger(bus), WRITE, next_one.hooks(is_safe_to_repeat=True)))
    await next_one.begun.wait()
    slow.go_on.set()
    attempts = wire.attempts
    await eventually(lambda: wire.attempts > attempts + 3)
    assert not running.done()
    next_one.go_on.set()
    assert [await running, await taking_over] == [results_of("next")] * 2
    assert slow.runs == [1]


class _FrozenAfterTheClaim(Ledger):
    """The process stops after its claim for longer than its lease; `meanwhile` happens then."""

    bus: Bus
    is_taken_over = False
    wire: BreakableWire | None = None

    async def claim(self, write: Write) -> Claim | None:
        claim = await super().claim(write)
        assert claim is not None
        claim.ends_s = 0
        await end_lease(self.bus)
        if self.is_taken_over:
            await once(a_ledger(self.bus), write, Service("by another").hooks(is_safe_to_repeat=True))
        if self.wire is not None:
            self.wire.is_away, self._patience_s = True, BRIEF_S
        return claim


def a_frozen_ledger(bus: Bus, *, is_taken_over: bool) -> Ledger:
    ledger = _FrozenAfterTheClaim(bus.batcher, bus.keys, lease_s=LEASE_S, retention_s=60)
    ledger.bus, ledger.is_taken_over = bus, is_taken_over
    return ledger


async def test_a_process_frozen_after_its_claim_does_not_run_a_write_that_was_taken_over(bus: Bus) -> None:
    service = Service()
    results = await once(a_frozen_ledger(bus, is_taken_over=True), WRITE, service.hooks())
    assert results == results_of("by another")
    assert service.runs == []


async def test_a_process_that_was_frozen_after_its_claim_runs_if_the_claim_is_still_its_own(bus: Bus) -> None:
    service = Service()
    assert await once(a_frozen_ledger(bus, is_taken_over=False), WRITE, service.hooks()) == results_of("paid")
    assert service.runs == [1]
    assert (await record(bus))[b"lease_ends"] != b"1", "the lease was begun anew before the run"


async def test_a_process_that_was_frozen_after_its_claim_does_not_run_while_redis_is_away(bus: Bus) -> None:
    service, wire = Service(), a_wire(bus)
    ledger = _FrozenAfterTheClaim(Batcher(wire), bus.keys, lease_s=LEASE_S, retention_s=60)
    ledger.bus, ledger.wire = bus, wire
    error = the_error(await once(ledger, WRITE, service.hooks(may_have_begun=True)))
    assert error.error_type == "api_failure", "the claim was the first there was: nothing has run"
    assert service.runs == []


async def test_a_run_that_is_cancelled_settles_nothing_and_its_lease_ends_by_itself(bus: Bus) -> None:
    service = Service()
    service.go_on.clear()
    running = asyncio.create_task(once(a_ledger(bus, lease_s=0.3), WRITE, service.hooks()))
    await service.begun.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert set(await journal(bus)) == {begun_entry("c1")}

    async def is_abandoned() -> bool:
        return await state(bus) == "abandoned"

    await eventually(is_abandoned)


# Redis is away.


@pytest.mark.parametrize(
    ("may_have_begun", "error_type", "message", "action"),
    [
        (False, "api_failure", "pay was not run: the ledger", "Call it again later"),
        (True, "outcome_unknown", "may have been run before", "do not repeat it"),
    ],
    ids=["it has not begun", "it may have begun"],
)
async def test_nothing_runs_while_the_ledger_is_unavailable_and_the_model_gets_an_error(
    bus: Bus, may_have_begun: bool, error_type: str, message: str, action: str
) -> None:
    service, wire = Service(), a_wire(bus)
    wire.is_away = True
    hooks = service.hooks(may_have_begun=may_have_begun, is_safe_to_repeat=True)
    error = the_error(await once(a_ledger(bus, wire, patience_s=0.05), WRITE, hooks))
    assert error.error_type == error_type
    assert message in error.message
    assert action in error.suggested_action
    assert service.runs == []


async def test_a_waiting_caller_that_loses_redis_reports_an_unknown_outcome(bus: Bus) -> None:
    await a_ledger(bus).claim(WRITE)
    service, wire = Service(), a_wire(bus)
    ledger = a_ledger(bus, wire)
    waiting = asyncio.create_task(once(ledger, WRITE, service.hooks()))
    await eventually(lambda: wire.attempts > 3)
    wire.is_away, ledger._patience_s = True, BRIEF_S
    assert the_error(await waiting).error_type == "outcome_unknown"
    assert service.runs == []


async def test_the_outcome_of_a_run_waits_for_redis_to_return(bus: Bus) -> None:
    service, wire = Service(), a_wire(bus)
    service.go_on.clear()
    ledger = a_ledger(bus, wire)
    running = asyncio.create_task(once(ledger, WRITE, service.hooks()))
    await service.begun.wait()
    wire.is_away, ledger._patience_s = True, BRIEF_S
    service.go_on.set()
    attempts = wire.attempts
    await eventually(lambda: wire.attempts > attempts + 3)
    assert not running.done()
    wire.is_away, ledger._patience_s = False, LONG_S
    assert await running == results_of("paid")
    assert service.runs == [1]
    assert await state(bus) == "settled"


@pytest.mark.parametrize("lost", [1, 2, 3])
async def test_lost_replies_never_make_a_second_run(bus: Bus, lost: int) -> None:
    service, wire = Service(), a_wire(bus)
    wire.replies_to_lose = lost
    service.go_on.clear()
    running = asyncio.create_task(once(a_ledger(bus, wire), WRITE, service.hooks()))
    await service.begun.wait()
    wire.replies_to_lose = lost
    service.go_on.set()
    assert await running == results_of("paid")
    assert service.runs == [1]
    assert await state(bus) == "settled"
