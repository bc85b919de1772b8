"""What the response assembler says."""

from typing import ClassVar

from shared.events.base import Component, EventData
from shared.session import Response


class ResponseReady(Response, EventData):
    """The session's one answer."""

    type: ClassVar[str] = "antiphon.response.ready.v1"
    inbox: ClassVar[Component | None] = "coordinator"
