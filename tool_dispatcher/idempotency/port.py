"""The port of a ledger of writes: claims, the status of a write, and its settlement."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from antiphon_shared.process.clock import monotonic_s
from antiphon_shared.process.errors import AntiphonError, RedisUnavailable

from tool_dispatcher.idempotency.write import DeniedClaim, Effect, EndState, Results, Write, WriteStatus


class KeyUsedForAnother(AntiphonError):
    """The idempotency key is that of a write with another tool or other arguments."""

    code = "key_used_for_another"


class SessionStopped(AntiphonError):
    """The session was cancelled before the write began."""

    code = "session_stopped"


class LedgerUnavailable(RedisUnavailable):
    """The ledger cannot be read or written: Redis has been unavailable for longer than the ledger waits."""


class ClaimNotReplicated(LedgerUnavailable):
    """Too few replicas have the takeover of a write, so that a failover could lose it; the write has not run here."""


@dataclass(slots=True)
class Claim:
    """The right to run a write, and to settle it."""

    write: Write
    claimant: str
    fence: int
    """A number, from 1, that increases with every takeover."""
    ends_s: float
    """The end of the lease on the monotonic clock of this process; it is never later than on Redis's clock."""
    problem: str = ""
    """Why the write must not begin: too few replicas have the claim, so that a failover could lose it."""
    has_begun: bool = False
    """Whether an earlier claimant, whose lease has expired, may have begun the write."""

    @property
    def is_over(self) -> bool:
        """Return whether the lease is over, so that another worker may have taken over."""
        return monotonic_s() >= self.ends_s


class WriteLedger(Protocol):
    """A ledger of writes: one record for each idempotency key."""

    lease_s: float
    """How long a claim lasts without renewal, in seconds."""

    async def claim(self, write: Write) -> Claim | None:
        """Return the right to run an unclaimed write; None if it is claimed already: then read its status."""

    async def begin(self, write: Write) -> Claim | DeniedClaim:
        """Claim a write by its identity, under a key that the ledger derives, or return why it is denied."""

    async def repeats(
        self, session_id: str, round: int, calls: Sequence[tuple[str, str]]
    ) -> tuple[bool, ...]:
        """Return, for each call, whether an earlier call made the same write; a call is its id and identity."""

    async def status(self, write: Write) -> WriteStatus:
        """Return the status of the write."""

    async def take_over(
        self, write: Write, fence: int, *, is_unknown: bool = False, is_again: bool = False
    ) -> Claim | None:
        """Return the right to run a write that is abandoned with that fence; None if its status has changed.

        Args:
            is_unknown: also take over a write whose outcome is unknown.
            is_again: also take over a write that has ended, if the coordinator has minted the key.
        """

    async def may_have_forgotten(self, write: Write) -> bool:
        """Return whether the record that the write began may have been lost."""

    async def renew(self, claim: Claim) -> bool:
        """Restart the claim's lease. Returns False if it was taken over."""

    async def settle(
        self, claim: Claim, results: Results, state: EndState, effects: Sequence[Effect] = ()
    ) -> bool:
        """Record the results of the write. Returns False if it was taken over: then read its status.

        `effects` are needed, one per call, in sessions of format 2.
        """
