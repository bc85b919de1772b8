"""The coordinator's document of a session, and what a decision is made of."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import Field

from shared.bus.handling import CancelTimer, SetTimer
from shared.events import EventData
from shared.session import Limits, Response, TerminationReason, Uncertainty
from shared.values import LogEntry, SessionId, Usage, Value

Phase = Literal["briefing", "reasoning", "tools", "assembling", "closed"]


class Session(Value):
    """Where a session stands. Small and rewritten at every step; what grows is in the log and in memory."""

    id: SessionId
    question: LogEntry = Field(description="Where the query stands in the log.")
    limits: Limits
    catalogue: str
    tools: tuple[str, ...]
    model: str
    opened: datetime
    deadline: datetime

    phase: Phase = "briefing"
    round: int = 1
    awaiting: UUID | None = Field(default=None, description="The request whose reply comes next.")
    last_round: TerminationReason | None = Field(
        default=None,
        description="Why no tools are offered any more; set with the round's reasoning.requested.",
    )
    reasoning: LogEntry | None = Field(default=None, description="A reasoning.completed not yet in memory.")
    results: LogEntry | None = Field(default=None, description="A tools.completed not yet in memory.")
    reasoning_failures: int = 0
    barren_rounds: int = Field(default=0, description="Rounds in a row in which every call failed.")
    tool_calls_used: int = 0
    rounds_used: int = 0
    usage: Usage = Usage(cost_usd=0.0)
    uncertainty: tuple[Uncertainty, ...] = ()


@dataclass(frozen=True, slots=True)
class Opening:
    """What a session is opened with, beside its query: defaults, and the tools there are."""

    limits: Limits
    catalogue: str
    tools: tuple[str, ...]
    is_catalogue_missing: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """The session as it is now, and what has to happen. The n-th command's id is derived from the event's."""

    session: Session
    commands: tuple[EventData, ...] = ()
    timers: tuple[SetTimer | CancelTimer, ...] = ()
    closes: bool = False
    answer: Response | None = None
    """The coordinator's own answer, given where the assembler could not; only if there is none yet."""
