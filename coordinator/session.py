"""The coordinator's document of a session. It is small, as every step rewrites it. Pure.

The log and the memory hold data that grows. The document's parts are in session_parts.py.
"""

from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from antiphon_shared.events.session import Limits, Severity, TerminationReason, Uncertainty
from antiphon_shared.values import SessionId
from pydantic import Field

from coordinator.session_output import Output, Steps
from coordinator.session_parts import (
    NO_PEOPLE,
    STRICT,
    Children,
    Material,
    Models,
    People,
    Query,
    Spent,
    Summaries,
    Tools,
    Writes,
    replace,
)

Phase = Literal["briefing", "reasoning", "resting", "approval", "tools", "assembling", "closed"]
_TEXT_CHARACTERS_MAX = 1_000


@dataclass(frozen=True)
class Session:
    """The state of a session."""

    __pydantic_config__ = STRICT

    id: SessionId
    limits: Limits
    opened: datetime
    deadline: datetime
    query: Query
    format: Annotated[int, Field(ge=1)] = 1
    """The format of the session, as in the events' envelope."""
    phase: Phase = "briefing"
    round: int = 1
    awaiting: tuple[UUID, ...] = ()
    """The requests whose replies the session waits for."""
    last_round: TerminationReason | None = None
    """The reason for offering no more tools; set with the round's reasoning.requested."""
    looks_again: int = 0
    """The number of dead letters of the coordinator while the answer was put together."""
    uncertainty: tuple[Uncertainty, ...] = ()

    tools: Tools = Tools()
    spent: Spent = Spent()
    material: Material = Material()
    models: Models = Models()
    people: People = NO_PEOPLE
    children: Children = Children()
    summaries: Summaries = Summaries()
    writes: Writes = Writes()
    output: Output = Output()
    steps: Steps = Steps()

    @property
    def pending_request(self) -> UUID | None:
        """Return the request that the session waits for, if it is a single one."""
        return self.awaiting[0] if len(self.awaiting) == 1 else None

    def with_uncertainties(self, *uncertainties: Uncertainty) -> "Session":
        """Return the session with more uncertainties."""
        return replace(self, uncertainty=(*self.uncertainty, *uncertainties)) if uncertainties else self


PARTS = tuple(field.name for field in fields(Session) if is_dataclass(field.type))
"""The parts of a session, by the names of their fields."""


def new_uncertainty(kind: str, message: str, about: str, severity: Severity = "caution") -> Uncertainty:
    """Return an uncertainty with its text cut to the maximum length."""
    message, about = message[:_TEXT_CHARACTERS_MAX], about[:_TEXT_CHARACTERS_MAX]
    return Uncertainty(kind=kind, message=message, about=about, severity=severity)
