"""A batch in flight, and a call of it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import NamedTuple

from antiphon_shared.bus.handling import SessionStore
from antiphon_shared.events import ToolsRequested
from antiphon_shared.process.clock import monotonic_s, utc_now
from antiphon_shared.process.ids import idempotency_key
from antiphon_shared.tools.calls import RequestedCall, ToolResult
from antiphon_shared.tools.contract import Contract, Retry
from antiphon_shared.values import Json
from pydantic_core import from_json

from tool_dispatcher.access.gatekeeper import Permissions
from tool_dispatcher.authoring.context import ToolContext
from tool_dispatcher.authoring.tool import Tool
from tool_dispatcher.batch import Unit
from tool_dispatcher.call_log import CallLog
from tool_dispatcher.idempotency.port import Claim
from tool_dispatcher.journal import Journal
from tool_dispatcher.running.arguments import Arguments

_NO_RETRY = Retry(attempts=1)


@dataclass(frozen=True, slots=True)
class BatchRun:
    """A delivered batch that is in flight."""

    request: ToolsRequested
    session: SessionStore
    journal: Journal
    permissions: Permissions
    arguments: Mapping[int, Arguments]
    """By index, the arguments that need no other call's result."""
    ends_s: float
    """The deadline, on the monotonic clock."""
    log: CallLog
    result_bytes_max: int
    """The maximum size of one result, so that all results fit into one event."""
    begun: frozenset[int] = frozenset()
    """Indexes of the calls that another worker has begun and whose outcome is not in the journal."""
    needed: frozenset[int] = frozenset()
    """Indexes of the calls whose results other calls of the batch need."""
    attempt: int = 1
    """The number of this delivery, from 1. Above 1, another worker may have begun the batch before."""
    requested_at_ms: int = 0
    """The time of the request, on Redis's clock: no write begins if the session was stopped after it."""
    filled: dict[int, str] = field(default_factory=dict)
    """By index, digests of the arguments with replaced placeholders, except for tools with secrets."""
    complete_results: dict[int, Json] = field(default_factory=dict)
    """By index, the whole of each result that is shown in part and that other calls need."""

    @property
    def time_left_s(self) -> float:
        return max(0.0, self.ends_s - monotonic_s())

    def retried_by(self, contract: Contract) -> Contract:
        """Return the contract for retries; it allows none if the node of a run declares its retries."""
        return contract if self.request.is_retried else contract.model_copy(update={"retry": _NO_RETRY})

    def shown_size_max(self, contract: Contract) -> int:
        """Return the size up to which a result is shown whole; a run reads all results whole."""
        if self.request.node:
            return self.result_bytes_max
        return min(self.result_bytes_max, contract.result_bytes_max or self.result_bytes_max)

    async def complete_results_of(
        self, indexes: Iterable[int], results: Sequence[ToolResult | None]
    ) -> Mapping[int, Json]:
        """Return `complete_results`, completed with those of the calls at `indexes`, which the journal may hold."""
        for index in indexes:
            result = results[index]
            if result is not None and result.handle and index not in self.complete_results:
                content = await self.journal.load_complete(result.handle)
                if content is not None:
                    self.complete_results[index] = from_json(content)
        return self.complete_results


class Call(NamedTuple):
    """One run of a tool: for one requested call, or for the calls of a group, which the batch variant runs."""

    batch: BatchRun
    unit: Unit
    requested: tuple[RequestedCall, ...]
    began_s: float
    tool: Tool
    """The tool that runs: that of the unit, or an alternative."""
    arguments: Arguments
    key: str = ""
    """The idempotency key: of the claim for a write, of the call for a read."""
    claim: Claim | None = None
    """The claim of a write, which runs only while the claim is valid; None for a read."""
    attempt: int = 1
    """The number of this attempt, from 1."""

    @property
    def contract(self) -> Contract:
        return self.tool.contract

    @property
    def id(self) -> str:
        return self.requested[0].id

    @property
    def timeout_s(self) -> float:
        return min(self.contract.timeout_s, self.batch.time_left_s)

    def read(self) -> "Call":
        """Return the call of a read with its key, under which no result is stored."""
        if self.unit.key:
            return self._replace(key=self.unit.key)
        request, more = self.batch.request, len(self.requested) - 1
        key = idempotency_key(request.tenant, self.batch.session.session_id, request.round, self.id)
        return self._replace(key=f"{key}+{more}" if more else key)

    def with_claim(self, claim: Claim) -> "Call":
        """Return the call of a write that has been claimed."""
        return self._replace(key=claim.write.key, claim=claim)

    def context(self, timeout_s: float) -> ToolContext:
        """Return the context for the tool's function."""
        return ToolContext(
            idempotency_key=self.key,
            session_id=self.batch.session.session_id,
            call_id=self.id,
            attempt=self.attempt + self.batch.attempt - 1,
            deadline=utc_now() + timedelta(seconds=timeout_s),
            tenant=self.batch.request.tenant,
            fence=0 if self.claim is None else self.claim.fence,
        )
