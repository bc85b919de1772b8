"""The recorded dispatcher: answers every call by what was recorded of it, and runs no tool."""

from collections import defaultdict
from uuid import UUID

import orjson

from antiphon.recording.serving.exchanges import Miss
from antiphon.recording.serving.score import Score
from shared.bus.handling import Delivery, Handlers, Outcome, SessionStore
from shared.bus.redis_bus import Bus
from shared.events import ToolsCompleted, ToolsRequested
from shared.journal import begun_entry, journal_name, outcome_entry, write_outcome
from shared.tools import RequestedCall, ToolCall, ToolError, ToolResult

_Named = tuple[str, str]
"""A call by its tool and its arguments."""


class RecordedDispatcher:
    """The dispatcher of one session. The n-th time a call comes, it gets its n-th result."""

    def __init__(self, score: Score) -> None:
        self.misses: list[Miss] = []
        self._score = score
        self._results: dict[_Named, list[ToolResult]] = defaultdict(list)
        self._answered: dict[UUID, ToolsCompleted] = {}
        for line, request in score.all_of(ToolsRequested):
            completed = score.output(line.event.id, ToolsCompleted)
            for result in completed.results if completed else ():
                if result.index < len(request.calls):
                    self._results[_named(request.calls[result.index])].append(result)

    @property
    def handlers(self) -> Handlers:
        return {ToolsRequested: self.on_tools_requested}

    async def on_tools_requested(self, delivery: Delivery, session: SessionStore) -> Outcome:
        """The results of the batch, in the order of its calls; for a redelivery, the same ones."""
        request = delivery.event.data
        assert isinstance(request, ToolsRequested)
        id = delivery.event.id
        if id not in self._answered:
            results = tuple(self._result(place, call) for place, call in enumerate(request.calls))
            then = self._score.output(id, ToolsCompleted)
            self._answered[id] = ToolsCompleted.of(request.round, results, then.duration_ms if then else 0)
        return Outcome(events=(self._answered[id],))

    def _result(self, place: int, call: RequestedCall) -> ToolResult:
        results = self._results[_named(call)]
        if results:
            return results.pop(0).model_copy(update={"index": place, "call_id": call.id})
        asked = f"`{call.name}` was called as the recording does not hold it, with {_shown(call)}"
        self.misses.append(Miss(self._score.session_id, "tool", asked))
        error = ToolError(
            error_type="internal_error",
            message="The recording holds no such call.",
            suggested_action="Do not call it again: this is a rerun, and no tool is run.",
        )
        return ToolResult(index=place, call_id=call.id, tool=call.name, status="error", error=error)


async def note_unfinished(batch: ToolsCompleted, session: SessionStore) -> None:
    """Put into a batch's journal what the assembler has read there of calls that were under way."""
    for result in batch.results:
        entry = begun_entry(result.call_id) if _is_begun(result) else outcome_entry(result.call_id)
        await session.note(journal_name(batch.round), entry, write_outcome(result))


def misses_key(bus: Bus) -> str:
    """List: session and words of everything that tools were asked in vain, one after the other."""
    return f"{bus.keys.namespace}:rerun:misses"


def _is_begun(result: ToolResult) -> bool:
    """Whether no more was known of a call than that it had begun; see response_assembler/handlers.py."""
    return (
        result.error is not None
        and result.error.error_type == "outcome_unknown"
        and result.error.message.startswith("The session ended")
    )


def _named(call: ToolCall) -> _Named:
    return call.name, orjson.dumps(call.arguments, option=orjson.OPT_SORT_KEYS, default=str).decode()


def _shown(call: ToolCall) -> str:
    _, arguments = _named(call)
    return arguments if len(arguments) <= 500 else f"{arguments[:500]}…"
