"""The journal of one batch as the dispatcher keeps it; see `antiphon_shared.tools.journal` for what stands in it.

The ledger notes the outcomes of writes here as it settles them; everything else is noted by itself.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from antiphon_shared import faults
from antiphon_shared.bus.connection import patiently
from antiphon_shared.bus.handling import SessionStore
from antiphon_shared.formats import FORMAT
from antiphon_shared.tools.calls import RequestedCall, ToolResult
from antiphon_shared.tools.journal import (
    begun_entry,
    journal_name,
    kept_name,
    outcome_entry,
    read_outcome,
    write_outcome,
)


@dataclass(frozen=True, slots=True)
class Noted:
    """What a journal has of a batch, by the places of its calls."""

    settled: Mapping[int, ToolResult] = field(default_factory=dict)
    begun: frozenset[int] = frozenset()
    """Writes that have begun, and of which no outcome is noted."""


class Journal:
    """Notes each outcome at once, and waits for Redis rather than forget what a tool has done."""

    def __init__(
        self, session: SessionStore, round: int, format: int = FORMAT, *, is_of_run: bool = False
    ) -> None:
        """`format` is that of the session.

        A run asks for one call at a time, and the commit of its result follows at once: of a run only writes are
        noted, by the ledger. What is lost with a dispatcher in between is a read, which is made again.
        """
        self._session, self.format, self._is_of_run = session, format, is_of_run
        self.lost: set[str] = set()
        """Ids of calls that another worker had settled before we could."""
        self._name = journal_name(round)

    async def noted(self, calls: Sequence[RequestedCall]) -> Noted:
        """What other workers have noted of these calls."""
        entries = await self._read()
        known = {place: _outcome(entries, call.id) for place, call in enumerate(calls)}
        settled = {place: result for place, result in known.items() if result is not None}
        begun = {place for place, call in enumerate(calls) if begun_entry(call.id) in entries}
        return Noted(settled, frozenset(begun - settled.keys()))

    async def settle(self, results: Sequence[ToolResult]) -> tuple[ToolResult, ...]:
        """Note what came of calls. Whoever settles one first is right: their outcome is returned."""
        if self._is_of_run:
            return tuple(results)
        if len(results) == 1:
            return (await self._settle(results[0]),)
        return tuple(await asyncio.gather(*map(self._settle, results)))

    async def _settle(self, result: ToolResult) -> ToolResult:
        entry, content = outcome_entry(result.call_id), write_outcome(result, self.format)

        async def note() -> bool:
            await faults.at("journal.note.before")
            is_ours = await self._session.note(self._name, entry, content)
            await faults.at("journal.noted")
            return is_ours

        if await patiently("note in journal", note):
            return result
        self.lost.add(result.call_id)
        return _outcome(await self._read(), result.call_id) or result

    async def keep(self, handle: str, whole: bytes) -> None:
        """Keep a result that is shown in part only."""
        await patiently("keep a result", lambda: self._session.keep(kept_name(handle), whole))

    async def kept(self, handle: str) -> bytes | None:
        """A result whole; None when it is not kept, or not any more."""
        return await patiently("read a result", lambda: self._session.kept(kept_name(handle)))

    async def _read(self) -> dict[str, bytes]:
        return await patiently("read journal", lambda: self._session.settled(self._name))


def _outcome(entries: Mapping[str, bytes], call_id: str) -> ToolResult | None:
    return read_outcome(entries.get(outcome_entry(call_id)))
