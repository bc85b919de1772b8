"""What clients say."""

from typing import ClassVar

from pydantic import Field

from shared.events.base import Component, EventData
from shared.session import QueryOptions

QUERY_LENGTH_MAX = 100_000
"""Characters of a query at most."""


class QuerySubmitted(EventData):
    """A question enters the system; it opens the session named by the event's subject."""

    type: ClassVar[str] = "antiphon.query.submitted.v1"
    inbox: ClassVar[Component | None] = "coordinator"

    query: str = Field(min_length=1, max_length=QUERY_LENGTH_MAX, pattern=r"\S")
    options: QueryOptions = QueryOptions()


class CancellationRequested(EventData):
    """Somebody wants the session to end now, with what was found."""

    type: ClassVar[str] = "antiphon.cancellation.requested.v1"
    inbox: ClassVar[Component | None] = "coordinator"

    reason: str = Field(default="", max_length=1000)
