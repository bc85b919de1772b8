"""The tool that validates an event before it counts as an answer."""

import re
from typing import Annotated, Any

from pydantic import BaseModel, Field

from antiphon import tool

TYPE = r"^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$"
_KNOWN = ("type", "data")


class Problem(BaseModel):
    """An error in a part of an event."""

    property: str
    message: str


class Verdict(BaseModel):
    """Whether an event can be sent."""

    valid: bool
    errors: list[Problem]


@tool(effect="read", validates="event", example={"event": {"type": "order.shipped", "data": {"order": 1024}}})
def check_event(
    event: Annotated[dict[str, Any], Field(description="The event as it would be sent: its type and data.")],
) -> Verdict:
    """Check whether an event can be sent as it is."""
    kind, data = event.get("type"), event.get("data")
    errors = [
        Problem(property=name, message="There is no such part of an event")
        for name in event
        if name not in _KNOWN
    ]
    if not isinstance(kind, str) or not re.fullmatch(TYPE, kind):
        errors.append(Problem(property="type", message="Write words in lower case with dots between them"))
    if not isinstance(data, dict):
        errors.append(Problem(property="data", message="An object is needed"))
    return Verdict(valid=not errors, errors=errors)
