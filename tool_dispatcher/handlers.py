"""The handler of `tools.requested`; executor.py executes the batch."""

from antiphon_shared.bus.handling import Delivery, Handlers, Outcome, SessionStore
from antiphon_shared.events import ToolsRequested

from tool_dispatcher.executor import Executor
from tool_dispatcher.journal import Journal


class ToolDispatcher:
    """The handlers of the events that a tool dispatcher consumes."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    @property
    def handlers(self) -> Handlers:
        return {ToolsRequested: self.on_tools_requested}

    async def on_tools_requested(self, delivery: Delivery, session: SessionStore) -> Outcome:
        """Answer every call of the batch, in the order of the calls."""
        request = delivery.event.data
        assert isinstance(request, ToolsRequested)
        is_of_one_call = len(request.calls) == 1
        journal = Journal(session, request.round, delivery.event.format, is_of_one_call=is_of_one_call)
        attempt = max(delivery.attempt, int(delivery.redelivered)) + 1
        executed = await self._executor.run(
            request, session, journal, attempt=attempt, requested_at_ms=delivery.requested_at_ms
        )
        return Outcome(events=(executed.event,), record=executed.record(delivery.event.id))
