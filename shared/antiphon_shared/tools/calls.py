"""The types of the tool layer that are exchanged: calls, results, the catalogue entry of one tool."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any, Literal, TypeAlias

from pydantic import AwareDatetime, Field

from antiphon_shared.formats import FORMAT, since
from antiphon_shared.output.validation import Validation
from antiphon_shared.stored import Kind
from antiphon_shared.tools.contract import CONTRACT_KEYWORD, Contract, Effect
from antiphon_shared.values import Json, JsonSchema, LogEntry, ToolArguments, Value

REPEAT_CALL = "repeat_call"
"""The tool that repeats an earlier write on purpose; offered once there is one."""

ErrorType = Literal[
    "validation_error",
    "not_found",
    "permission_denied",
    "rate_limit",
    "api_failure",
    "timeout",
    "unknown_tool",
    "outcome_unknown",
    "dependency_failed",
    "cancelled",
    "circuit_open",
    "internal_error",
    "repeated_write",
]
"""`repeated_write` exists in sessions of format 2 and later."""


class ToolCall(Value):
    """One call as the model asked for it."""

    id: str = Field(min_length=1, max_length=200)
    name: str = Field(max_length=200)
    arguments: ToolArguments = {}
    problem: str | None = Field(
        default=None,
        description="Reason why the arguments are unusable, for example because they are not an object.",
    )


class RequestedCall(ToolCall):
    """One call as the coordinator sends it to the dispatcher."""

    idempotency_key: str | None = Field(
        default=None,
        description="Minted by the coordinator in sessions of format 1; in others the dispatcher mints it.",
    )
    refused: str | None = Field(
        default=None,
        description="Reason why the call is refused, for example because the session's call limit is "
        "reached.",
    )
    approval: LogEntry | None = Field(
        default=None, description="The approval.decided that allows it, where a person has to."
    )
    answer: LogEntry | None = Field(
        default=None, description="The question.answered that answers it, where it is a question to the user."
    )
    repeat_of: str | None = Field(
        default=None,
        json_schema_extra=since(2),
        description="Id of the earlier call that this one repeats on purpose.",
    )
    reason: str = Field(
        default="", json_schema_extra=since(2), description="Reason for the repetition, in the model's words."
    )


class ToolError(Value):
    """The error of a failed call, as a model receives it."""

    error_type: ErrorType
    message: str = Field(description="Description of the error.")
    suggested_action: str = Field(description="Next step, for the model.")
    example_valid_call: ToolArguments | None = None
    retry_after_s: float | None = None
    fields: dict[str, str] = Field(default={}, description="Error of each argument, by its path.")
    code: str = Field(
        default="",
        max_length=100,
        json_schema_extra=since(2),
        description="The code that the tool itself gave, such as NOT_FOUND; empty when it gave none.",
    )


ToolOutcome: TypeAlias = Json | ToolError
"""The outcome of one run of a tool."""


class Repeated(Value):
    """The earlier call whose result answers an identical write, which did not run again."""

    call_id: str
    round: int = Field(ge=1)
    at: AwareDatetime | None = Field(default=None, description="Time at which the first call settled.")

    def line(self, tool: str) -> str:
        """Return the note for the model, on one line."""
        when = f", {self.at:%H:%M:%S} UTC" if self.at else ""
        return (
            f"Nothing was done again: this is the result of the identical call {self.call_id} of {tool} "
            f"(round {self.round}{when}). To do it again on purpose, use "
            f'{REPEAT_CALL}(call_id="{self.call_id}", reason="...").'
        )


class ToolResult(Value):
    """The one envelope of every outcome: `data` when ok, `error` when not."""

    index: int = Field(ge=0, description="The place of the call in its batch.")
    call_id: str
    tool: str
    status: Literal["ok", "error"]
    data: Any = Field(default=None, description="JSON: text, or a structure.")
    error: ToolError | None = None
    substitute: str = Field(default="", description="The alternative that was run in the tool's place.")
    substitute_because: str = Field(
        default="", description="Reason for the substitution, for the model and the reader."
    )
    handle: str = Field(
        default="", description="Handle of the whole result, when `data` is only its beginning."
    )
    duration_ms: int = Field(default=0, ge=0)
    cached: bool = Field(
        default=False,
        json_schema_extra=since(2),
        description="True if the result of an earlier read was reused.",
    )
    cached_at: AwareDatetime | None = Field(
        default=None, json_schema_extra=since(2), description="Time of that read."
    )
    repeated: Repeated | None = Field(
        default=None,
        json_schema_extra=since(2),
        description="For a write that was not run: the identical earlier write.",
    )
    validation: Validation | None = Field(
        default=None, json_schema_extra=since(3), description="For a tool that validates: its verdict."
    )
    settles: str = Field(
        default="",
        json_schema_extra=since(2),
        description="For a write that ran: the identical call whose outcome was unknown until then.",
    )


class Summary(Value):
    """The number of successful and failed calls of a batch."""

    ok: int = Field(ge=0)
    error: int = Field(ge=0)

    @classmethod
    def of(cls, results: Iterable[ToolResult]) -> "Summary":
        statuses = [result.status for result in results]
        return cls(ok=statuses.count("ok"), error=statuses.count("error"))


Approval = Literal["never", "always", "after_untrusted"]
"""When a person has to approve a call; `after_untrusted`: once untrusted content is in the session."""


class ToolDefinition(Value):
    """One tool as the catalogue publishes it and the model sees it."""

    name: str = Field(pattern=r"^[a-zA-Z0-9_-]{1,64}$")
    description: str
    input_schema: JsonSchema = Field(
        description="JSON Schema of an object; the contract under x-orchestration."
    )
    effect: Effect
    approval: Approval = Field(default="never", description="The operator's rule.")
    workflow: str = Field(
        default="",
        description="Hash of the specification of the workflow that it is; empty: a tool of the dispatchers.",
        json_schema_extra=since(5),
    )

    @cached_property
    def contract(self) -> Contract:
        """Return the contract of its calls. Raises ValidationError where `x-orchestration` is not a contract."""
        return Contract.of_schema(self.input_schema, self.effect)

    def in_format(self, format: int) -> "ToolDefinition":
        """Return the definition without the parts of its contract that are newer than `format`."""
        if format >= FORMAT:
            return self
        contract = self.contract.keyword_in(format, self.input_schema[CONTRACT_KEYWORD])
        return self.model_copy(update={"input_schema": {**self.input_schema, CONTRACT_KEYWORD: contract}})


class Catalogue(Value):
    """All tools of a set of dispatchers, in a stable order; stored under the hash of its content."""

    tools: tuple[ToolDefinition, ...] = ()
    default_scopes: tuple[str, ...] = Field(
        default=("read",), description="Scopes of a session without a grant."
    )

    @cached_property
    def by_name(self) -> dict[str, ToolDefinition]:
        return {tool.name: tool for tool in self.tools}

    def in_format(self, format: int) -> "Catalogue":
        """Return the catalogue with contracts as a release of `format` reads them."""
        if format >= FORMAT:
            return self
        return self.model_copy(update={"tools": tuple(tool.in_format(format) for tool in self.tools)})


CATALOGUE: Kind[Catalogue] = Kind("the tool catalogue", Catalogue)
