"""Tools that answer from a recording, behind today's dispatcher."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
from antiphon_shared.bus.handling import Delivery, Handler
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import AnyEvent, ToolsCompleted, ToolsRequested
from antiphon_shared.process.ids import new_id
from antiphon_shared.tools.calls import RequestedCall

from antiphon.embedded import EmbeddedPipeline
from antiphon.recording.lines import Line
from antiphon.replay.serving.components import part_of
from antiphon.replay.serving.exchanges import Miss
from antiphon.replay.serving.recording_index import RecordingIndex


@dataclass
class Batch:
    """The first batch of a recording, and a dispatcher of its rerun."""

    bus: Bus
    handler: Handler
    event: AnyEvent
    request: ToolsRequested
    then: ToolsCompleted
    misses: list[Miss]

    def again(self, *calls: RequestedCall) -> AnyEvent:
        """Return another batch, of other calls."""
        data = self.request.model_copy(update={"calls": calls, "round": 9})
        return self.event.model_copy(update={"id": new_id(), "data": data})

    async def answers(self, event: AnyEvent) -> ToolsCompleted:
        session = self.bus.session(event.subject)
        (completed,) = (await self.handler(Delivery(event, "1-1"), session)).events
        assert isinstance(completed, ToolsCompleted)
        return completed.model_copy(update={"duration_ms": self.then.duration_ms})


@pytest.fixture
async def batch(courses_lines: list[Line]) -> AsyncIterator[Batch]:
    recording_index = RecordingIndex(courses_lines)
    line, request = next(iter(recording_index.all_of(ToolsRequested)))
    then = recording_index.output(line.event.id, ToolsCompleted)
    assert then is not None
    pipeline = EmbeddedPipeline([], "offline")
    bus = await pipeline.start()
    misses: list[Miss] = []
    try:
        service = part_of("tool_dispatcher", bus, {recording_index.session_id: recording_index}, misses)
        for n in range(line.n):  # its turn has come
            await bus.batcher.submit(
                "XADD", bus.keys.log(recording_index.session_id), f"1-{n + 1}", "event", ""
            )
        yield Batch(bus, service.handlers[ToolsRequested], line.event, request, then, misses)
    finally:
        await pipeline.stop()


async def test_a_batch_gets_its_recorded_results_also_on_redelivery(batch: Batch) -> None:
    assert await batch.answers(batch.event) == batch.then
    assert await batch.answers(batch.event) == batch.then
    assert not batch.misses


async def test_a_call_is_found_by_its_content_in_any_position(batch: Batch) -> None:
    call = batch.request.calls[0]
    stranger = call.model_copy(update={"id": "other", "name": "another_tool"})
    renamed = call.model_copy(
        update={"id": "new", "arguments": dict(reversed(call.arguments.items())), "idempotency_key": "new"}
    )
    completed = await batch.answers(batch.again(stranger, renamed))
    assert completed.results[0].error is not None
    assert completed.results[0].error.error_type == "unknown_tool"
    assert completed.results[1].data == batch.then.results[0].data
    assert (completed.results[1].index, completed.results[1].call_id) == (1, "new")


async def test_a_call_that_was_not_recorded_is_refused_and_reported(batch: Batch) -> None:
    other = batch.request.calls[0].model_copy(update={"arguments": {"query": "something else"}})
    (result,) = (await batch.answers(batch.again(other))).results
    assert result.status == "error"
    assert result.error is not None
    assert "holds no such call" in result.error.message
    (miss,) = batch.misses
    assert miss.session_id == batch.event.subject
    assert "something else" in miss.request
