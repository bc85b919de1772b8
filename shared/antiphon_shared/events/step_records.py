"""Step records: the data that a replay of a step needs in addition to the events, and the step's other decisions.

A component returns its record with its outcome, and the commit appends it to the session's list of records.
So the events are the messages, the records show how they came about, and both together are the session's
recording.

    decision    coordinator            the change of its document, the timers, and the events for other sessions
    run         coordinator            the same, with a digest of the change in the state of the run
    briefing    context_synthesizer    the settings of the briefing, and a digest of what was filed
    exchange    reasoning_engine       every call to the model, request and reply as sent
    batch       tool_dispatcher        the plan, and the order of its execution
    assembly    response_assembler     the data it read besides the session's log and memory
    left_out    any of them            a record was too large to be stored
    fork        antiphon replay fork   the changes made where a recorded session was resumed
"""

from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Annotated, Any, Literal, TypeVar
from uuid import UUID

from pydantic import AwareDatetime, Field

from antiphon_shared.events.base import Component
from antiphon_shared.events.tool_dispatcher import ToolsCompleted
from antiphon_shared.formats import FORMAT, as_json, since
from antiphon_shared.process.errors import ErrorInfo
from antiphon_shared.stored import Kind
from antiphon_shared.tools.calls import ToolError, ToolResult
from antiphon_shared.values import SessionId, Value

Json = dict[str, Any]
CallIndex = int
"""The index of a call in its batch, from 0."""


class StepRecord(Value):
    """One step: the handling of one event by a component."""

    of: UUID = Field(description="Id of the event that was handled.")
    outputs: int = Field(
        default=0, ge=0, description="Number of events that the step emitted, filled in by the commit."
    )


class TimerRecord(Value):
    """A timer that a decision has set or cancelled."""

    name: str
    due: AwareDatetime | None = Field(default=None, description="The moment, where one was named.")
    after_s: float | None = Field(default=None, description="The time from the commit on, where that was.")
    type: str = Field(default="", description="The event it delivers; empty when it was taken back.")
    data: Json = Field(default_factory=dict)

    def due_from(self, commit: datetime) -> datetime | None:
        """Return when the timer is due if it was set at `commit`; None if it was cancelled."""
        return self.due if self.after_s is None else commit + timedelta(seconds=self.after_s)


class SendRecord(Value):
    """An event that a decision has sent to another session: one that it begins, has begun, or was begun by."""

    session: SessionId
    type: str
    opens: bool = Field(default=False, description="True if the event opens the session.")
    data: Json = Field(
        default_factory=dict,
        description="Its fields, but for those at their defaults, and a response: that is the one of the step.",
    )


class MaterialRead(Value):
    """The data read for an answer besides log and memory."""

    filings: int | None = Field(
        default=None,
        description="Number of filings in memory at that time; another may arrive "
        "while the answer is composed.",
    )
    batch: ToolsCompleted | None = Field(
        default=None, description="Results from the journal of an unfinished batch."
    )
    missing: tuple[str, ...] = Field(default=(), description="Parts of the session that could not be read.")


class DecisionRecord(StepRecord):
    """The coordinator's decision, apart from the events it sent."""

    kind: Literal["decision"] = "decision"
    changed: Json = Field(description="The fields of its document that have changed, as they are now.")
    document_version: int = Field(
        default=1, ge=1, description="Version of the session document with these fields; present if above 1."
    )
    timers: tuple[TimerRecord, ...] = ()
    sends: tuple[SendRecord, ...] = Field(default=(), json_schema_extra=since(5))
    closes: bool = False
    stops_work: bool = False
    read: MaterialRead | None = Field(
        default=None,
        description="For an answer that the coordinator gave by itself.",
        json_schema_extra=since(2),
    )


class RunRecord(StepRecord):
    """The coordinator's decision about a run, apart from the events it sent."""

    kind: Literal["run"] = "run"
    changed: str = Field(description="Digest of what has changed in the run's state.")
    timers: tuple[TimerRecord, ...] = ()
    sends: tuple[SendRecord, ...] = Field(default=(), json_schema_extra=since(5))

    @staticmethod
    def digest(content: bytes) -> str:
        """Return the digest of a change as it is stored."""
        return blake2b(content, digest_size=8).hexdigest()


class BriefingRecord(StepRecord):
    """The settings of a briefing, and a digest of the facts filed before it."""

    kind: Literal["briefing"] = "briefing"
    briefing_tokens: int = Field(description="The setting, in estimated tokens.")
    memory_bytes_max: int = Field(description="The setting.")
    filed: str | None = Field(
        default=None,
        json_schema_extra=since(3),
        description="Digest of what was added to the session's memory; empty when nothing was.",
    )


class ModelError(Value):
    """A call to the model without a complete reply."""

    failure: ErrorInfo = Field(description="Classified error.")
    retry_after_s: float | None = None
    status: int | None = Field(default=None, description="Status of the HTTP response, if there was one.")
    headers: dict[str, str] = Field(
        default_factory=dict, description="Permitted headers of the HTTP response."
    )
    body: Any = Field(default=None, description="Body of the HTTP response: JSON, or text.")
    partial: Json | None = Field(default=None, description="The message as far as it had come.")


class ModelCall(Value):
    """One call to the model. If it has neither reply nor error, it timed out, or its step was dropped first."""

    request: Json = Field(
        description='Parameters of the Messages API. A large part may stand as {"$content": hash}: see `contents`.'
    )
    reply: Json | None = Field(default=None, description="The whole message.")
    error: ModelError | None = None
    headers: dict[str, str] = Field(
        default_factory=dict, description="Permitted headers of the HTTP response."
    )
    duration_ms: int = Field(default=0, ge=0)


class ExchangeRecord(StepRecord):
    """The calls to a model for one request, in order."""

    kind: Literal["exchange"] = "exchange"
    calls: tuple[ModelCall, ...] = ()
    contents: tuple[str, ...] = Field(default=(), description="Hashes of the shared contents they name.")
    is_offline: bool = False
    max_output_tokens: int
    default_model: str = Field(description="Model that was called if the request names none.")
    has_own_prompt: bool = Field(
        default=False, description="True if the operator replaced the built-in system prompt."
    )
    output_style: Literal["auto", "native", "tool"] = Field(
        default="auto",
        description="Method for structured answers: the setting, or `tool` for a schema that was "
        "refused before.",
        json_schema_extra=since(3),
    )
    tool_style: Literal["native", "prompted"] = Field(
        default="native",
        description="Method for tool calls: the setting; the offline model has its own method.",
        json_schema_extra=since(4),
    )
    prices: dict[str, float] = Field(
        default_factory=dict, description="US dollars per million tokens, by setting."
    )


class BatchRecord(StepRecord):
    """A batch as it was planned and run by the worker that finished it."""

    kind: Literal["batch"] = "batch"
    batch_concurrency: int
    collapse_above: int
    settled: dict[CallIndex, ToolResult] = Field(
        default_factory=dict, description="Results that were already in the journal."
    )
    begun: tuple[CallIndex, ...] = Field(default=(), description="Begun by another worker, outcome unknown.")
    repeats: tuple[CallIndex, ...] = Field(
        default=(),
        json_schema_extra=since(2),
        description="Writes that an earlier call of the session, or of the batch, had made.",
    )
    refused: dict[CallIndex, ToolError] = Field(
        default_factory=dict, description="Errors of calls that were refused."
    )
    barred: tuple[str, ...] = Field(default=(), description="Tools that nothing was collapsed onto.")
    examples: dict[str, Any] = Field(
        default_factory=dict, description="Valid arguments, of tools whose calls failed."
    )
    filled: dict[CallIndex, str] = Field(
        default_factory=dict,
        json_schema_extra=since(4),
        description="Digests of the arguments of calls whose placeholders were filled in; none of a tool with secrets.",
    )
    units: tuple[tuple[str, tuple[CallIndex, ...]], ...] = Field(
        default=(), description="The plan: what runs at once, as tool and calls."
    )
    begins: tuple[tuple[int, ...], ...] = Field(
        default=(), description="The units begun at the start, and then after each of `ends`."
    )
    ends: tuple[tuple[int, ...], ...] = Field(default=(), description="The units that ended, in order.")


class AssemblyRecord(MaterialRead, StepRecord):
    """The data that the assembler read besides log and memory."""

    kind: Literal["assembly"] = "assembly"
    waited_ms: int = Field(
        default=0,
        ge=0,
        description="Waiting time of the request, if longer than a second.",
        json_schema_extra=since(2),
    )


class LeftOut(StepRecord):
    """A record that was too large to be stored, or that a crash of Redis has made unreadable."""

    kind: Literal["left_out"] = "left_out"
    component: Component
    bytes: int


class Redelivered(Value):
    """An event that was in flight where a fork begins, as it was redelivered there."""

    event: UUID
    time: AwareDatetime = Field(description="Its own, moved to when the fork began.")
    changed: Json = Field(
        default_factory=dict, description="The fields of its data that are not as they were sent."
    )


class ForkRecord(StepRecord):
    """The changes of a fork in its session. `of` is the last event taken over from the parent."""

    kind: Literal["fork"] = "fork"
    changed: Json = Field(
        description="The fields of the coordinator's document that are different, as they are now."
    )
    document_version: int = Field(
        default=1, ge=1, description="Version of the session document with these fields; present if above 1."
    )
    redelivered: tuple[Redelivered, ...] = ()


AnyRecord = Annotated[
    DecisionRecord
    | RunRecord
    | BriefingRecord
    | ExchangeRecord
    | BatchRecord
    | AssemblyRecord
    | LeftOut
    | ForkRecord,
    Field(discriminator="kind"),
]
RecordT = TypeVar("RecordT", bound=StepRecord)

_RECORD: Kind[AnyRecord] = Kind("a step record", AnyRecord)


def encode_record(record: StepRecord, outputs: int, format: int = FORMAT) -> bytes:
    """Return the record as JSON: its kind, the number of the step's events, and the fields without default values."""
    kind: str = record.kind  # type: ignore[attr-defined]  # every record but the base has one
    fields = as_json(record, format, exclude={"outputs"}, exclude_defaults=True)
    return _RECORD.versioned(b'{"kind":"%s","outputs":%d,' % (kind.encode(), outputs) + fields[1:])


def decode_record(raw: bytes) -> AnyRecord:
    """Return the record in `raw`. Raises UnreadableEvent."""
    return _RECORD.read(raw)
