"""What the calls of one delivered batch share."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from antiphon_shared.bus.handling import SessionStore
from antiphon_shared.events import ToolsRequested
from antiphon_shared.process.clock import monotonic_s
from antiphon_shared.tools.calls import ToolResult
from antiphon_shared.tools.contract import Contract, Retry
from pydantic_core import from_json

from tool_dispatcher.access.gatekeeper import Leave
from tool_dispatcher.call_log import CallLog
from tool_dispatcher.journal import Journal
from tool_dispatcher.running.arguments import Arguments

_ONCE = Retry(attempts=1)


@dataclass(frozen=True, slots=True)
class BatchRun:
    """One delivery of a batch, under way."""

    request: ToolsRequested
    session: SessionStore
    journal: Journal
    leave: Leave
    """What the session may do."""
    arguments: Mapping[int, Arguments]
    """By place, those that need no other call's result."""
    ends_s: float
    """When its time is over, on the monotonic clock."""
    log: CallLog
    """Where each of its calls has its line."""
    result_bytes_max: int
    """What one result may have, so that all of them go into one event."""
    begun: frozenset[int] = frozenset()
    """Places of the calls that another worker has begun, and of which no outcome is noted."""
    named: frozenset[int] = frozenset()
    """Places of the calls whose results others of the batch ask for."""
    attempt: int = 1
    """Counts from 1; more says that another worker may have begun with it before."""
    asked_ms: int = 0
    """When the batch was asked for, by Redis's clock: a stop since then lets no more write begin."""
    filled: dict[int, str] = field(default_factory=dict)
    """By place, digests of the arguments that placeholders were filled into; none of a tool with secrets."""
    wholes: dict[int, Any] = field(default_factory=dict)
    """By place, what calls returned that others ask for, and whose results are shown in part only."""

    @property
    def time_left_s(self) -> float:
        return max(0.0, self.ends_s - monotonic_s())

    def retried_by(self, contract: Contract) -> Contract:
        """The contract that says which failures are tried again: without retries where a run has its own."""
        return contract if self.request.is_retried else contract.model_copy(update={"retry": _ONCE})

    def shown_bytes_max(self, contract: Contract) -> int:
        """How large a result may be that is shown whole. A run reads all of its results whole, never a part."""
        if self.request.node:
            return self.result_bytes_max
        return min(self.result_bytes_max, contract.result_bytes_max or self.result_bytes_max)

    async def wholes_of(self, places: Iterable[int], known: Sequence[ToolResult | None]) -> Mapping[int, Any]:
        """The same for the calls at `places`, from where it is kept if it was another worker that ran them."""
        for place in places:
            result = known[place]
            if result is not None and result.handle and place not in self.wholes:
                whole = await self.journal.kept(result.handle)
                if whole is not None:
                    self.wholes[place] = from_json(whole)
        return self.wholes
