"""The ledger of writes: one record for each idempotency key, and its transitions, each an atomic script.

    nothing --claim--> in_progress --settle--> settled | unknown
                           |  ^
                           +--+ renew, take_over (a new fence)

A record outlives its session and what its tool's contract promises. See the scripts for what each checks.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal, TypeVar, cast

from antiphon_shared.bus.batcher import Batcher
from antiphon_shared.bus.connection import patiently
from antiphon_shared.bus.keys import Keys
from antiphon_shared.bus.scripts import script_of
from antiphon_shared.bus.wire import Argument, NotReplicated
from antiphon_shared.formats import FORMAT
from antiphon_shared.process.clock import milliseconds, monotonic_s
from antiphon_shared.process.errors import AntiphonError, RedisUnavailable
from antiphon_shared.process.ids import new_id
from antiphon_shared.tools.calls import ToolResult
from antiphon_shared.tools.contract import IDEMPOTENCY_TTL_S_MIN
from antiphon_shared.tools.journal import begun_entry, journal_name, outcome_entry, write_outcome
from pydantic import TypeAdapter, ValidationError

PATIENCE_S = 10.0

Results = tuple[ToolResult, ...]
"""What came of a write: a result for each of its calls."""
EndState = Literal["settled", "unknown"]
State = Literal["none", "in_progress", "abandoned", "settled", "unknown"]

T = TypeVar("T")


class KeyUsedForAnother(AntiphonError):
    """An idempotency key names the write of another tool, or one with other arguments."""

    code = "key_used_for_another"


class SessionStopped(AntiphonError):
    """The session was cancelled before the write had begun."""

    code = "session_stopped"


class LedgerUnavailable(RedisUnavailable):
    """The ledger cannot be read or written: Redis has been away for longer than we wait."""


class ClaimNotReplicated(LedgerUnavailable):
    """Too few replicas have the takeover of a write, so that a failover could forget it. Nothing has begun here."""


@dataclass(frozen=True, slots=True)
class Write:
    """One effect: that of a call, or of several collapsed into one."""

    session_id: str
    key: str
    """The idempotency key."""
    tool: str
    fingerprint: str
    """Of the tool's name and the validated arguments; see `tool_dispatcher.idempotency.fingerprint`."""
    round: int
    call_ids: tuple[str, ...]
    ttl_s: float
    """How long its outcome is kept at least, from its last change on."""
    format: int = FORMAT
    """Of its session."""
    asked_ms: int = 0
    """When it was asked for, in Unix milliseconds of Redis's clock."""


@dataclass(slots=True)
class Claim:
    """The right to run a write, and to settle it."""

    write: Write
    claimant: str
    fence: int
    """Counts up with every takeover, from 1."""
    ends_s: float
    """When the lease is over, on our monotonic clock: never later than on Redis's."""
    problem: str = ""
    """Why nothing may begin under it: too few replicas have it, so that a failover could forget it."""

    @property
    def is_over(self) -> bool:
        """Whether somebody else may have taken over."""
        return monotonic_s() >= self.ends_s


@dataclass(frozen=True, slots=True)
class Standing:
    """How a write stands. `outcomes` are there when it is settled, and may be when it is unknown."""

    state: State
    fence: int = 0
    left_s: float = 0.0
    """What is left of the lease of whoever runs it."""
    outcomes: Results = ()


class Ledger:
    """The records of all writes.

    `lease_s`: how long a claimant may be silent before it is taken over. `retention_s`: how long what belongs
    to a session is kept. Whatever finds Redis away waits for `patience_s` at most, and raises LedgerUnavailable;
    `settle` alone waits until Redis is back, as it holds what nobody else knows. `claims` sends what has to be on
    replicas before anything begins.
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
        self._looked: dict[int, int] = {}
        self._lost_ms: dict[int, int] = {}
        self._keys = keys
        self._lease_ms = milliseconds(lease_s)
        self._retention_s = retention_s
        self._patience_s = patience_s

    async def claim(self, write: Write) -> Claim | None:
        """The right to run a write that nobody has claimed. None: ask how it stands.

        Raises KeyUsedForAnother, SessionStopped, and LedgerUnavailable.
        """
        claimant = new_id().hex
        stopped = self._keys.stopped(self._keys.partition(write.session_id))
        arguments: list[Argument] = [
            claimant,
            write.tool,
            write.fingerprint,
            self._lease_ms,
            *self._lives_ms(write),
            write.session_id,
            write.asked_ms,
            *(begun_entry(call_id) for call_id in write.call_ids),
        ]

        async def attempt() -> Claim | None:
            begins_s = monotonic_s()
            problem = ""
            try:
                answer = await self._claims.run(_CLAIM, [*self._names(write), stopped], arguments)
            except NotReplicated as error:
                answer, problem = error.reply, f"{error}."
            if answer == b"mismatch":
                raise _used_for_another(write)
            if answer == b"stopped":
                raise SessionStopped(f"session {write.session_id} was cancelled; {write.tool} was not run.")
            if answer == b"taken":
                return None
            return Claim(write, claimant, int(answer), begins_s + self.lease_s, problem)

        return await self._patiently("claim a write", attempt)

    async def stands(self, write: Write) -> Standing:
        """How the write stands. Raises KeyUsedForAnother, and LedgerUnavailable."""
        arguments: list[Argument] = [write.tool, write.fingerprint]
        state, fence, left_ms, outcomes = await self._patiently(
            "read a write", lambda: self._batcher.run(_STANDS, self._names(write)[:1], arguments)
        )
        if state == b"mismatch":
            raise _used_for_another(write)
        return Standing(cast(State, state.decode()), int(fence), int(left_ms) / 1000, _read(outcomes))

    async def take_over(self, write: Write, fence: int) -> Claim | None:
        """The right to run a write found abandoned with that fence; None when it does not stand so any more.

        Raises LedgerUnavailable.
        """
        claimant = new_id().hex
        arguments: list[Argument] = [fence, claimant, self._lease_ms, self._lives_ms(write)[0]]

        async def attempt() -> Claim | None:
            begins_s = monotonic_s()
            try:
                new_fence = int(await self._claims.run(_TAKE_OVER, self._names(write)[:1], arguments))
            except NotReplicated as error:
                # Not given up: who had it before may have begun. It is abandoned again when this lease is over.
                if int(error.reply):
                    raise ClaimNotReplicated(f"{error}.") from None
                return None
            return Claim(write, claimant, new_fence, begins_s + self.lease_s) if new_fence else None

        return await self._patiently("take over a write", attempt)

    async def may_have_forgotten(self, write: Write) -> bool:
        """Whether Redis has failed over, or restarted, since the write's session was opened: then it may have lost
        that the write was begun. Raises LedgerUnavailable.
        """
        partition = self._keys.partition(write.session_id)
        lost_ms = await self._patiently("look at Redis's history", lambda: self.look_at_history(partition))
        if not lost_ms:
            return False
        opened = await self._patiently(
            "read when a session was opened",
            lambda: self._batcher.submit("ZSCORE", self._keys.sessions(partition), write.session_id),
        )
        return opened is None or float(opened) <= lost_ms

    async def look_at_history(self, partition: int) -> int:
        """When another server was first seen in a master's place, in its Unix milliseconds; 0 when there was none.

        Asks only after the connection was interrupted. To be called once before any write.
        """
        interruptions = self._claims.interruptions
        if self._looked.get(partition) != interruptions:
            reply = await self._batcher.run(
                _HISTORY,
                [self._keys.history(partition)],
                [milliseconds(max(self._retention_s, IDEMPOTENCY_TTL_S_MIN))],
            )
            self._lost_ms[partition], self._looked[partition] = int(reply), interruptions
        return self._lost_ms[partition]

    async def renew(self, claim: Claim) -> bool:
        """Begin the claim's lease anew. False when it was taken over. Raises LedgerUnavailable."""
        life_ms, _ = self._lives_ms(claim.write)
        arguments: list[Argument] = [claim.claimant, claim.fence, self._lease_ms, life_ms]

        async def attempt() -> bool:
            begins_s = monotonic_s()
            is_ours = bool(await self._batcher.run(_RENEW, self._names(claim.write)[:1], arguments))
            if is_ours:
                claim.ends_s = begins_s + self.lease_s
            return is_ours

        return await self._patiently("renew a write", attempt)

    async def settle(self, claim: Claim, results: Results, state: EndState) -> bool:
        """Record what came of the write. False when it was taken over: then ask how it stands."""
        write = claim.write
        arguments: list[Argument] = [
            claim.claimant,
            claim.fence,
            state,
            write.tool,
            write.fingerprint,
            *self._lives_ms(write),
        ]
        for result in results:
            arguments += [outcome_entry(result.call_id), write_outcome(result, write.format)]
        return bool(
            await patiently(
                "settle a write", lambda: self._batcher.run(_SETTLE, self._names(write), arguments)
            )
        )

    def _names(self, write: Write) -> list[str]:
        """The keys of the record and of the batch's journal; they share a slot."""
        journal = self._keys.of_session(write.session_id, journal_name(write.round))
        return [self._keys.effect(write.session_id, write.key), journal]

    def _lives_ms(self, write: Write) -> tuple[int, int]:
        """How long the record and the journal are kept."""
        life_s = max(write.ttl_s, self._retention_s, IDEMPOTENCY_TTL_S_MIN)
        return milliseconds(life_s), milliseconds(self._retention_s)

    async def _patiently(self, what: str, attempt: Callable[[], Awaitable[T]]) -> T:
        """As `patiently`, with a limit that holds too when Redis takes commands and does not answer."""
        try:
            async with asyncio.timeout(self._patience_s):
                return await patiently(what, attempt)
        except TimeoutError:
            raise LedgerUnavailable(f"Redis has been out of reach for {self._patience_s:g} s.") from None


def _used_for_another(write: Write) -> KeyUsedForAnother:
    return KeyUsedForAnother(
        f"The idempotency key {write.key!r} names a write of another tool, or one with other arguments.",
        hint="Mint one key for each call, and keep it with the call's arguments.",
    )


def _read(outcomes: bytes) -> Results:
    """The outcomes in a record; none when there are none that can be read."""
    try:
        return _RESULTS.validate_json(outcomes) if outcomes else ()
    except ValidationError:
        return ()


_RESULTS: TypeAdapter[Results] = TypeAdapter(Results)

_CLAIM = script_of(__package__, "claim")
_STANDS = script_of(__package__, "stands")
_TAKE_OVER = script_of(__package__, "take_over")
_RENEW = script_of(__package__, "renew")
_HISTORY = script_of(__package__, "history")
_SETTLE = script_of(__package__, "settle")
