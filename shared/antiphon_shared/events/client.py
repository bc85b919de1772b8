"""Events of clients."""

from typing import Annotated, Any, ClassVar

from pydantic import Field

from antiphon_shared.events.base import Component, EventData
from antiphon_shared.events.session import QueryOptions
from antiphon_shared.formats import since
from antiphon_shared.output.steps import StepsName
from antiphon_shared.values import Round, SessionId, Value

QUERY_LENGTH_MAX = 100_000
"""The maximum of characters in a query."""
GRANT_LENGTH_MAX = 8_192
ANSWER_LENGTH_MAX = 20_000
"""The maximum of characters in an answer to a question."""

CallIds = Annotated[tuple[Annotated[str, Field(max_length=200)], ...], Field(max_length=1_000)]


class Parent(Value):
    """The session that has begun another, and waits for its end."""

    session: SessionId
    round: Round = Field(description="Round of a session, or request number of a run.")
    call_id: str = Field(default="", max_length=200, description="The call that it is the result of.")
    is_interactive: bool = Field(default=False, description="True if the parent's user can answer questions.")


class QuerySubmitted(EventData):
    """A question of a client; it opens the session named by the event's subject."""

    type: ClassVar[str] = "antiphon.query.submitted.v1"
    inbox: ClassVar[Component | None] = "coordinator"

    query: str = Field(min_length=1, max_length=QUERY_LENGTH_MAX, pattern=r"\S")
    options: QueryOptions = QueryOptions()
    steps_name: StepsName | None = Field(
        default=None,
        description="By which name the client gave the steps in `options`, where they are published ones.",
        json_schema_extra=since(4),
    )
    parent: Parent | None = Field(
        default=None, description="Only of sessions that another has begun.", json_schema_extra=since(5)
    )
    grant: str = Field(
        default="",
        max_length=GRANT_LENGTH_MAX,
        description="Permissions of the session, as a signed JSON Web Token; empty: the default scopes.",
    )


class CancellationRequested(EventData):
    """A request to end the session now, with what was found."""

    type: ClassVar[str] = "antiphon.cancellation.requested.v1"
    inbox: ClassVar[Component | None] = "coordinator"

    reason: str = Field(default="", max_length=1000)


class ApprovalDecided(EventData):
    """A person's decision on calls that wait for approval."""

    type: ClassVar[str] = "antiphon.approval.decided.v1"
    inbox: ClassVar[Component | None] = "coordinator"

    round: Round
    is_approved: bool
    calls: CallIds = Field(default=(), description="Ids of the calls; all that wait when empty.")
    by: str = Field(default="", max_length=200, description="Name of the person who decided.")
    reason: str = Field(default="", max_length=1000)


class InputGiven(EventData):
    """The values that a run waits for, given by a person."""

    type: ClassVar[str] = "antiphon.input.given.v1"
    inbox: ClassVar[Component | None] = "coordinator"

    round: Round = Field(description="The number of the request that it answers.")
    values: dict[str, Any]
    by: str = Field(default="", max_length=200, description="Name of the person who gives the values.")


class OutcomeSettled(EventData):
    """A person's finding whether a write of a run took effect."""

    type: ClassVar[str] = "antiphon.outcome.settled.v1"
    inbox: ClassVar[Component | None] = "coordinator"

    node: str = Field(min_length=1, max_length=2_000, description="The path of its node.")
    happened: bool
    result: Any = Field(default=None, description="Result of the call, if it took effect.")
    by: str = Field(default="", max_length=200, description="Name of the person who checked the outcome.")
    reason: str = Field(default="", max_length=1000)


class ResumeRequested(EventData):
    """A request to resume a run that has ended: finished nodes stay finished, the others run."""

    type: ClassVar[str] = "antiphon.resume.requested.v1"
    inbox: ClassVar[Component | None] = "coordinator"

    by: str = Field(default="", max_length=200)
    reason: str = Field(default="", max_length=1000)


class QuestionAnswered(EventData):
    """The user's answer to a question of the model."""

    type: ClassVar[str] = "antiphon.question.answered.v1"
    inbox: ClassVar[Component | None] = "coordinator"

    round: Round
    answer: str = Field(min_length=1, max_length=ANSWER_LENGTH_MAX, pattern=r"\S")
    calls: CallIds = Field(default=(), description="Ids of the questions; all that wait when empty.")
    by: str = Field(default="", max_length=200, description="Name of the person who answered.")
