"""The coordinator's document of a session, and what a decision is made of."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal
from uuid import UUID

from antiphon_shared.breakers.outages import NO_OUTAGES, ModelOutage, Outages
from antiphon_shared.bus.handling import CancelTimer, SetTimer
from antiphon_shared.events import AnyEvent, EventData
from antiphon_shared.events.session import (
    Citations,
    Limits,
    Response,
    Severity,
    TerminationReason,
    Turn,
    Uncertainty,
)
from antiphon_shared.formats import FORMAT, in_format, since
from antiphon_shared.stored import Kind
from antiphon_shared.tools.calls import RequestedCall
from antiphon_shared.values import DEFAULT_TENANT, LogEntry, SessionId, Tenant, Usage, Value
from pydantic import Field

Phase = Literal["briefing", "reasoning", "resting", "approval", "tools", "assembling", "closed"]
_DOUBT_CHARACTERS = 1_000


class MadeWrite(Value):
    """A call of a writing tool that was handed out."""

    id: str
    tool: str
    asked: LogEntry = Field(description="The reasoning.completed that holds its arguments.")
    source: str = Field(description="Id of the call there: its own, or that of the call it repeats.")
    root: str = Field(description="Id of the first of the calls that do the same.")
    digest: str = Field(description="Of tool and arguments as the model gave them.")
    state: Literal["asked", "done", "unknown"] = "asked"


class Session(Value):
    """Where a session stands. Small and rewritten at every step; what grows is in the log and in memory."""

    id: SessionId
    format: int = Field(
        default=1, ge=1, description="As in the events' envelope.", json_schema_extra=since(2)
    )
    question: LogEntry = Field(description="Where the query stands in the log.")
    limits: Limits
    catalogue: str
    tools: tuple[str, ...] = Field(description="What it may use, in any round, in the catalogue's order.")
    model: str
    opened: datetime
    deadline: datetime

    tenant: Tenant = DEFAULT_TENANT
    grant: str = ""
    citations: Citations = "normal"
    built_ins: tuple[str, ...] = Field(default=(), description="The dispatchers' own tools that it may use.")
    offer: tuple[str, ...] | None = Field(
        default=None,
        description="Those of its tools that the model is shown, where all are too many; it only grows.",
    )

    phase: Phase = "briefing"
    round: int = 1
    awaiting: UUID | None = Field(default=None, description="The request whose reply comes next.")
    last_round: TerminationReason | None = Field(
        default=None,
        description="Why no tools are offered any more; set with the round's reasoning.requested.",
    )
    reasoning: LogEntry | None = Field(default=None, description="A reasoning.completed not yet in memory.")
    results: LogEntry | None = Field(default=None, description="A tools.completed not yet in memory.")
    untrusted_calls: tuple[str, ...] = Field(
        default=(), description="Ids of the calls in `results` whose words anybody may have written."
    )
    reasoning_failures: int = 0
    barren_rounds: int = Field(default=0, description="Rounds in a row in which every call failed.")
    tool_calls_used: int = 0
    tool_rounds_used: int = Field(
        default=0, description="Rounds whose calls went to a dispatcher.", json_schema_extra=since(2)
    )
    rounds_used: int = 0
    usage: Usage = Usage(cost_usd=0.0)
    uncertainty: tuple[Uncertainty, ...] = ()

    succeeded: tuple[str, ...] = Field(default=(), description="Tools that have succeeded in earlier rounds.")
    has_untrusted: bool = Field(
        default=False, description="Whether content that anybody may have written is in."
    )
    has_handles: bool = Field(
        default=False, description="Whether a result was cut, and is read on by a handle."
    )
    has_omissions: bool = Field(default=False, description="Whether a briefing has left something out.")
    missed: tuple[str, ...] = Field(
        default=(), description="Facts close to what is asked that the newest briefing had no place for."
    )
    tokens_estimated: int = Field(default=0, description="Of the prompts that can be held against the usage.")
    tokens_counted: int = Field(default=0, description="Of the same prompts, by the model.")
    summary_awaiting: UUID | None = Field(default=None, description="The summary.requested under way.")
    summary: LogEntry | None = Field(default=None, description="A summary.completed not yet in memory.")
    summaries_asked: int = 0
    summary_failures: int = Field(default=0, description="Summaries that failed or were refused.")
    summary_tokens: int = Field(default=0, description="Tokens spent on summaries; in `usage` too.")
    pending: tuple[RequestedCall, ...] = Field(default=(), description="The batch that waits for a person.")
    undecided: tuple[str, ...] = Field(
        default=(), description="Ids of the pending calls that a person still has to decide on."
    )
    unanswered: tuple[str, ...] = Field(
        default=(), description="Ids of the pending questions that the user still has to answer."
    )
    is_interactive: bool = Field(default=False, description="Whether a user is there who answers questions.")
    conversation: SessionId | None = None
    models: tuple[str, ...] = Field(
        default=(),
        description="Model ids in the order they are asked in; empty for the engine's own default.",
    )
    unusable: tuple[str, ...] = Field(
        default=(), description="Those of them that have refused in a way that waiting does not mend."
    )
    outages: Outages = Field(default=NO_OUTAGES, description="What was out of order when last looked at.")
    model_failures: int = Field(
        default=0, description="Failed replies in all; `reasoning_failures` in the round."
    )
    rests: tuple[ModelOutage, ...] = Field(
        default=(), description="Models that have asked this session to leave them alone for a while."
    )
    pauses: int = Field(
        default=0, description="How often in the round a model has asked to be left alone for a while."
    )
    looks_again: int = Field(
        default=0, description="Messages set aside by a coordinator while the answer was put together."
    )
    waits_for_model: int = Field(default=0, description="How often every model was out of order.")
    asked_model: str = Field(default="", description="The model that was asked last.")
    is_last_call: bool = Field(
        default=False, description="Whether the model has failed so often that it is asked only once more."
    )
    failed_calls: tuple[str, ...] = Field(
        default=(), description="What failed in a round in which every call did, for the model."
    )
    in_doubt: tuple[str, ...] = Field(
        default=(), description="Writes that may have taken effect, as `tool call`: no result tells."
    )

    writes: tuple[MadeWrite, ...] = Field(
        default=(), json_schema_extra=since(2), description="What may be repeated on purpose."
    )

    def doubting(self, *doubts: Uncertainty) -> "Session":
        """The session with more to say about what is uncertain."""
        return self.model_copy(update={"uncertainty": (*self.uncertainty, *doubts)}) if doubts else self


SESSION: Kind[Session] = Kind("the session's document", Session, writes_defaults=False)


def doubt(kind: str, message: str, about: str, severity: Severity = "caution") -> Uncertainty:
    """One more thing that is uncertain, kept short."""
    message, about = message[:_DOUBT_CHARACTERS], about[:_DOUBT_CHARACTERS]
    return Uncertainty(kind=kind, message=message, about=about, severity=severity)


@dataclass(frozen=True, slots=True)
class OfferBounds:
    """How many tools a model is shown."""

    all_max: int = 30
    """As long as there are no more, all are offered."""
    subset: int = 8
    """Else so many, beside those that are pinned."""


@dataclass(frozen=True, slots=True)
class GrantCheck:
    """What a session's grant is worth, as verified where the session is opened."""

    problem: str = ""
    """Why it is refused, as a sentence on `it`; empty when it is not."""
    is_ignored: bool = False
    """Whether there was no key to verify it with, so that it counts for nothing."""


BELIEVED = GrantCheck()
"""A grant that says what the session may do, or none at all."""
IGNORED = GrantCheck(is_ignored=True)


@dataclass(frozen=True, slots=True)
class Opening:
    """What a session is opened with, beside its query and the tools there are."""

    limits: Limits
    catalogue: str
    """Content hash of the tool catalogue."""
    offer: OfferBounds = OfferBounds()
    is_catalogue_missing: bool = False
    models: tuple[str, ...] = ()
    """Of the deployment, in the order they are asked in."""
    conversation: tuple[Turn, ...] = ()
    """Earlier turns of the query's conversation, the oldest first."""
    grant: GrantCheck = BELIEVED


@dataclass(frozen=True, slots=True)
class Logged:
    """An event of the session's log, that a decision on another one needs."""

    entry: LogEntry
    event: AnyEvent


@dataclass(frozen=True, slots=True)
class Decision:
    """The session as it is now, and what has to happen. The n-th command's id is derived from the event's."""

    session: Session
    commands: tuple[EventData, ...] = ()
    timers: tuple[SetTimer | CancelTimer, ...] = ()
    closes: bool = False
    stops_work: bool = False
    """Whether what engines and dispatchers do for the session is to be dropped."""
    answer: Response | None = None
    """That of a session that is ended without having been opened."""
    alone: str = ""
    """Why the coordinator answers by itself, in a sentence; empty where it does not. See `alone.py`."""
    unless_answered: bool = False
    """Whether it holds only where there is no answer yet; a session that has one is closed instead."""

    def in_format(self, format: int) -> "Decision":
        """Return the decision as a release of `format` reads it; the session itself, where that is all the same."""
        if format >= FORMAT:
            return self
        return replace(
            self,
            session=in_format(self.session, format),
            commands=tuple(in_format(command, format) for command in self.commands),
        )

    def telling(self, *events: EventData) -> "Decision":
        """The decision with more for the log, behind its own commands, whose ids stay as they are."""
        return replace(self, commands=(*self.commands, *events)) if events else self
