"""The parts of a session's document, by subject. Pure.

Parts are immutable; `replace`, which the type checker checks, returns a changed copy.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal
from uuid import UUID

from antiphon_shared.breakers.outages import NO_OUTAGES, ModelOutage, Outages
from antiphon_shared.events import ChildWaiting
from antiphon_shared.events.session import Citations
from antiphon_shared.tools.calls import RequestedCall, ToolResult
from antiphon_shared.values import DEFAULT_TENANT, LogEntry, SessionId, Tenant, Usage, Value
from pydantic import ConfigDict, Field

if TYPE_CHECKING:
    from dataclasses import replace as replace
else:

    def replace(value, **changes):
        """Return a part with new values in some fields, like `dataclasses.replace`, in a third of its time."""
        changed = object.__new__(type(value))
        fields = changed.__dict__
        fields |= value.__dict__
        fields |= changes
        assert len(fields) == len(value.__dict__), f"{type(value).__name__} lacks one of {[*changes]}"
        return changed


NOTHING_USED = Usage(cost_usd=0.0)
STRICT = ConfigDict(extra="forbid", allow_inf_nan=False, defer_build=True)


class MadeWrite(Value):
    """A call of a writing tool that was handed out."""

    id: str
    tool: str
    asked: LogEntry = Field(description="The reasoning.completed that holds its arguments.")
    source: str = Field(description="Id of the call in that event: its own, or that of the call it repeats.")
    root: str = Field(description="Id of the first of the calls that do the same.")
    digest: str = Field(description="Digest of the tool and of the model's arguments.")
    state: Literal["asked", "done", "unknown"] = "asked"


@dataclass(frozen=True)
class Query:
    """The query, and its origin."""

    __pydantic_config__ = STRICT

    question: LogEntry
    """The query's entry in the log."""
    tenant: Tenant = DEFAULT_TENANT
    grant: str = ""
    citations: Citations = "normal"
    conversation: SessionId | None = None
    is_interactive: bool = False
    """Whether a user is present to answer questions."""


@dataclass(frozen=True)
class Tools:
    """The tools that the session may use, and their successes and failures."""

    __pydantic_config__ = STRICT

    catalogue: str = ""
    """The content hash."""
    usable: tuple[str, ...] = ()
    """Tools for all rounds, in the catalogue's order."""
    built_ins: tuple[str, ...] = ()
    """The dispatchers' own tools that it may use."""
    offer: tuple[str, ...] | None = None
    """The tools of `usable` that the model is offered, when all are too many; it only grows."""
    succeeded: tuple[str, ...] = ()
    """Tools that have succeeded in earlier rounds."""
    failed_calls: tuple[str, ...] = ()
    """The failed calls of a round in which every call failed, for the model."""
    barren_rounds: int = 0
    """Consecutive rounds in which every call failed."""
    has_handles: bool = False
    """Whether a result was cut, so that the rest is read by a handle."""


@dataclass(frozen=True)
class Spent:
    """Spending that counts against the session's limits."""

    __pydantic_config__ = STRICT

    rounds: int = 0
    tool_rounds: int = 0
    """Rounds whose calls were handed to a dispatcher."""
    tool_calls: int = 0
    usage: Usage = NOTHING_USED
    tokens_estimated: int = 0
    """Our estimate for the prompts whose usage is known."""
    tokens_counted: int = 0
    """The model's count for the same prompts."""

    def plus(self, usage: Usage) -> "Spent":
        """Return the spending with the usage of one more call."""
        return replace(self, usage=self.usage.plus(usage))


@dataclass(frozen=True)
class Material:
    """Results of a round that are not in memory yet, and the known properties of the memory."""

    __pydantic_config__ = STRICT

    reasoning: LogEntry | None = None
    """A reasoning.completed not yet in memory."""
    results: LogEntry | None = None
    """A tools.completed not yet in memory."""
    untrusted_calls: tuple[str, ...] = ()
    """Ids of the calls in `results` that returned untrusted content."""
    has_untrusted: bool = False
    """Whether untrusted content is in the session."""
    has_omissions: bool = False
    """Whether a briefing has left something out."""
    missed: tuple[str, ...] = ()
    """Facts that are close to the question and did not fit into the newest briefing."""


@dataclass(frozen=True)
class Models:
    """The models that may be asked, and their failures."""

    __pydantic_config__ = STRICT

    own: str = ""
    """The model that the query names."""
    order: tuple[str, ...] = ()
    """Model ids in the order they are asked in; empty for the engine's own default."""
    asked: str = ""
    """The model that was asked last."""
    unusable: tuple[str, ...] = ()
    """Models that would refuse a later attempt too."""
    outages: Outages = NO_OUTAGES
    """The newest known outages of models and tools."""
    rests: tuple[ModelOutage, ...] = ()
    """Cooldowns of models in this session."""
    failures: int = 0
    """The number of failed replies."""
    round_failures: int = 0
    """The number of failed replies in the round."""
    pauses: int = 0
    """The number of cooldowns that models asked for in the round."""
    waits: int = 0
    """The number of waits because every model was unavailable."""
    is_last_call: bool = False
    """Whether the model is asked only once more, after too many failures."""


@dataclass(frozen=True)
class People:
    """The batch that waits for people."""

    __pydantic_config__ = STRICT

    pending: tuple[RequestedCall, ...] = ()
    undecided: tuple[str, ...] = ()
    """Ids of the pending calls that a person still has to decide on."""
    unanswered: tuple[str, ...] = ()
    """Ids of the pending questions that the user still has to answer."""


class MadeRun(Value):
    """A run of a workflow that a call has begun."""

    id: SessionId
    digest: str = Field(description="Digest of the call's tool and arguments.")
    call_id: str
    round: int
    is_clean: bool = Field(default=False, description="True if the run failed without a lasting effect.")


class ChildRun(Value):
    """A call of the batch that is a run."""

    call: RequestedCall
    index: int = Field(description="Index of the call in the batch.")
    id: SessionId
    specification: str = Field(default="", description="Hash of the specification.")
    is_alone: bool = Field(
        default=False, description="True if runs of this workflow in a batch run one at a time."
    )
    is_queued: bool = Field(default=False, description="True if it starts after the previous run has ended.")
    result: ToolResult | None = None
    waits: ChildWaiting | None = Field(default=None, description="Request of the run to the session's user.")


@dataclass(frozen=True)
class Children:
    """The calls of the batch that are runs of workflows; see child_runs.py."""

    __pydantic_config__ = STRICT

    runs: tuple[ChildRun, ...] = ()
    has_batch: bool = False
    """Whether other calls of the batch were handed out."""
    batch: UUID | None = None
    """The id of the tools.completed with their results."""
    made: tuple[MadeRun, ...] = ()
    """All runs of the session."""


@dataclass(frozen=True)
class Summaries:
    """Summaries of facts by a model."""

    __pydantic_config__ = STRICT

    awaiting: UUID | None = None
    """The id of the summary.requested in flight."""
    ready: LogEntry | None = None
    """A summary.completed not yet in memory."""
    asked: int = 0
    failures: int = 0
    """Summaries that failed or were refused."""
    tokens: int = 0
    """Tokens spent on summaries; in `usage` too."""


@dataclass(frozen=True)
class Writes:
    """Calls of writing tools."""

    __pydantic_config__ = STRICT

    made: tuple[MadeWrite, ...] = ()
    """Writes that may be repeated on purpose."""
    in_doubt: tuple[str, ...] = ()
    """Writes that may have taken effect, as `tool call`: no result has settled them."""


NO_PEOPLE = People()
