"""The ledger of writes of one session in one process, with the dispatcher's interface and without Redis.

The rules are those of tool_dispatcher/idempotency/begin.lua. No claim is lost, as the ledger ends with its process.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import inf

from antiphon_shared.process.clock import utc_now

from tool_dispatcher.idempotency.port import Claim, WriteLedger
from tool_dispatcher.idempotency.write import DeniedClaim, Effect, EndState, Results, Write, WriteStatus


@dataclass
class _BegunWrite:
    """A write that has begun."""

    write: Write
    ordinal: int
    since: int
    """The count of the ledger when the write was claimed; `end` is the count when it ended."""
    end: float = inf
    fence: int = 1
    effect: Effect = "unknown"
    results: Results = ()
    at_ms: int = 0
    ended: asyncio.Event = field(default_factory=asyncio.Event)


class MemoryLedger(WriteLedger):
    """The writes of one session."""

    lease_s = 3_600.0

    def __init__(self) -> None:
        self._begun: dict[str, _BegunWrite] = {}
        """By key."""
        self._newest: dict[str, _BegunWrite] = {}
        """By identity."""
        self._count = 0

    async def claim(self, write: Write) -> Claim | None:
        """See WriteLedger."""
        return None if write.key in self._begun else self._new_claim(write, 1)

    async def begin(self, write: Write) -> Claim | DeniedClaim:
        """See WriteLedger."""
        (identity,) = write.identities
        made = self._newest.get(identity)
        if made is None:
            ordinal = 1
        elif (denied := self._identical_write(write, made)) is not None:
            return denied
        else:
            is_same = made.ended.is_set() and made.effect == "none" and write.kind in ("once", "ask")
            ordinal = made.ordinal if is_same else made.ordinal + 1
        return self._new_claim(replace(write, key=f"{write.name}/{ordinal}"), ordinal)

    async def repeats(
        self, session_id: str, round: int, calls: Sequence[tuple[str, str]]
    ) -> tuple[bool, ...]:
        """See WriteLedger."""
        newest = [self._newest.get(identity) for _, identity in calls]
        return tuple(made is not None and made.effect != "none" for made in newest)

    async def status(self, write: Write) -> WriteStatus:
        """See WriteLedger; wait until the write has ended."""
        made = self._begun[write.key]
        await made.ended.wait()
        return WriteStatus(
            "unknown" if made.effect == "unknown" else "settled", made.fence, outcomes=made.results
        )

    async def take_over(
        self, write: Write, fence: int, *, is_unknown: bool = False, is_again: bool = False
    ) -> Claim | None:
        """See WriteLedger."""
        made = self._begun[write.key]
        if made.fence != fence or not made.ended.is_set():
            return None
        made.fence += 1
        made.end, made.ended = inf, asyncio.Event()
        return Claim(write, "", made.fence, inf, has_begun=not is_again)

    async def may_have_forgotten(self, write: Write) -> bool:
        """See WriteLedger."""
        return False

    async def renew(self, claim: Claim) -> bool:
        """See WriteLedger."""
        return True

    async def settle(
        self, claim: Claim, results: Results, state: EndState, effects: Sequence[Effect] = ()
    ) -> bool:
        """See WriteLedger."""
        made = self._begun[claim.write.key]
        self._count += 1
        made.results, (made.effect,), made.end = results, effects, self._count
        made.at_ms = round(utc_now().timestamp() * 1_000)
        made.ended.set()
        return True

    def _new_claim(self, write: Write, ordinal: int) -> Claim:
        self._count += 1
        made = self._begun[write.key] = _BegunWrite(write, ordinal, self._count)
        for identity in write.identities:
            self._newest[identity] = made
        return Claim(write, "", made.fence, inf)

    def _identical_write(self, write: Write, made: _BegunWrite) -> DeniedClaim | None:
        """Return the refusal of a claim because of an identical write; None if the write may be claimed."""
        if write.kind == "next" or (made.ended.is_set() and made.effect == "none"):
            return None
        key, by = made.write.key, made.write.requested_by
        if write.kind == "again":
            is_uncertain = made.ended.is_set() and made.effect == "unknown" and not write.is_approved
            return DeniedClaim("unsettled", key, 1, "unknown", by, made.at_ms) if is_uncertain else None
        if not made.ended.is_set():
            return DeniedClaim("unsettled", key, 1, "open", by)
        if made.effect == "unknown":
            return DeniedClaim("unsettled", key, 1, "unknown", by, made.at_ms)
        if (other := self._write_in_between(write, made)) is not None:
            return DeniedClaim("between", key, 1, "done", by, made.at_ms, other=other.member)
        return DeniedClaim("repeated", key, 1, "done", by, made.at_ms, made.results[0])

    def _write_in_between(self, write: Write, made: _BegunWrite) -> Write | None:
        """Return a write of another identity that ended after `made` had begun, and may have changed something."""
        for other in self._begun.values():
            is_later = other.write.round == write.round and other.write.index > write.index
            is_other = other.write.name != write.name and other.effect != "none"
            if is_other and other.end > made.since and not is_later:
                return other.write
        return None
