"""The transitions of a write, each an atomic script: on fakeredis, a real server and a cluster's node."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from antiphon_shared.bus.batcher import Batcher
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.wire import Command
from antiphon_shared.process.clock import monotonic_s
from antiphon_shared.tools.journal import begun_entry, outcome_entry, read_outcome
from redis.exceptions import ResponseError

from tests.tool_dispatcher.idempotency.builders import (
    DAY_S,
    LEASE_S,
    a_ledger,
    a_wire,
    a_write,
    abandoned,
    end_lease,
    journal,
    journal_of,
    life_ms,
    record,
    record_of,
    results_of,
)
from tool_dispatcher.idempotency.ledger import Ledger
from tool_dispatcher.idempotency.port import Claim, KeyUsedForAnother, LedgerUnavailable
from tool_dispatcher.idempotency.write import Write, WriteStatus

WRITE = a_write()


async def a_claim(bus: Bus, write: Write = WRITE) -> Claim:
    claim = await a_ledger(bus).claim(write)
    assert claim is not None
    return claim


async def a_takeover(bus: Bus, fence: int = 1, write: Write = WRITE) -> Claim:
    claim = await a_ledger(bus).take_over(write, fence)
    assert claim is not None
    return claim


async def test_a_claim_and_the_begin_of_its_calls_are_stored_in_one_step(bus: Bus) -> None:
    write = a_write(call_ids=("c1", "c2"))
    claim = await a_claim(bus, write)
    assert claim.fence == 1
    assert (await a_ledger(bus).status(write)).state == "in_progress"
    assert set(await journal(bus)) == {begun_entry("c1"), begun_entry("c2")}


async def test_one_of_many_concurrent_claims_of_a_write_succeeds(bus: Bus) -> None:
    claims = await asyncio.gather(*(a_ledger(bus).claim(WRITE) for _ in range(16)))
    assert [claim.fence for claim in claims if claim is not None] == [1]


async def test_an_unclaimed_write_has_no_status(bus: Bus) -> None:
    assert await a_ledger(bus).status(WRITE) == WriteStatus("none")


async def test_other_workers_receive_the_time_left_to_the_claimant(bus: Bus) -> None:
    await a_claim(bus)
    status = await a_ledger(bus).status(WRITE)
    assert (status.state, status.fence) == ("in_progress", 1)
    assert LEASE_S - 60 < status.left_s <= LEASE_S


async def test_our_own_clock_ends_a_lease_no_later_than_that_of_redis(bus: Bus) -> None:
    """It counts from before the request to Redis, which begins the lease when it receives the claim."""
    exchange, asked_s = a_wire(bus), list[float]()

    async def noting(commands: Sequence[Command]) -> list[Any]:
        asked_s.append(monotonic_s())
        return await exchange(commands)

    claim = await Ledger(Batcher(noting), bus.keys, lease_s=LEASE_S, retention_s=DAY_S).claim(WRITE)
    assert claim is not None
    assert LEASE_S < claim.ends_s <= asked_s[-1] + LEASE_S


async def test_a_claim_whose_reply_was_lost_finds_itself_again(bus: Bus) -> None:
    wire = a_wire(bus)
    wire.replies_to_lose = 2
    claim = await a_ledger(bus, wire).claim(WRITE)
    assert claim is not None
    assert claim.fence == 1
    assert await a_ledger(bus).settle(claim, results_of("paid"), "settled")


@pytest.mark.parametrize(
    "other",
    [a_write("y"), a_write(tool="refund"), a_write(tool="refund", fingerprint=WRITE.fingerprint)],
    ids=["arguments", "tool", "tool alone"],
)
@pytest.mark.parametrize("state", ["in_progress", "abandoned", "settled"])
async def test_a_key_used_with_another_tool_or_other_arguments_is_refused(
    bus: Bus, other: Write, state: str
) -> None:
    claim = await a_claim(bus)
    if state == "settled":
        await a_ledger(bus).settle(claim, results_of("paid"), "settled")
    if state == "abandoned":
        await end_lease(bus)
    before = await record(bus), await journal(bus)
    with pytest.raises(KeyUsedForAnother, match=r"default/s1/1/c1"):
        await a_ledger(bus).claim(other)
    with pytest.raises(KeyUsedForAnother):
        await a_ledger(bus).status(other)
    assert (await record(bus), await journal(bus)) == before


@pytest.mark.parametrize(
    "data",
    [None, "", 0, False, [], {"deep": [{"ü": None}, 1.5]}, "x" * 100_000],
    ids=lambda data: repr(data)[:9],
)
async def test_the_result_of_a_write_is_kept_whole(bus: Bus, data: Any) -> None:
    await a_ledger(bus).settle(await a_claim(bus), results_of(data), "settled")
    assert (await a_ledger(bus).status(WRITE)).outcomes == results_of(data)


async def test_settling_writes_the_record_and_the_journal_in_one_step(bus: Bus) -> None:
    write = a_write(call_ids=("c1", "c2"))
    results = results_of({"id": 7}, write)
    assert await a_ledger(bus).settle(await a_claim(bus, write), results, "settled")
    assert await a_ledger(bus).status(write) == WriteStatus("settled", 1, 0, results)
    entries = await journal(bus)
    assert tuple(read_outcome(entries[outcome_entry(call_id)]) for call_id in ("c1", "c2")) == results


async def test_a_settled_write_is_not_claimed_again(bus: Bus) -> None:
    claim = await a_claim(bus)
    await a_ledger(bus).settle(claim, results_of("paid"), "settled")
    assert await a_ledger(bus).claim(WRITE) is None
    assert await a_ledger(bus).take_over(WRITE, claim.fence) is None
    assert not await a_ledger(bus).renew(claim)


async def test_a_settle_whose_reply_was_lost_may_be_repeated(bus: Bus) -> None:
    claim, wire = await a_claim(bus), a_wire(bus)
    wire.replies_to_lose = 2
    assert await a_ledger(bus, wire).settle(claim, results_of("paid"), "settled")
    assert (await a_ledger(bus).status(WRITE)).outcomes == results_of("paid")


async def test_the_first_settlement_of_a_call_in_the_journal_counts(bus: Bus) -> None:
    claim = await a_claim(bus)
    assert await bus.session("s1").note("journal:1", outcome_entry("c1"), b"earlier")
    await a_ledger(bus).settle(claim, results_of("paid"), "settled")
    assert (await journal(bus))[outcome_entry("c1")] == b"earlier"


async def test_a_write_is_taken_over_only_when_its_lease_is_over(bus: Bus) -> None:
    await a_claim(bus)
    assert await a_ledger(bus).take_over(WRITE, 1) is None
    await end_lease(bus)
    assert await a_ledger(bus).status(WRITE) == WriteStatus("abandoned", 1)
    assert (await a_takeover(bus)).fence == 2
    assert (await a_ledger(bus).status(WRITE)).state == "in_progress"


async def test_one_of_many_concurrent_takeovers_succeeds(bus: Bus) -> None:
    await abandoned(bus)
    claims = await asyncio.gather(*(a_ledger(bus).take_over(WRITE, 1) for _ in range(16)))
    assert [claim.fence for claim in claims if claim is not None] == [2]


async def test_a_takeover_with_an_outdated_fence_fails(bus: Bus) -> None:
    await abandoned(bus)
    await a_takeover(bus)
    await end_lease(bus)
    assert await a_ledger(bus).take_over(WRITE, 1) is None
    assert (await a_takeover(bus, fence=2)).fence == 3


async def test_a_takeover_whose_reply_was_lost_finds_itself_again(bus: Bus) -> None:
    await abandoned(bus)
    wire = a_wire(bus)
    wire.replies_to_lose = 2
    claim = await a_ledger(bus, wire).take_over(WRITE, 1)
    assert claim is not None
    assert claim.fence == 2
    assert await a_ledger(bus).settle(claim, results_of("paid"), "settled")


async def test_a_claim_that_was_taken_over_can_neither_renew_nor_settle(bus: Bus) -> None:
    old = await a_claim(bus)
    await end_lease(bus)
    new = await a_takeover(bus)
    before = await record(bus), await journal(bus)
    assert not await a_ledger(bus).renew(old)
    assert not await a_ledger(bus).settle(old, results_of("old"), "settled")
    assert (await record(bus), await journal(bus)) == before
    assert await a_ledger(bus).settle(new, results_of("new"), "settled")
    assert not await a_ledger(bus).settle(old, results_of("old"), "settled")
    assert (await a_ledger(bus).status(WRITE)).outcomes == results_of("new")


async def test_renewing_restarts_the_lease(bus: Bus) -> None:
    claim = await a_claim(bus)
    await end_lease(bus)
    claim.ends_s = 0
    assert claim.is_over
    assert await a_ledger(bus).renew(claim), "it has expired, and no worker has taken over"
    assert not claim.is_over
    assert (await a_ledger(bus).status(WRITE)).left_s > LEASE_S - 60
    assert await a_ledger(bus).take_over(WRITE, 1) is None


async def test_a_run_that_outlasts_its_lease_settles_unless_it_was_taken_over(bus: Bus) -> None:
    claim = await a_claim(bus)
    await end_lease(bus)
    assert await a_ledger(bus).settle(claim, results_of("paid"), "settled")


@pytest.mark.parametrize(
    ("ttl_s", "retention_s", "life_s"),
    [(3 * DAY_S, DAY_S, 3 * DAY_S), (DAY_S, 5 * DAY_S, 5 * DAY_S), (1, 1, DAY_S)],
    ids=["its contract", "its session", "a day at least"],
)
async def test_a_record_outlives_its_contract_its_session_and_a_day(
    bus: Bus, ttl_s: float, retention_s: float, life_s: float
) -> None:
    write, ledger = a_write(ttl_s=ttl_s), a_ledger(bus, retention_s=retention_s)
    key = record_of(bus, write)

    async def is_kept() -> None:
        assert (life_s - 60) * 1000 < await life_ms(bus, key) <= life_s * 1000
        await bus.batcher.submit("PEXPIRE", key, 60_000)

    claim = await ledger.claim(write)
    assert claim is not None
    await is_kept()
    assert await ledger.renew(claim)
    await is_kept()
    await end_lease(bus)
    claim = await ledger.take_over(write, 1)
    assert claim is not None
    await is_kept()
    assert await ledger.settle(claim, results_of("paid"), "settled")
    await is_kept()


async def test_the_journal_expires_with_its_session(bus: Bus) -> None:
    ledger, key = a_ledger(bus, retention_s=3600), journal_of(bus, WRITE)
    claim = await ledger.claim(WRITE)
    assert claim is not None
    assert 3500_000 < await life_ms(bus, key) <= 3600_000
    await bus.batcher.submit("PEXPIRE", key, 60_000)
    assert await ledger.settle(claim, results_of("paid"), "settled")
    assert 3500_000 < await life_ms(bus, key) <= 3600_000


async def test_a_record_lost_during_a_write_is_written_again_when_it_settles(bus: Bus) -> None:
    claim = await a_claim(bus)
    await bus.batcher.submit("DEL", record_of(bus, WRITE), journal_of(bus, WRITE))
    assert await a_ledger(bus).settle(claim, results_of("paid"), "settled")
    assert await a_ledger(bus).claim(WRITE) is None
    assert (await a_ledger(bus).status(WRITE)).outcomes == results_of("paid")
    assert await life_ms(bus, record_of(bus, WRITE)) > 80_000_000


async def test_a_claim_lost_by_redis_is_not_mistaken_for_a_later_one_with_the_same_fence(bus: Bus) -> None:
    """Both have the first fence."""
    old = await a_claim(bus)
    await bus.batcher.submit("DEL", record_of(bus, WRITE), journal_of(bus, WRITE))
    new = await a_claim(bus)
    assert not await a_ledger(bus).renew(old)
    assert not await a_ledger(bus).settle(old, results_of("old"), "settled")
    assert await a_ledger(bus).settle(new, results_of("new"), "settled")


async def test_a_call_that_has_begun_without_a_record_is_unknown_and_not_claimed(bus: Bus) -> None:
    write = a_write(call_ids=("c1", "c2"))
    assert await bus.session("s1").note("journal:1", begun_entry("c2"), b"?")
    assert await a_ledger(bus).claim(write) is None
    assert await a_ledger(bus).status(write) == WriteStatus("unknown", 1)
    assert await a_ledger(bus).claim(write) is None


async def test_a_key_of_another_type_stops_a_step_before_it_writes(bus: Bus) -> None:
    claim = await a_claim(bus)
    before = await record(bus)
    await bus.batcher.submit("DEL", journal_of(bus, WRITE))
    await bus.batcher.submit("SET", journal_of(bus, WRITE), "no journal")
    with pytest.raises(ResponseError, match="WRONGTYPE"):
        await a_ledger(bus).settle(claim, results_of("paid"), "settled")
    assert await record(bus) == before
    with pytest.raises(ResponseError, match="WRONGTYPE"):
        await a_ledger(bus).claim(a_write(key="another"))
    assert await record(bus, a_write(key="another")) == {}


async def test_an_unreadable_outcome_is_none(bus: Bus) -> None:
    await a_ledger(bus).settle(await a_claim(bus), results_of("paid"), "settled")
    await bus.batcher.submit("HSET", record_of(bus, WRITE), "outcomes", '[{"of": "a later version"}]')
    assert await a_ledger(bus).status(WRITE) == WriteStatus("settled", 1)


@pytest.mark.parametrize("failing", ["is_away", "is_silent"])
async def test_waiting_for_redis_ends_after_its_timeout(bus: Bus, failing: str) -> None:
    claim, wire = await a_claim(bus), a_wire(bus)
    setattr(wire, failing, True)
    with pytest.raises(LedgerUnavailable, match=r"0\.05 s"):
        await a_ledger(bus, wire, patience_s=0.05).claim(WRITE)
    for step in (
        a_ledger(bus, wire, patience_s=0.05).status(WRITE),
        a_ledger(bus, wire, patience_s=0.05).take_over(WRITE, 1),
        a_ledger(bus, wire, patience_s=0.05).renew(claim),
    ):
        with pytest.raises(LedgerUnavailable):
            await step
