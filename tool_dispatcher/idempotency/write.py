"""A write of a session and its status: the values that the ledger and its scripts exchange. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast

from antiphon_shared.formats import FORMAT
from antiphon_shared.tools.calls import ToolResult
from pydantic import TypeAdapter, ValidationError

Results = tuple[ToolResult, ...]
"""The outcome of a write: a result for each of its calls."""
EndState = Literal["settled", "unknown"]
State = Literal["none", "in_progress", "abandoned", "settled", "unknown"]
Purpose = Literal["once", "ask", "again", "next"]
"""How an identical earlier write matters. `once`: it answers this one. `ask`: it blocks this one. `again`: this one
deliberately repeats it. `next`: it does not matter.
"""
Effect = Literal["done", "unknown", "none"]
Verdict = Literal["recorded", "unsettled", "repeated", "between", "split", "stopped"]


@dataclass(frozen=True, slots=True)
class Write:
    """The write of one call, or of several calls that are collapsed into one."""

    session_id: str
    key: str
    """The idempotency key; empty until it is minted, in sessions of format 2."""
    tool: str
    fingerprint: str
    """The digest of the tool's name and the validated arguments; see `tool_dispatcher.idempotency.identity`."""
    round: int
    call_ids: tuple[str, ...]
    ttl_s: float
    """How long its outcome is kept at least after its last change, in seconds."""
    format: int = FORMAT
    """The format of its session."""
    requested_at_ms: int = 0
    """The time of the request, in Unix milliseconds of Redis's clock."""
    name: str = ""
    """The key without its ordinal, in sessions of format 2; empty if the coordinator has minted the key."""
    identities: tuple[str, ...] = ()
    """The identity of each call; see identity.py."""
    kind: Purpose = "once"
    index: int = 0
    """The index of its first call in the batch."""
    is_approved: bool = False
    """Whether a person has approved its repetition, whatever the outcome of the earlier write."""

    @property
    def requested_by(self) -> str:
        """Return `ROUND/ID` of its first call."""
        return f"{self.round}/{self.call_ids[0]}"

    @property
    def member(self) -> str:
        """Return its entry in the order of the session's writes."""
        return f"{self.round}/{self.index}/{self.key}"


@dataclass(frozen=True, slots=True)
class DeniedClaim:
    """The reason why a claim was denied; begin.lua defines the verdicts."""

    verdict: Verdict
    key: str = ""
    """The key of the write in question."""
    item: int = 1
    """The number of the call within that write, from 1."""
    state: str = ""
    by: str = ""
    """`ROUND/ID` of the call that made the write."""
    at_ms: int = 0
    """When it settled, in Unix milliseconds; 0 if unknown."""
    outcome: ToolResult | None = None
    other: str = ""
    """For a write in between: `ROUND/INDEX/KEY`."""


@dataclass(frozen=True, slots=True)
class WriteStatus:
    """The status of a write. A settled write has `outcomes`; one whose effect is unknown may have them."""

    state: State
    fence: int = 0
    left_s: float = 0.0
    """The rest of the claimant's lease, in seconds."""
    outcomes: Results = ()


def denied_claim(verdict: str, more: Sequence[bytes]) -> DeniedClaim:
    """Return the denied claim in a reply of begin.lua."""
    if verdict not in ("unsettled", "repeated", "between"):
        return DeniedClaim(cast(Verdict, verdict), more[0].decode() if more else "")
    key, item = more[0].decode(), int(more[1])
    if verdict == "unsettled":
        state, by, at_ms = more[2].decode(), more[3].decode(), int(more[4])
        return DeniedClaim("unsettled", key, item, state, by, at_ms)
    by, at_ms = more[2].decode(), int(more[3])
    if verdict == "between":
        return DeniedClaim("between", key, item, "done", by, at_ms, other=more[4].decode())
    outcomes = outcomes_in(more[4])
    outcome = outcomes[item - 1] if len(outcomes) >= item else None
    return DeniedClaim("repeated", key, item, "done", by, at_ms, outcome)


def is_repeat(call: bytes | None, newest: bytes | None) -> bool:
    """Return whether another call has already made the write, from the index entries of the call and the identity."""
    if call is not None:
        return not call.startswith(b"own ")
    return newest is not None and newest.split(b" ")[1] != b"none"


def outcomes_in(outcomes: bytes) -> Results:
    """Return the outcomes in a record; an empty tuple if they are missing or unreadable."""
    try:
        return _RESULTS.validate_json(outcomes) if outcomes else ()
    except ValidationError:
        return ()


_RESULTS: TypeAdapter[Results] = TypeAdapter(Results)
