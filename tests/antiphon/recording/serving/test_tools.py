"""The recorded dispatcher."""

from dataclasses import dataclass

import pytest

from antiphon.recording.lines import Line
from antiphon.recording.serving.score import Score
from antiphon.recording.serving.tools import RecordedDispatcher
from shared.bus.handling import Delivery, SessionStore
from shared.events import AnyEvent, ToolsCompleted, ToolsRequested
from shared.ids import new_id
from shared.tools import RequestedCall


@dataclass
class Batch:
    """The first batch of a recording."""

    score: Score
    event: AnyEvent
    request: ToolsRequested
    then: ToolsCompleted

    def again(self, *calls: RequestedCall) -> AnyEvent:
        """Another batch of other calls."""
        data = self.request.model_copy(update={"calls": calls})
        return self.event.model_copy(update={"id": new_id(), "data": data})


@pytest.fixture
def batch(courses_lines: list[Line]) -> Batch:
    score = Score(courses_lines)
    line, request = next(iter(score.all_of(ToolsRequested)))
    then = score.output(line.event.id, ToolsCompleted)
    assert then is not None
    return Batch(score, line.event, request, then)


async def answers(dispatcher: RecordedDispatcher, event: AnyEvent) -> ToolsCompleted:
    no_session: SessionStore = None  # type: ignore[assignment]  # it needs none
    (completed,) = (await dispatcher.on_tools_requested(Delivery(event, "1-1"), no_session)).events
    assert isinstance(completed, ToolsCompleted)
    return completed


async def test_a_batch_gets_what_it_got_then_also_when_it_is_delivered_again(batch: Batch) -> None:
    dispatcher = RecordedDispatcher(batch.score)
    assert await answers(dispatcher, batch.event) == batch.then
    assert await answers(dispatcher, batch.event) == batch.then
    assert not dispatcher.misses


async def test_a_call_is_found_by_what_it_says_wherever_it_stands(batch: Batch) -> None:
    dispatcher, call = RecordedDispatcher(batch.score), batch.request.calls[0]
    stranger = call.model_copy(update={"id": "other", "name": "another_tool"})
    renamed = call.model_copy(
        update={"id": "new", "arguments": dict(reversed(call.arguments.items())), "idempotency_key": "new"}
    )
    completed = await answers(dispatcher, batch.again(stranger, renamed))
    assert completed.results[1].data == batch.then.results[0].data
    assert (completed.results[1].index, completed.results[1].call_id) == (1, "new")


async def test_what_was_not_recorded_is_refused_and_told(batch: Batch) -> None:
    dispatcher, call = RecordedDispatcher(batch.score), batch.request.calls[0]
    other = call.model_copy(update={"arguments": {"query": "something else"}})
    (result,) = (await answers(dispatcher, batch.again(other))).results
    assert result.status == "error"
    assert result.error is not None
    assert "holds no such call" in result.error.message
    assert [(miss.of, miss.session_id) for miss in dispatcher.misses] == [("tool", batch.score.session_id)]
    assert "something else" in dispatcher.misses[0].asked
