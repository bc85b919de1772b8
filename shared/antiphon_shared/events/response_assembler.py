"""Events of the response assembler."""

from typing import ClassVar

from antiphon_shared.events.base import Component, EventData
from antiphon_shared.events.session import Response


class ResponseReady(Response, EventData):
    """The session's one answer."""

    type: ClassVar[str] = "antiphon.response.ready.v1"
    inbox: ClassVar[Component | None] = "coordinator"
