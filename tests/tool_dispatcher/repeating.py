"""A service that tools write to, and a session that calls them round after round, without keys of its own."""

from collections import Counter
from typing import Any

from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.tools.calls import RequestedCall, ToolResult
from antiphon_shared.tools.contract import Effect

from tests.tool_dispatcher.builders import Dispatcher, a_request, a_tool
from tool_dispatcher.authoring.context import ToolContext
from tool_dispatcher.authoring.failures import ToolFailed
from tool_dispatcher.authoring.reconcile import NO_EFFECT, TookEffect
from tool_dispatcher.authoring.tool import Tool

SWITCH: dict[str, Any] = {
    "type": "object",
    "properties": {"to": {"type": "string"}, "loud": {"type": "boolean", "default": False}},
    "required": ["to"],
}


class Effects:
    """The effects: the tool and its key for each run. Knows the keys it has seen."""

    def __init__(self) -> None:
        self.runs: list[tuple[str, str]] = []
        self.next: list[Exception] = []
        """Raised by the next runs, instead of taking effect."""
        self.unknown: list[str] = []
        """Keys whose run took effect and raised."""

    @property
    def count(self) -> int:
        return len(self.runs)

    @property
    def once_each(self) -> bool:
        return all(times == 1 for times in Counter(key for _, key in self.runs).values())

    def tool(self, name: str, effect: Effect = "write", parameters: Any = None, **options: Any) -> Tool:
        async def run(arguments: dict[str, Any], context: ToolContext) -> dict[str, Any]:
            if self.next:
                raise self.next.pop(0)
            self.runs.append((name, context.idempotency_key))
            return {"n": self.count, **arguments}

        if parameters is None:
            return a_tool(name, run, effect, **options)
        return Tool(name, f"Does {name}.", parameters, run, effect=effect, **options)

    def reconciled(self, name: str) -> Tool:
        def effect_of(key: str, arguments: dict[str, Any]) -> Any:
            return TookEffect("found") if key in [known for _, known in self.runs] else NO_EFFECT

        return self.tool(name, reconcile=effect_of)


UNKNOWN = ToolFailed("outcome_unknown", "The line went dead.")


def asks(id: str, name: str, arguments: dict[str, Any] | None = None, **fields: Any) -> RequestedCall:
    """Return a call as coordinators hand it out today: without a key."""
    return RequestedCall(id=id, name=name, arguments=arguments or {}, **fields)


class Rounds:
    """One session, batch after batch."""

    def __init__(self, dispatcher: Dispatcher, session_id: str = "s1") -> None:
        self.dispatcher, self.session_id, self.round = dispatcher, session_id, 0

    async def run(self, *calls: RequestedCall, **fields: Any) -> tuple[ToolResult, ...]:
        """Return the results of the next round's batch."""
        self.round += 1
        return await self.again(*calls, redelivered=False, **fields)

    async def again(
        self, *calls: RequestedCall, redelivered: bool = True, **fields: Any
    ) -> tuple[ToolResult, ...]:
        """Run the same batch once more, as if its worker had died before the commit."""
        request = a_request(*calls, round=self.round, **fields)
        return await self.dispatcher.run(request, redelivered, session_id=self.session_id)


async def forget_journal(bus: Bus, round: int) -> None:
    await bus.batcher.submit("DEL", bus.keys.of_session("s1", f"journal:{round}"))
