"""The next step of a session: its answer, or a call of a model or of tools. Pure."""

from collections.abc import Sequence
from typing import Literal

from antiphon_shared.events import EventData, ReasoningRequested, ToolsRequested
from antiphon_shared.events.session import Response
from antiphon_shared.values import Value

from antiphon.recording.lines import EventLine, Line


class Next(Value):
    """The next step of a session: its answer, or a call of a model or of tools."""

    kind: Literal["answered", "asks_model", "calls_tools", "waits"]
    event: int
    """The number of the recorded event that leads to it, or that of a recorded answer."""
    round: int = 0
    """The round; for an answer, the number of rounds used."""
    status: str = ""
    reason: str = ""
    """The reason for the end of the session."""
    tools: tuple[str, ...] = ()
    """The tools called, or offered to the model."""


def recorded_next(lines: Sequence[Line], event: int) -> Next | None:
    """Return the recorded next step after the event with that number."""
    following = (one for one in lines if isinstance(one, EventLine) and one.n > event)
    return next((step for one in following if (step := next_step(event, one.event.data))), None)


def recorded_end(lines: Sequence[Line]) -> Next | None:
    """Return the recorded end of the session; None if it had not ended."""
    events = (one for one in lines if isinstance(one, EventLine))
    return next(
        (next_step(one.n, one.event.data) for one in events if isinstance(one.event.data, Response)), None
    )


def next_step(event: int, data: EventData | Response | None) -> Next | None:
    """Return the end of a session, or the requested call of a model or of tools; None for another event."""
    match data:
        case Response():
            return Next(
                kind="answered",
                event=event,
                round=data.rounds_used,
                status=data.status,
                reason=data.termination_reason,
            )
        case ReasoningRequested():
            return Next(kind="asks_model", event=event, round=data.round, tools=data.tools)
        case ToolsRequested():
            tools = tuple(call.name for call in data.calls)
            return Next(kind="calls_tools", event=event, round=data.round, tools=tools)
        case _:
            return None
