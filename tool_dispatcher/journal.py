"""The journal of one batch as the dispatcher keeps it; see `shared.journal` for what stands in it."""

from shared.bus.connection import patiently
from shared.bus.handling import SessionStore
from shared.ids import new_id
from shared.journal import begun_entry, journal_name, outcome_entry, read_outcome, write_outcome
from shared.tools import ToolResult


class Journal:
    """Notes each step at once, and waits for Redis rather than forget what a tool has done."""

    def __init__(self, session: SessionStore, round: int) -> None:
        self._session = session
        self._name = journal_name(round)

    async def read(self) -> dict[str, bytes]:
        """Every entry, by its name."""
        return await patiently("read journal", lambda: self._session.settled(self._name))

    async def begin(self, key: str) -> bool:
        """Note that a write begins. False when somebody has begun it before: then it must not run."""
        entry, mark = begun_entry(key), new_id().bytes
        if await self._note(entry, mark):
            return True
        # The note may be ours: it was made, and the reply was lost with the connection.
        return (await self.read()).get(entry) == mark

    async def settle(self, key: str, result: ToolResult) -> ToolResult:
        """Note what came of a call. Whoever settles it first is right: their outcome is returned."""
        if await self._note(outcome_entry(key), write_outcome(result)):
            return result
        return read_outcome((await self.read()).get(outcome_entry(key))) or result

    async def _note(self, entry: str, content: bytes) -> bool:
        return await patiently("note in journal", lambda: self._session.note(self._name, entry, content))
