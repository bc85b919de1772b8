"""What comes next in a session: its answer, or what a model or tools are asked. Pure."""

from collections.abc import Sequence
from typing import Literal

from antiphon_shared.events import EventData, ReasoningRequested, ResponseReady, ToolsRequested
from antiphon_shared.events.session import Response
from antiphon_shared.values import Value

from antiphon.recording.lines import EventLine, Line


class Next(Value):
    """What comes next in a session: its answer, or what a model or tools are asked."""

    kind: Literal["answered", "asks_model", "calls_tools", "waits"]
    event: int
    """Number of the recorded event that it follows from; of the answer itself where it was recorded."""
    round: int = 0
    """Of an answer: the rounds used."""
    status: str = ""
    reason: str = ""
    """Why it ended."""
    tools: tuple[str, ...] = ()
    """The tools called, or offered to the model."""


def recorded_next(lines: Sequence[Line], event: int) -> Next | None:
    """Return what came next in the recording behind the event of that number."""
    behind = (one for one in lines if isinstance(one, EventLine) and one.n > event)
    return next((found for one in behind if (found := _next(event, one.event.data))), None)


def recorded_end(lines: Sequence[Line]) -> Next | None:
    """Return how the recorded session ended; None when it went on."""
    events = [one for one in lines if isinstance(one, EventLine)]
    return next(
        (answered(one.n, one.event.data) for one in events if isinstance(one.event.data, ResponseReady)),
        None,
    )


def _next(event: int, data: EventData) -> Next | None:
    return answered(event, data) if isinstance(data, ResponseReady) else asked(event, data)


def answered(event: int, response: Response) -> Next:
    """Return the end of a session."""
    return Next(
        kind="answered",
        event=event,
        round=response.rounds_used,
        status=response.status,
        reason=response.termination_reason,
    )


def asked(event: int, data: EventData | None) -> Next | None:
    """Return what a model or tools are asked; None where the event asks neither."""
    match data:
        case ReasoningRequested():
            return Next(kind="asks_model", event=event, round=data.round, tools=data.tools)
        case ToolsRequested():
            tools = tuple(call.name for call in data.calls)
            return Next(kind="calls_tools", event=event, round=data.round, tools=tools)
        case _:
            return None
