"""The number of events before the first node of a run is with a dispatcher, counted in the sessions' logs.

An event names the one that it came of. So the hops are the events from the first tools.requested back to what began
the run: the query itself, or the reply of a model that calls the workflow as a tool.
"""

import asyncio
from collections.abc import AsyncIterator

from anthropic.types import Message, TextBlock, ToolUseBlock, Usage
from antiphon_shared.bus.workflow_store import WorkflowStore
from antiphon_shared.events import AnyEvent, ChildBegun, ReasoningCompleted, ToolsRequested

from antiphon import Antiphon, TextDelta, workflows
from benchmarks.runs import graphs
from reasoning_engine.port import OnHeaders, OnText
from reasoning_engine.prompt import Prompt

Row = tuple[str, str, str, str]

_TOOL = "w_measured"
_LIMIT_S = 60.0


class _Calls:
    """A model that calls the workflow, and answers once it has its result."""

    def __init__(self) -> None:
        self._has_called = False

    async def reply(self, prompt: Prompt, on_text: OnText, on_headers: OnHeaders) -> Message:
        content: list[TextBlock | ToolUseBlock] = [TextBlock(type="text", text="It is measured.")]
        is_last, self._has_called = self._has_called, True
        if not is_last:
            content.append(ToolUseBlock(type="tool_use", id="toolu_1", name=_TOOL, input={}))
        return Message(
            id="msg_stub",
            type="message",
            role="assistant",
            model="stub",
            content=content,
            stop_reason="end_turn" if is_last else "tool_use",
            stop_sequence=None,
            usage=Usage(input_tokens=100, output_tokens=50),
        )


def measure() -> list[Row]:
    """Return a row for a run that a client starts, and one for a run that a model begins by calling it."""
    return asyncio.run(_measure())


async def _measure() -> list[Row]:
    specification = graphs.specification_of(graphs.chain(3))
    async with Antiphon.embedded(tools=["benchmarks.runs.tools"], model=_Calls()) as antiphon:
        run = await workflows.start(antiphon, "measured", source=specification)
        started = _hops([event async for event in _log(antiphon, run)])
        await WorkflowStore(antiphon.open_bus()).publish([specification])
        session = await antiphon.submit("Have it measured.", tools=[_TOOL])
        of_session = [event async for event in _log(antiphon, session)]
        begun = next(event.data for event in of_session if isinstance(event.data, ChildBegun))
        called = _hops([*of_session, *[event async for event in _log(antiphon, begun.child)]])
    return [
        ("from workflows.start to its first node", f"{started + 1} hops", "the intake is the first", "<= 3"),
        (f"from a call of {_TOOL} to its first node", f"{called} hops", "the reply is the first", "<= 3"),
    ]


async def _log(antiphon: Antiphon, session_id: str) -> AsyncIterator[AnyEvent]:
    async with asyncio.timeout(_LIMIT_S):
        async for event in antiphon.stream(session_id):
            if not isinstance(event, TextDelta):
                yield event


def _hops(events: list[AnyEvent]) -> int:
    """Return how many events led to the first call of a node, itself and the model's reply included."""
    by_id = {event.id: event for event in events}
    event: AnyEvent | None = next(
        event for event in events if isinstance(event.data, ToolsRequested) and event.data.node
    )
    hops = 0
    while event is not None:
        hops += 1
        is_reply = isinstance(event.data, ReasoningCompleted)
        event = None if is_reply or event.causationid is None else by_id.get(event.causationid)
    return hops
