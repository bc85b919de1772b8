"""Events that the coordinator sends itself by a timer."""

from typing import ClassVar

from pydantic import Field

from antiphon_shared.events.base import Component, EventData
from antiphon_shared.values import Round


class DeadlineReached(EventData):
    """The session's time is over; sent by a timer."""

    type: ClassVar[str] = "antiphon.deadline.reached.v1"
    inbox: ClassVar[Component | None] = "coordinator"


class AssemblyOverdue(EventData):
    """The assembler has not answered in time; sent by a timer."""

    type: ClassVar[str] = "antiphon.assembly.overdue.v1"
    inbox: ClassVar[Component | None] = "coordinator"


class PersonOverdue(EventData):
    """No person has decided or answered in time; sent by a timer."""

    type: ClassVar[str] = "antiphon.person.overdue.v1"
    inbox: ClassVar[Component | None] = "coordinator"

    round: Round


class ModelDue(EventData):
    """A model that was unavailable may be called again; sent by a timer."""

    type: ClassVar[str] = "antiphon.model.due.v1"
    inbox: ClassVar[Component | None] = "coordinator"

    round: Round
    wait: int = Field(default=1, ge=1, description="Number of the wait that is over, from 1.")
