"""The options of a session, and its response."""

from typing import Any, Literal

from pydantic import AwareDatetime, Field, model_validator

from antiphon_shared.formats import since
from antiphon_shared.output.steps import Schema, Step, StepsOption, ToolName
from antiphon_shared.stored import Kind
from antiphon_shared.values import SessionId, Usage, Value
from antiphon_shared.workflows.params import Name

Status = Literal["complete", "partial", "failed", "cancelled"]
"""`failed`: the model refused, the session could not be opened, tools that it needs are missing, or a run failed.

Every other ending without a complete answer is `partial`, with what was found, or `cancelled`.
"""

TerminationReason = Literal[
    "natural_completion",
    "max_rounds_reached",
    "max_tool_calls_reached",
    "max_tool_rounds_reached",
    "token_budget_exhausted",
    "cost_budget_exhausted",
    "deadline_exceeded",
    "all_tools_failed",
    "model_unavailable",
    "model_failing",
    "model_refused",
    "reply_truncated",
    "output_invalid",
    "validation_incomplete",
    "step_failed",
    "workflow_failed",
    "cancelled",
    "internal_error",
]

Citations = Literal["normal", "strict"]
"""`strict`: statements of an answer that cite nothing are marked."""

Severity = Literal["note", "caution", "serious"]
"""`note`: good to know; `caution`: check before relying on it; `serious`: do not rely on it."""


RunStatus = Literal[
    "completed", "failed", "compensated", "cancelled", "timed_out", "needs_review", "compensation_failed"
]
"""The end of a run: the last of these that applies."""


class WorkflowCall(Value):
    """The workflow that a run follows, in place of a model."""

    name: Name
    params: dict[str, Any] = Field(
        default={}, description="By name; checked strictly against the workflow's own."
    )
    specification: str = Field(
        default="",
        pattern=r"^([0-9a-f]{32})?$",
        description="Hash of the specification; empty: the published one of that name.",
    )


class QueryOptions(Value):
    """The options that a client may set for one query; the coordinator has defaults for the rest."""

    max_rounds: int | None = Field(default=None, ge=1, le=100, description="Reasoning rounds at most.")
    max_tool_rounds: int | None = Field(
        default=None,
        ge=0,
        le=99,
        description="Rounds with tool calls at most; then the model answers. Without `max_rounds`, one round more"
        " is all there is.",
        json_schema_extra=since(2),
    )
    max_tool_calls: int | None = Field(
        default=None, ge=0, le=10_000, description="Limit of tool calls in the session."
    )
    max_tokens: int | None = Field(
        default=None,
        ge=100,
        le=100_000_000,
        description="Limit of model tokens in the session, input and output together.",
    )
    max_cost_usd: float | None = Field(
        default=None, gt=0, le=1e6, description="Limit of the model's cost, in US dollars."
    )
    deadline_s: float | None = Field(
        default=None, gt=0, le=86_400, description="Seconds from submission to the answer."
    )
    tools: tuple[ToolName, ...] | None = Field(
        default=None,
        max_length=1_000,
        description="Names of the tools to offer; all of the catalogue when left out.",
    )
    model: str | None = Field(default=None, max_length=200, description="Model id, instead of the default.")
    citations: Citations | None = Field(
        default=None, description="`strict`: statements of the answer that cite no source are marked."
    )
    conversation_id: SessionId | None = Field(
        default=None, description="Conversation that the query continues; its earlier answers are used."
    )
    interactive: bool | None = Field(
        default=None, description="True if the model may ask the user questions."
    )
    output_schema: Schema | None = Field(
        default=None,
        description="JSON Schema 2020-12 that the answer must fit; then the response has a `result`.",
        json_schema_extra=since(3),
    )
    validation_tools: tuple[ToolName, ...] | None = Field(
        default=None,
        min_length=1,
        max_length=10,
        description="Tools that must have passed what is returned; only together with `output_schema`.",
        json_schema_extra=since(3),
    )
    steps: StepsOption | None = Field(
        default=None,
        description="Steps that must each succeed before the next begins, or the name of published ones; they bring "
        "tools and output themselves.",
        json_schema_extra=since(4),
    )

    workflow: WorkflowCall | None = Field(
        default=None,
        description="A workflow to run in place of reasoning; it brings its own tools and limits.",
        json_schema_extra=since(5),
    )

    @model_validator(mode="after")
    def _goes_together(self) -> "QueryOptions":
        if self.validation_tools is not None and self.output_schema is None:
            raise ValueError("validation_tools go with output_schema alone: say what the answer must fit")
        if self.steps is not None and (self.tools is not None or self.output_schema is not None):
            other = "tools" if self.tools is not None else "output_schema"
            raise ValueError(f"steps go without {other}: each step has its own")
        others = {"tools": self.tools, "output_schema": self.output_schema, "steps": self.steps}
        if self.workflow is not None and (extra := [name for name, one in others.items() if one is not None]):
            raise ValueError(f"a workflow goes without {extra[0]}: it has its own")
        return self

    @property
    def step_list(self) -> tuple[Step, ...]:
        """Return the steps, or an empty tuple. The intake has replaced the name of published ones."""
        assert not isinstance(self.steps, str), f"the steps {self.steps!r} are only named"
        return self.steps or ()

    def demanded(self, step: int = 0) -> tuple[dict[str, Any] | None, tuple[str, ...]]:
        """Return the schema that an answer must fit, if any, and the tools that must have accepted it.

        Args:
            step: the number of the step, counted from 1; 0 is for a query without steps.
        """
        if step and self.step_list:
            requested = self.step_list[step - 1]
            return requested.output, requested.validation_tools or ()
        return self.output_schema, self.validation_tools or ()


class Limits(Value):
    """The limits of a session: those of its options, and the defaults for the rest."""

    max_rounds: int = Field(ge=1)
    max_tool_rounds: int | None = Field(default=None, ge=0, json_schema_extra=since(2))
    max_tool_calls: int = Field(ge=0)
    max_tokens: int = Field(ge=100)
    max_cost_usd: float | None = Field(default=None, gt=0)
    deadline_s: float = Field(gt=0)
    model_failures_max: int = Field(
        default=4, ge=1, description="Failed replies after which the model is asked only once more."
    )
    deadline_max_s: float = Field(
        default=86_400.0,
        gt=0,
        description="Maximum deadline of any query, since sessions are stored for a limited time.",
    )
    person_s: float = Field(
        default=3_600.0, gt=0, description="Seconds a person is waited for at most, within the deadline."
    )
    assembly_s: float = Field(
        default=15.0,
        gt=0,
        description="Seconds until an answer is given without the assembler, where the deadline leaves no more.",
    )
    summaries_max: int = Field(default=4, ge=0, description="Summaries asked of a model; 0: none.")


class Uncertainty(Value):
    """A fact that the reader of an answer should know before trusting it."""

    kind: str = Field(description="Stable word, for programs: see docs/uncertainty.md.")
    message: str = Field(description="One sentence for the reader.")
    about: str = Field(default="", description="Subject of the uncertainty: a tool, a call, a limit.")
    severity: Severity = "caution"


class Source(Value):
    """The source of a part of an answer."""

    id: str = Field(description="The fact it rests on, `F3`.")
    number: int = Field(
        default=0, ge=0, description="Number by which the answer cites it, such as `[1]`; 0: not cited."
    )
    tool: str
    call_id: str
    title: str
    excerpt: str


class FieldSources(Value):
    """The facts that a field of a shaped answer rests on."""

    at: str = Field(description="JSON Pointer of the field.")
    sources: tuple[str, ...] = Field(description="Ids of sources that hold its value.")


class NodeOutcome(Value):
    """The outcome of one node of a run."""

    path: str
    status: Literal["done", "failed", "skipped", "stopped", "undone"]
    message: str = Field(default="", description="Reason for the failure; empty without one.")


class RunOutcome(Value):
    """The outcome of a run of a workflow."""

    workflow: str
    specification: str = Field(description="Hash of the specification.")
    status: RunStatus
    nodes: tuple[NodeOutcome, ...] = Field(
        description="Nodes that were started or skipped; one entry for a foreach."
    )
    standing: tuple[str, ...] = Field(default=(), description="Writes that took effect and were not undone.")
    unknown: tuple[str, ...] = Field(default=(), description="Writes that may have taken effect.")
    undone: tuple[str, ...] = ()
    is_resumable: bool = False


class Response(Value):
    """The response that ends a session; the data of its one `response.ready`."""

    session_id: SessionId
    status: Status
    answer: str = Field(description="Markdown.")
    result: Any = Field(
        default=None,
        description="The answer in the shape that the query demanded; null where there is none that fits.",
        json_schema_extra=since(3),
    )
    result_sources: tuple[FieldSources, ...] = Field(default=(), json_schema_extra=since(3))
    run: RunOutcome | None = Field(
        default=None, description="Outcome of a workflow run.", json_schema_extra=since(5)
    )
    termination_reason: TerminationReason
    uncertainty: tuple[Uncertainty, ...] = ()
    sources: tuple[Source, ...] = ()
    rounds_used: int = Field(ge=0)
    tool_calls_used: int = Field(ge=0)
    usage: Usage = Usage()
    duration_ms: int = Field(ge=0)


RESPONSE_KIND: Kind[Response] = Kind("the answer", Response)


class Turn(Value):
    """An earlier question of a conversation, and its answer."""

    session_id: SessionId
    at: AwareDatetime
    question: str
    answer: str = Field(description="Markdown, cut where it is long.")
    status: Status
    has_untrusted: bool = Field(
        default=False, description="True if the session contained text from unknown authors."
    )
