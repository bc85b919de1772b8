"""The port of a ledger of writes: claims, the status of a write, and its settlement."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from antiphon_shared.process.clock import monotonic_s
from antiphon_shared.process.errors import AntiphonError, RedisUnavailable

from tool_dispatcher.idempotency.write import DeniedClaim, Effect, EndState, Results, Write, WriteStatus


class KeyUsedForAnother(AntiphonError):
    """An idempotency key that names a write of another tool, or one with other arguments."""

    code = "key_used_for_another"


class SessionStopped(AntiphonError):
    """The session was cancelled before the write began."""

    code = "session_stopped"


class LedgerUnavailable(RedisUnavailable):
    """The ledger cannot be read or written: Redis has been unavailable for longer than the ledger waits."""


class ClaimNotReplicated(LedgerUnavailable):
    """Too few replicas have the takeover of a write, so that a failover could lose it. Nothing has begun here."""


@dataclass(slots=True)
class Claim:
    """The right to run a write, and to settle it."""

    write: Write
    claimant: str
    fence: int
    """Increases with every takeover, from 1."""
    ends_s: float
    """The end of the lease, on our monotonic clock: never later than on Redis's."""
    problem: str = ""
    """Why nothing may begin under it: too few replicas have it, so that a failover could lose it."""
    has_begun: bool = False
    """Whether an earlier claimant may have begun the write, and has let its lease expire."""

    @property
    def is_over(self) -> bool:
        """Return whether the lease is over, so that another worker may have taken over."""
        return monotonic_s() >= self.ends_s


class WriteLedger(Protocol):
    """A ledger: one record for each idempotency key. `lease_s`: how long a claim lasts without renewal."""

    lease_s: float

    async def claim(self, write: Write) -> Claim | None:
        """Return the right to run an unclaimed write; None if it is claimed, and its status has to be read."""

    async def begin(self, write: Write) -> Claim | DeniedClaim:
        """Claim a write by its identity, under a key that the ledger derives; or return the decision against it."""

    async def repeats(
        self, session_id: str, round: int, calls: Sequence[tuple[str, str]]
    ) -> tuple[bool, ...]:
        """Return for each call, given as id and identity, whether an earlier call made it."""

    async def status(self, write: Write) -> WriteStatus:
        """Return the status of the write."""

    async def take_over(
        self, write: Write, fence: int, *, is_unknown: bool = False, is_again: bool = False
    ) -> Claim | None:
        """Return the right to run a write that was found abandoned with that fence; None if its status has changed.

        `is_unknown`: also when its outcome is unknown; `is_again`: also when it has ended, if the
        coordinator has minted the key.
        """

    async def may_have_forgotten(self, write: Write) -> bool:
        """Return whether the record that the write began may have been lost."""

    async def renew(self, claim: Claim) -> bool:
        """Restart the claim's lease. Returns False if it was taken over."""

    async def settle(
        self, claim: Claim, results: Results, state: EndState, effects: Sequence[Effect] = ()
    ) -> bool:
        """Record the results of the write. Returns False if it was taken over: then its status has to be read.

        `effects`, one per call, in sessions of format 2.
        """
