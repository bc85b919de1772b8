"""The state that the calls of one delivered batch share."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from antiphon_shared.bus.handling import SessionStore
from antiphon_shared.events import ToolsRequested
from antiphon_shared.process.clock import monotonic_s
from antiphon_shared.tools.calls import ToolResult
from antiphon_shared.tools.contract import Contract, Retry
from pydantic_core import from_json

from tool_dispatcher.access.gatekeeper import Permissions
from tool_dispatcher.call_log import CallLog
from tool_dispatcher.journal import Journal
from tool_dispatcher.running.arguments import Arguments

_ONCE = Retry(attempts=1)


@dataclass(frozen=True, slots=True)
class BatchRun:
    """One delivery of a batch, in flight."""

    request: ToolsRequested
    session: SessionStore
    journal: Journal
    permissions: Permissions
    """The session's permissions."""
    arguments: Mapping[int, Arguments]
    """By index, the arguments that need no other call's result."""
    ends_s: float
    """The end of its time, on the monotonic clock."""
    log: CallLog
    """The log of its calls."""
    result_bytes_max: int
    """The size of one result, limited so that all results fit into one event."""
    begun: frozenset[int] = frozenset()
    """Indexes of the calls that another worker has begun and that have no noted outcome."""
    named: frozenset[int] = frozenset()
    """Indexes of the calls whose results other calls of the batch need."""
    attempt: int = 1
    """Counts from 1; a higher number means that another worker may have begun it before."""
    asked_ms: int = 0
    """The time of the request, on Redis's clock: no write begins if the session was stopped after it."""
    filled: dict[int, str] = field(default_factory=dict)
    """By index, digests of the arguments after placeholders were replaced; tools with secrets have none."""
    wholes: dict[int, Any] = field(default_factory=dict)
    """By index, the whole results that other calls need and that are shown in part only."""

    @property
    def time_left_s(self) -> float:
        return max(0.0, self.ends_s - monotonic_s())

    def retried_by(self, contract: Contract) -> Contract:
        """Return the contract that decides about retries: without them where a run has retries of its own."""
        return contract if self.request.is_retried else contract.model_copy(update={"retry": _ONCE})

    def shown_bytes_max(self, contract: Contract) -> int:
        """Return the size up to which a result is shown whole. A run always reads its results whole."""
        if self.request.node:
            return self.result_bytes_max
        return min(self.result_bytes_max, contract.result_bytes_max or self.result_bytes_max)

    async def wholes_of(self, places: Iterable[int], known: Sequence[ToolResult | None]) -> Mapping[int, Any]:
        """Return the whole results of the calls at `places`, and others known before.

        Results of calls that another worker ran are read from the journal.
        """
        for place in places:
            result = known[place]
            if result is not None and result.handle and place not in self.wholes:
                whole = await self.journal.kept(result.handle)
                if whole is not None:
                    self.wholes[place] = from_json(whole)
        return self.wholes
