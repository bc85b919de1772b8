"""Events of the coordinator: requests to other components, and notes in the session's log."""

from typing import ClassVar, Literal

from pydantic import AwareDatetime, Field

from antiphon_shared.breakers.outages import Outages
from antiphon_shared.events.base import Component, EventData
from antiphon_shared.events.session import (
    Citations,
    Limits,
    QueryOptions,
    Status,
    TerminationReason,
    Turn,
    Uncertainty,
)
from antiphon_shared.formats import since
from antiphon_shared.memory.briefing import Level
from antiphon_shared.tools.calls import RequestedCall
from antiphon_shared.values import DEFAULT_TENANT, LogEntry, Round, Tenant, Usage, Value


class SessionOpened(EventData):
    """The recorded inputs of a session's decisions: its limits, and the tool catalogue as it was."""

    type: ClassVar[str] = "antiphon.session.opened.v1"

    limits: Limits
    options: QueryOptions
    catalogue: str = Field(description="Content hash of the tool catalogue; empty when there was none.")
    tools: tuple[str, ...] = Field(description="Names of the tools the session may use.")
    model: str = Field(description="Model id; empty for the engine's own default.")
    models: tuple[str, ...] = Field(
        default=(), description="Model ids in the order they are asked in; the first is the session's own."
    )
    conversation: tuple[Turn, ...] = Field(
        default=(), description="Earlier turns of its conversation, the oldest first."
    )
    tools_offered_all_max: int = Field(default=30, ge=1, description="Tools up to which all are offered.")
    tools_offered: int = Field(default=8, ge=1, description="Tools offered where there are more.")
    deadline: AwareDatetime
    grant_refused: str = Field(
        default="", description="Reason why the session's grant is refused.", json_schema_extra=since(2)
    )
    is_grant_ignored: bool = Field(
        default=False,
        description="True if the grant was ignored because no key to verify it is set.",
        json_schema_extra=since(2),
    )
    is_too_late_for_tools: bool = Field(
        default=False,
        description="True if the query waited for a tool dispatcher until its deadline.",
        json_schema_extra=since(6),
    )
    cancelled_because: str = Field(
        default="",
        description="Reason given for the cancellation of the query before the session was opened.",
        json_schema_extra=since(6),
    )


FallbackStep = Literal[
    "simplified_briefing",
    "minimal_briefing",
    "other_model",
    "waiting_for_model",
    "tools_failed",
    "answer_without_tools",
    "facts_without_model",
]


class FallbackTaken(EventData):
    """A fallback step: what has failed, and what is done instead."""

    type: ClassVar[str] = "antiphon.rung.taken.v1"

    round: Round
    rung: FallbackStep
    because: str = Field(description="The failure, in a sentence.")
    model: str = Field(default="", description="The model asked instead, where it is another.")


class AnswerRefused(EventData):
    """A final answer that does not count; the model gets the reasons, and continues in the next round."""

    type: ClassVar[str] = "antiphon.answer.refused.v1"

    round: Round
    because: tuple[str, ...] = Field(description="The errors of the answer, a sentence each.")


class StepBegun(EventData):
    """The beginning of an attempt at a step of the query."""

    type: ClassVar[str] = "antiphon.step.begun.v1"

    round: Round = Field(description="The first of the attempt.")
    step: str
    number: int = Field(ge=1, description="Number of the step, from 1.")
    attempt: int = Field(ge=1, description="Counts from 1.")
    because: tuple[str, ...] = Field(
        default=(),
        description="Reasons why the previous attempt failed, a sentence each; empty in the first attempt.",
    )


class OutagesSeen(EventData):
    """The open circuits at the decision on the event it answers, if they have changed."""

    type: ClassVar[str] = "antiphon.outages.seen.v1"

    outages: Outages


class StepToBrief(Value):
    """The attempt at a step that a briefing is for."""

    number: int = Field(ge=1, description="Number of the step, from 1.")
    attempt: int = Field(ge=1, description="Counts from 1.")
    begun: Round = Field(description="The first round of the attempt.")
    input: LogEntry | None = Field(
        default=None, description="The reasoning.completed that holds the output of the step before."
    )
    is_untrusted: bool = Field(
        default=False, description="True if the input may contain text from unknown authors."
    )


class BriefingRequested(EventData):
    """A request to file the last round's outcome and to rebuild the briefing."""

    type: ClassVar[str] = "antiphon.briefing.requested.v1"
    inbox: ClassVar[Component | None] = "context_synthesizer"

    round: Round = Field(description="The round that the briefing is for.")
    max_rounds: Round
    question: LogEntry = Field(description="The query.submitted that holds the user's words.")
    level: Level = "full"
    reasoning: LogEntry | None = Field(
        default=None, description="The last round's reasoning.completed, to file."
    )
    results: LogEntry | None = Field(default=None, description="The last round's tools.completed, to file.")
    untrusted: tuple[str, ...] = Field(
        default=(), description="Ids of the calls in `results` with text from unknown authors."
    )
    summary: LogEntry | None = Field(default=None, description="A summary.completed, to check and file.")
    conversation: tuple[Turn, ...] = Field(
        default=(), description="Earlier turns of the conversation, to file; with the first request alone."
    )
    tokens_per_estimated: float = Field(
        default=1.0,
        ge=0.25,
        le=4.0,
        description="Tokens that the model has counted for each that was estimated, so far in the session.",
    )
    may_summarize: bool = Field(default=True, description="True if a summary is permitted.")
    step: StepToBrief | None = Field(default=None, json_schema_extra=since(4))


class SummaryRequested(EventData):
    """A request to a model to summarize facts. No other step waits for it."""

    type: ClassVar[str] = "antiphon.summary.requested.v1"
    inbox: ClassVar[Component | None] = "reasoning_engine"

    round: Round
    source: str = Field(description="Digest of the text to shorten, which is in a document of the session.")
    facts: tuple[str, ...] = Field(description="Ids of the facts in it; neighbours as `F3-F9`.")
    tokens_max: int = Field(ge=1, description="Maximum number of tokens of the summary.")
    tokens_left: int = Field(ge=1, description="Rest of the session's token budget.")
    deadline: AwareDatetime


class ReasoningRequested(EventData):
    """A request for one call to the model with the given briefing."""

    type: ClassVar[str] = "antiphon.reasoning.requested.v1"
    inbox: ClassVar[Component | None] = "reasoning_engine"

    round: Round
    briefing: str = Field(description="Digest of the briefing, whose text is in the session's document.")
    catalogue: str = Field(default="", description="Content hash of the tool catalogue.")
    tools: tuple[str, ...] = Field(
        default=(), description="Names of the tools to offer; none to force an answer."
    )
    last_round_because: str = Field(
        default="",
        description="Reason for the model why no more tools are offered; empty in an ordinary round.",
    )
    notice: str = Field(
        default="", description="Message to the model in addition to the briefing, sent once."
    )
    model: str = Field(default="", description="Model id; empty for the engine's own default.")
    output: LogEntry | None = Field(
        default=None,
        description="The query.submitted with the schema that the answer must fit.",
        json_schema_extra=since(3),
    )
    step: int = Field(
        default=0, ge=0, description="The step of the query; counts from 1.", json_schema_extra=since(4)
    )
    tokens_left: int = Field(ge=1, description="Rest of the session's token budget.")
    deadline: AwareDatetime


class ToolsRequested(EventData):
    """A request to run one batch of calls."""

    type: ClassVar[str] = "antiphon.tools.requested.v1"
    inbox: ClassVar[Component | None] = "tool_dispatcher"

    round: Round
    calls: tuple[RequestedCall, ...] = Field(min_length=1)
    allowed: tuple[str, ...] = Field(default=(), description="Names of the tools the session may use.")
    succeeded: tuple[str, ...] = Field(
        default=(), description="Names of the tools that have succeeded in earlier rounds."
    )
    has_untrusted: bool = Field(
        default=False, description="True if the session contains text from unknown authors."
    )
    tenant: Tenant = DEFAULT_TENANT
    grant: str = Field(
        default="", description="Signed permissions of the session; empty: the default scopes."
    )
    deadline: AwareDatetime
    node: str = Field(
        default="",
        description="The path of the node of a run that makes the call; its result is wanted whole.",
        json_schema_extra=since(5),
    )
    is_retried: bool = Field(
        default=True,
        description="True if the contract's retries apply; false if the run has its own.",
        json_schema_extra=since(5),
    )
    catalogue: str = Field(
        default="",
        description="Content hash of the session's tool catalogue; only where a call asks which workflow to run.",
        json_schema_extra=since(5),
    )


class StepOutput(Value):
    """The output of a finished step."""

    step: str
    reply: LogEntry = Field(description="The reasoning.completed that holds it.")


class AssemblyRequested(EventData):
    """A request to compose the answer from what there is."""

    type: ClassVar[str] = "antiphon.assembly.requested.v1"
    inbox: ClassVar[Component | None] = "response_assembler"

    question: LogEntry = Field(description="The query.submitted that holds the user's words.")
    status: Status
    termination_reason: TerminationReason
    reply: LogEntry | None = Field(
        default=None, description="The reasoning.completed whose text is the answer."
    )
    has_result: bool = Field(
        default=False,
        description="True if the reply contains a value that matches the required schema.",
        json_schema_extra=since(3),
    )
    steps: tuple[StepOutput, ...] = Field(
        default=(),
        description="The finished steps of a session that ends before its last one is.",
        json_schema_extra=since(4),
    )
    reasoning: LogEntry | None = Field(default=None, description="A reasoning.completed not yet in memory.")
    results: LogEntry | None = Field(default=None, description="A tools.completed not yet in memory.")
    batch: Round | None = Field(
        default=None, description="Round of an unfinished batch, whose journaled results are used."
    )
    untrusted: tuple[str, ...] = Field(
        default=(), description="Ids of the calls in `results` with text from unknown authors."
    )
    citations: Citations = "normal"
    uncertainty: tuple[Uncertainty, ...] = ()
    rounds_used: int = Field(ge=0)
    tool_calls_used: int = Field(ge=0)
    usage: Usage
    opened: AwareDatetime
