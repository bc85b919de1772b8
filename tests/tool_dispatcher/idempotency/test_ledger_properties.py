"""The transitions of one write under any interleaving of several workers, on fakeredis."""

import asyncio
from dataclasses import dataclass

import fakeredis
from antiphon_shared.bus.connection import Connections
from antiphon_shared.bus.keys import Keys
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.process.settings import BusSettings
from antiphon_shared.tools.journal import outcome_entry, read_outcome
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, multiple, rule

from tests.tool_dispatcher.idempotency.builders import (
    UNKNOWN,
    a_ledger,
    a_write,
    end_lease,
    journal,
    record_of,
    results_of,
)
from tool_dispatcher.idempotency.port import Claim, KeyUsedForAnother
from tool_dispatcher.idempotency.write import EndState, WriteStatus

WRITE = a_write()


@dataclass
class Ended:
    """The status that the first accepted settle has stored."""

    status: WriteStatus
    claimant: str


class AnyWorkers(RuleBasedStateMachine):
    """Claims, takeovers, renewals and settles of any workers in any order, stale ones and repeated ones too."""

    claims = Bundle("claims")

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        client = fakeredis.FakeAsyncRedis(server=fakeredis.FakeServer(), protocol=3, legacy_responses=False)
        self.bus = Bus(Connections.to_fake(client), Keys(), BusSettings())
        self.runner.run(self.bus.open())
        self.ended: Ended | None = None
        self.newest: Claim | None = None
        self.outcomes = 0
        self.is_begun = False

    def teardown(self) -> None:
        self.runner.run(self.bus.close())
        self.runner.close()

    @initialize()
    def nothing_is_there(self) -> None:
        assert self.runner.run(a_ledger(self.bus).status(WRITE)) == WriteStatus("none")

    @rule(target=claims)
    def claim(self) -> object:
        claim = self.runner.run(a_ledger(self.bus).claim(WRITE))
        assert (claim is None) is self.is_begun, "only the first gets it"
        self.is_begun = True
        return self.noted(claim)

    @rule()
    def claim_for_another_call(self) -> None:
        if not self.is_begun:
            return
        try:
            self.runner.run(a_ledger(self.bus).claim(a_write("other arguments")))
        except KeyUsedForAnother:
            return
        raise AssertionError("the key names another write")

    @rule()
    def the_lease_ends(self) -> None:
        if self.is_begun and self.ended is None:
            self.runner.run(end_lease(self.bus))

    @rule(target=claims, fence=st.integers(0, 4))
    def take_over(self, fence: int) -> object:
        before = self.status()
        claim = self.runner.run(a_ledger(self.bus).take_over(WRITE, fence))
        assert (claim is not None) is (before.state == "abandoned" and before.fence == fence)
        assert claim is None or claim.fence == fence + 1
        return self.noted(claim)

    @rule(claim=claims)
    def renew(self, claim: Claim) -> None:
        is_renewed = self.runner.run(a_ledger(self.bus).renew(claim))
        assert is_renewed is (claim == self.newest and self.ended is None)

    @rule(claim=claims, is_known=st.booleans())
    def settle(self, claim: Claim, is_known: bool) -> None:
        self.outcomes += 1
        results = results_of(f"outcome {self.outcomes}" if is_known else UNKNOWN)
        state: EndState = "settled" if is_known else "unknown"
        is_accepted = self.runner.run(a_ledger(self.bus).settle(claim, results, state))
        assert is_accepted is (claim.claimant == self.newest_claimant)
        if is_accepted and self.ended is None:
            self.ended = Ended(WriteStatus(state, claim.fence, 0, results), claim.claimant)

    @rule(claim=consumes(claims))
    def a_worker_is_gone(self, claim: Claim) -> None:
        """Silence the worker from now on."""

    @invariant()
    def the_newest_fence_has_one_owner(self) -> None:
        if self.newest is not None:
            assert self.status().fence == self.newest.fence

    @invariant()
    def an_ended_write_never_changes(self) -> None:
        if self.ended is None:
            return
        assert self.status() == self.ended.status
        (result,) = self.ended.status.outcomes
        assert read_outcome(self.runner.run(journal(self.bus))[outcome_entry("c1")]) == result

    @invariant()
    def the_record_expires(self) -> None:
        left = self.runner.run(self.left_ms())
        assert left > 0 if self.is_begun else left == -2

    async def left_ms(self) -> int:
        return int(await self.bus.batcher.submit("PTTL", record_of(self.bus, WRITE)))

    @property
    def newest_claimant(self) -> str:
        assert self.newest is not None
        return self.newest.claimant

    def status(self) -> WriteStatus:
        status = self.runner.run(a_ledger(self.bus).status(WRITE))
        return WriteStatus(status.state, status.fence, 0, status.outcomes)

    def noted(self, claim: Claim | None) -> object:
        if claim is None:
            return multiple()
        self.newest = claim
        return claim


TestAnyWorkers = AnyWorkers.TestCase
TestAnyWorkers.settings = settings(max_examples=50, stateful_step_count=25, deadline=None)
