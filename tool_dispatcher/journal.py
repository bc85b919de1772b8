"""The dispatcher's journal of one batch; `antiphon_shared.tools.journal` describes its entries.

The ledger stores the outcomes of writes in it, in the same step that settles them; this file stores all others.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from antiphon_shared import faults
from antiphon_shared.bus.connection import retry_while_unavailable
from antiphon_shared.bus.handling import SessionStore
from antiphon_shared.formats import FORMAT
from antiphon_shared.tools.calls import RequestedCall, ToolResult
from antiphon_shared.tools.journal import (
    begun_entry,
    journal_name,
    outcome_entry,
    read_outcome,
    result_name,
    write_outcome,
)


@dataclass(frozen=True, slots=True)
class JournaledCalls:
    """The state of the calls in a journal, by their index in the batch."""

    settled: Mapping[int, ToolResult] = field(default_factory=dict)
    begun: frozenset[int] = frozenset()
    """Indexes of the writes that have begun, but have no outcome yet."""


class Journal:
    """The journal of one round. It notes each outcome at once, and retries while Redis is unavailable.

    `format` is that of the session. `is_of_one_call` means that the batch has a single call: its result is committed
    at once, so only the ledger notes an outcome, that of a write. If a dispatcher dies in between, only a read is
    repeated.
    """

    def __init__(
        self, session: SessionStore, round: int, format: int = FORMAT, *, is_of_one_call: bool = False
    ) -> None:
        self._session, self.format, self._is_of_one_call = session, format, is_of_one_call
        self.lost: set[str] = set()
        """Ids of calls that another worker has settled first."""
        self._name = journal_name(round)

    async def journaled_calls(self, calls: Sequence[RequestedCall]) -> JournaledCalls:
        """Return the state of these calls after earlier deliveries."""
        entries = await self._read()
        outcomes = {index: _outcome(entries, call.id) for index, call in enumerate(calls)}
        settled = {index: result for index, result in outcomes.items() if result is not None}
        begun = {index for index, call in enumerate(calls) if begun_entry(call.id) in entries}
        return JournaledCalls(settled, frozenset(begun - settled.keys()))

    async def settle(self, results: Sequence[ToolResult]) -> tuple[ToolResult, ...]:
        """Note the outcomes of calls; return, for each, the outcome that was noted first, by any worker."""
        if self._is_of_one_call or not results:
            return tuple(results)
        if len(results) == 1:
            return (await self._settle(results[0]),)
        return tuple(await asyncio.gather(*map(self._settle, results)))

    async def _settle(self, result: ToolResult) -> ToolResult:
        entry, content = outcome_entry(result.call_id), write_outcome(result, self.format)

        async def note() -> bool:
            await faults.pass_point("journal.note.before")
            is_new = await self._session.note(self._name, entry, content)
            await faults.pass_point("journal.noted")
            return is_new

        if await retry_while_unavailable("note in journal", note):
            return result
        self.lost.add(result.call_id)
        return _outcome(await self._read(), result.call_id) or result

    async def store_complete(self, handle: str, result: bytes) -> None:
        """Store the whole of a result that is shown in part."""
        await retry_while_unavailable(
            "keep a result", lambda: self._session.store(result_name(handle), result)
        )

    async def load_complete(self, handle: str) -> bytes | None:
        """Return the whole of a result; None if it is not stored."""
        return await retry_while_unavailable("read a result", lambda: self._session.load(result_name(handle)))

    async def _read(self) -> dict[str, bytes]:
        return await retry_while_unavailable("read journal", lambda: self._session.settled(self._name))


def _outcome(entries: Mapping[str, bytes], call_id: str) -> ToolResult | None:
    return read_outcome(entries.get(outcome_entry(call_id)))
