"""The envelope of every message: CloudEvents 1.0, with typed, frozen data."""

from typing import Annotated, ClassVar, Generic, Literal, TypeVar, get_args
from uuid import UUID

from pydantic import AwareDatetime, Field, StringConstraints

from antiphon_shared.formats import since
from antiphon_shared.values import SessionId, Value

Component = Literal[
    "coordinator",
    "reasoning_engine",
    "tool_dispatcher",
    "context_synthesizer",
    "response_assembler",
]
COMPONENTS: tuple[Component, ...] = get_args(Component)

TraceParent = Annotated[
    str, StringConstraints(pattern=r"^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$")
]


class EventData(Value):
    """The data of an event. A subclass names its type and its inbox, if it has one."""

    type: ClassVar[str]
    """The CloudEvents type: `antiphon.<subject>.<what happened>.v<version>`."""

    inbox: ClassVar[Component | None] = None
    """The component whose inbox receives the event; None for events that only the session's log holds."""


def emitter_of(data: type[EventData]) -> str:
    """Return the emitter of an event type: its module's name begins with it, as in `coordinator_runs`."""
    module = data.__module__.rpartition(".")[2]
    return next((one for one in COMPONENTS if module.startswith(one)), module)


def short_type(type: str) -> str:
    """Return the short name of a type: `reasoning.completed` of `antiphon.reasoning.completed.v1`."""
    return type.removeprefix("antiphon.").rpartition(".")[0]


DataT = TypeVar("DataT", bound=EventData, covariant=True)


class Event(Value, Generic[DataT]):
    """One typed message. `subject` is the session's id.

    `id` is derived from the parent's; `correlationid` is the id of the `query.submitted` with which the
    session, or the first of its parents, began; `causationid` is the id of the event that caused this one.
    """

    specversion: Literal["1.0"] = "1.0"
    id: UUID
    source: str = Field(min_length=1, max_length=200)
    type: str
    subject: SessionId
    time: AwareDatetime
    datacontenttype: Literal["application/json"] = "application/json"
    correlationid: UUID
    causationid: UUID | None = None
    traceparent: TraceParent | None = None
    format: int = Field(
        default=1,
        ge=1,
        description="Format of the session, which every process that handles it can read.",
        json_schema_extra=since(2),
    )
    data: DataT


AnyEvent = Event[EventData]
