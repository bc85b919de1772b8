"""Events of the coordinator about people: a session waits for an approval or an answer."""

from typing import Any, ClassVar

from pydantic import AwareDatetime, Field

from antiphon_shared.events.base import EventData
from antiphon_shared.values import Round, Value


class CallToApprove(Value):
    """One call a person has to decide on."""

    id: str
    tool: str
    arguments: dict[str, Any]
    because: str = Field(description="The rule that requires approval, for the person.")


class ApprovalRequested(EventData):
    """The session waits for a person, until its deadline."""

    type: ClassVar[str] = "antiphon.approval.requested.v1"

    round: Round
    calls: tuple[CallToApprove, ...] = Field(min_length=1)
    until: AwareDatetime | None = Field(
        default=None, description="Time at which the session continues without a reply."
    )


class Question(Value):
    """One question of the model to the user."""

    id: str = Field(description="Id of the call of `ask_user`.")
    question: str
    choices: tuple[str, ...] = Field(default=(), description="Answers it suggests; any other will do too.")


class QuestionAsked(EventData):
    """The session waits for its user."""

    type: ClassVar[str] = "antiphon.question.asked.v1"

    round: Round
    questions: tuple[Question, ...] = Field(min_length=1)
    until: AwareDatetime | None = Field(
        default=None, description="Time at which the session continues without a reply."
    )
