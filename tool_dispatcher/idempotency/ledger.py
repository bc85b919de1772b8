"""The ledger of writes: one record for each idempotency key, and its transitions, each an atomic script.

    nothing --claim--> in_progress --settle--> settled | unknown
                           |  ^
                           +--+ renew, take_over (a new fence)

A record is kept for longer than its session and than its tool's contract promises. Each script states its checks.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar, cast

from antiphon_shared.bus.batcher import Batcher
from antiphon_shared.bus.connection import retry_while_unavailable
from antiphon_shared.bus.keys import Keys
from antiphon_shared.bus.scripts import Script, script_of
from antiphon_shared.bus.wire import Argument, NotReplicated
from antiphon_shared.process.clock import milliseconds, monotonic_s
from antiphon_shared.process.ids import new_id
from antiphon_shared.tools.contract import IDEMPOTENCY_TTL_S_MIN
from antiphon_shared.tools.journal import begun_entry, journal_name, outcome_entry, write_outcome

from tool_dispatcher.idempotency.port import (
    Claim,
    ClaimNotReplicated,
    KeyUsedForAnother,
    LedgerUnavailable,
    SessionStopped,
    WriteLedger,
)
from tool_dispatcher.idempotency.write import (
    DeniedClaim,
    Effect,
    EndState,
    Results,
    State,
    Write,
    WriteStatus,
    denied_claim,
    is_repeat,
    outcomes_in,
)

PATIENCE_S = 10.0

T = TypeVar("T")


class Ledger(WriteLedger):
    """The records of all writes in Redis.

    While Redis is unavailable, every method waits for `patience_s` at most, then raises LedgerUnavailable. Only
    `settle` waits until Redis is back, because its results exist nowhere else.

    Args:
        lease_s, retention_s: how long a claim lasts without renewal, and how long a session's data is kept.
        claims: sends the commands that must be on replicas before a write begins.
    """

    def __init__(
        self,
        batcher: Batcher,
        keys: Keys,
        *,
        lease_s: float,
        retention_s: float,
        patience_s: float = PATIENCE_S,
        claims: Batcher | None = None,
    ) -> None:
        self.lease_s = lease_s
        self._batcher = batcher
        self._claims = claims or batcher
        self._interruptions_seen: dict[int, int] = {}
        self._lost_ms: dict[int, int] = {}
        self._keys = keys
        self._lease_ms = milliseconds(lease_s)
        self._retention_s = retention_s
        self._patience_s = patience_s

    async def claim(self, write: Write) -> Claim | None:
        """See WriteLedger. Raises KeyUsedForAnother, SessionStopped and LedgerUnavailable."""
        claimant = new_id().hex
        arguments = self._claim_arguments(write, claimant)
        arguments += [begun_entry(call_id) for call_id in write.call_ids]
        names = [*self._keys_of(write), self._stopped(write)]
        answer, ends_s, problem = await self._claimed(_CLAIM, names, arguments)
        if answer == b"mismatch":
            raise _used_for_another(write)
        if answer == b"stopped":
            raise SessionStopped(f"session {write.session_id} was cancelled; {write.tool} was not run.")
        return None if answer == b"recorded" else Claim(write, claimant, int(answer), ends_s, problem)

    async def begin(self, write: Write) -> Claim | DeniedClaim:
        """Claim a write by its identity, under a key that the script derives. Raises LedgerUnavailable."""
        claimant = new_id().hex
        names = [self._keys_of(write)[1], self._stopped(write), *self._index_keys(write)]
        arguments = [
            *self._claim_arguments(write, claimant),
            self._keys.effect(write.session_id, ""),
            write.name,
            "once" if write.kind == "ask" else write.kind,
            write.round,
            write.index,
            int(write.is_approved),
        ]
        for call_id, identity in zip(write.call_ids, write.identities, strict=True):
            arguments += [call_id, begun_entry(call_id), identity]
        (verdict, *more), ends_s, problem = await self._claimed(_BEGIN, names, arguments)
        if verdict == b"claimed":
            claimed = replace(write, key=more[0].decode())
            return Claim(claimed, claimant, int(more[1]), ends_s, problem)
        return denied_claim(verdict.decode(), more)

    async def repeats(
        self, session_id: str, round: int, calls: Sequence[tuple[str, str]]
    ) -> tuple[bool, ...]:
        """See WriteLedger. Raises LedgerUnavailable."""
        fields = [f for id, identity in calls for f in (f"call:{round}/{id}", f"of:{identity}")]
        name = self._keys.of_session(session_id, WRITES)
        values = await self._retried(
            "read a session's writes", lambda: self._batcher.submit("HMGET", name, *fields)
        )
        pairs = zip(values[::2], values[1::2], strict=True)
        return tuple(is_repeat(call, newest) for call, newest in pairs)

    async def status(self, write: Write) -> WriteStatus:
        """Return the status of the write. Raises KeyUsedForAnother and LedgerUnavailable."""
        arguments: list[Argument] = ["", ""] if write.name else [write.tool, write.fingerprint]
        state, fence, left_ms, outcomes = await self._retried(
            "read a write", lambda: self._batcher.run(_STATUS, self._keys_of(write)[:1], arguments)
        )
        if state == b"mismatch":
            raise _used_for_another(write)
        return WriteStatus(
            cast(State, state.decode()), int(fence), int(left_ms) / 1000, outcomes_in(outcomes)
        )

    async def take_over(
        self, write: Write, fence: int, *, is_unknown: bool = False, is_again: bool = False
    ) -> Claim | None:
        """See WriteLedger. Raises LedgerUnavailable and ClaimNotReplicated."""
        claimant = new_id().hex
        names = self._keys_of(write)[:1]
        arguments: list[Argument] = [fence, claimant, self._lease_ms, self._retention_ms(write)[0]]
        if write.name:
            names += self._index_keys(write)
            arguments += [f"call:{write.requested_by}", write.identities[0], write.member, int(is_unknown)]
        else:
            arguments.append(int(is_again))
        answer, ends_s, problem = await self._claimed(_TAKE_OVER, names, arguments)
        if not int(answer):
            return None
        if problem:
            # The claim is not released, as the previous claimant may have begun; after this lease it is abandoned.
            raise ClaimNotReplicated(problem)
        return Claim(write, claimant, int(answer), ends_s, has_begun=not is_again)

    async def may_have_forgotten(self, write: Write) -> bool:
        """Return whether Redis has failed over or restarted since the write's session was opened.

        If so, it may have lost the record that the write began. Raises LedgerUnavailable.
        """
        partition = self._keys.partition(write.session_id)
        lost_ms = await self._retried("look at Redis's history", lambda: self.look_at_history(partition))
        if not lost_ms:
            return False
        opened = await self._retried(
            "read when a session was opened",
            lambda: self._batcher.submit("ZSCORE", self._keys.sessions(partition), write.session_id),
        )
        return opened is None or float(opened) <= lost_ms

    async def look_at_history(self, partition: int) -> int:
        """Return when another server was first seen as the master, in its Unix milliseconds; 0 if never.

        Asks Redis only after the connection was interrupted. Call it once before any write.
        """
        interruptions = self._claims.interruptions
        if self._interruptions_seen.get(partition) != interruptions:
            reply = await self._batcher.run(
                _HISTORY,
                [self._keys.history(partition)],
                [milliseconds(max(self._retention_s, IDEMPOTENCY_TTL_S_MIN))],
            )
            self._lost_ms[partition], self._interruptions_seen[partition] = int(reply), interruptions
        return self._lost_ms[partition]

    async def renew(self, claim: Claim) -> bool:
        """Restart the claim's lease. Returns False if it was taken over. Raises LedgerUnavailable."""
        life_ms, _ = self._retention_ms(claim.write)
        arguments: list[Argument] = [claim.claimant, claim.fence, self._lease_ms, life_ms]

        async def attempt() -> bool:
            begins_s = monotonic_s()
            is_renewed = bool(await self._batcher.run(_RENEW, self._keys_of(claim.write)[:1], arguments))
            if is_renewed:
                claim.ends_s = begins_s + self.lease_s
            return is_renewed

        return await self._retried("renew a write", attempt)

    async def settle(
        self, claim: Claim, results: Results, state: EndState, effects: Sequence[Effect] = ()
    ) -> bool:
        """See WriteLedger. Waits for as long as Redis is unavailable."""
        write = claim.write
        names = self._keys_of(write) + (self._index_keys(write) if write.name else [])
        arguments: list[Argument] = [
            claim.claimant,
            claim.fence,
            state,
            write.tool,
            write.fingerprint,
            *self._retention_ms(write),
            write.member,
            write.requested_by if write.call_ids else "",
        ]
        for n, result in enumerate(results):
            arguments += [outcome_entry(result.call_id), write_outcome(result, write.format)]
            if write.name:
                arguments += [write.identities[n], effects[n]]
        return bool(
            await retry_while_unavailable(
                "settle a write", lambda: self._batcher.run(_SETTLE, names, arguments)
            )
        )

    async def _claimed(
        self, script: Script, names: list[str], arguments: list[Argument]
    ) -> tuple[Any, float, str]:
        """Run a script that claims; return its reply, the end of the lease, and the error of too few replicas."""

        async def attempt() -> tuple[Any, float, str]:
            ends_s = monotonic_s() + self.lease_s
            try:
                return await self._claims.run(script, names, arguments), ends_s, ""
            except NotReplicated as error:
                return error.reply, ends_s, f"{error}."

        return await self._retried("claim a write", attempt)

    def _claim_arguments(self, write: Write, claimant: str) -> list[Argument]:
        """Return the arguments that both scripts that claim a write take first."""
        digest, retention_ms = write.fingerprint, self._retention_ms(write)
        request = (write.session_id, write.requested_at_ms)
        return [claimant, write.tool, digest, self._lease_ms, *retention_ms, *request]

    def _stopped(self, write: Write) -> str:
        return self._keys.stopped(self._keys.partition(write.session_id))

    def _index_keys(self, write: Write) -> list[str]:
        """Return the keys of the session's writes and of their order."""
        return [self._keys.of_session(write.session_id, name) for name in (WRITES, WRITES_IN_ORDER)]

    def _keys_of(self, write: Write) -> list[str]:
        """Return the keys of the record and of the batch's journal, which share a slot."""
        journal = self._keys.of_session(write.session_id, journal_name(write.round))
        return [self._keys.effect(write.session_id, write.key), journal]

    def _retention_ms(self, write: Write) -> tuple[int, int]:
        """Return how long the record and the journal are kept, in milliseconds."""
        life_s = max(write.ttl_s, self._retention_s, IDEMPOTENCY_TTL_S_MIN)
        return milliseconds(life_s), milliseconds(self._retention_s)

    async def _retried(self, purpose: str, attempt: Callable[[], Awaitable[T]]) -> T:
        """Retry while Redis is unavailable or does not reply, up to `patience_s`."""
        try:
            async with asyncio.timeout(self._patience_s):
                return await retry_while_unavailable(purpose, attempt)
        except TimeoutError:
            raise LedgerUnavailable(f"Redis has been out of reach for {self._patience_s:g} s.") from None


def _used_for_another(write: Write) -> KeyUsedForAnother:
    return KeyUsedForAnother(
        f"The idempotency key {write.key!r} is that of a write with another tool or other arguments.",
        hint="Mint one key for each call, and keep it with the call's arguments.",
    )


WRITES, WRITES_IN_ORDER = "writes", "writes:order"
"""The index of a session's writes; see begin.lua."""

_BEGIN = script_of(__name__, "begin")
_CLAIM = script_of(__name__, "claim")
_STATUS = script_of(__name__, "status")
_TAKE_OVER = script_of(__name__, "take_over")
_RENEW = script_of(__name__, "renew")
_HISTORY = script_of(__name__, "history")
_SETTLE = script_of(__name__, "settle")
