"""Events that the runtime emits on behalf of any component."""

from typing import ClassVar
from uuid import UUID

from pydantic import Field

from antiphon_shared.events.base import Component, EventData
from antiphon_shared.process.errors import ErrorInfo


class ComponentFailed(EventData):
    """A message was set aside as a dead letter; the session must continue without its outcome."""

    type: ClassVar[str] = "antiphon.component.failed.v1"
    inbox: ClassVar[Component | None] = "coordinator"

    component: Component
    failed_event: UUID = Field(description="The id of the event that could not be handled.")
    error: ErrorInfo
