"""In-memory stand-ins for the arguments of a handler."""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass, field
from uuid import UUID

from antiphon_shared.events import AnyEvent
from antiphon_shared.process.errors import UnreadableEvent


@dataclass
class FakeSession:
    """A session store in memory, for tests of handlers."""

    session_id: str = "s1"
    documents: dict[str, tuple[int, bytes | None]] = field(default_factory=dict)
    lists: dict[str, list[bytes]] = field(default_factory=dict)
    log: dict[str, AnyEvent] = field(default_factory=dict)
    journals: dict[str, dict[str, bytes]] = field(default_factory=dict)
    text: list[str] = field(default_factory=list)
    wholes: dict[str, bytes] = field(default_factory=dict)

    async def document(self, name: str) -> tuple[int, bytes | None]:
        return self.documents.get(name, (0, None))

    async def items(self, name: str, start: int = 0) -> list[bytes]:
        return self.lists.get(name, [])[start:]

    async def event(self, log_entry: str) -> AnyEvent:
        if log_entry not in self.log:
            raise UnreadableEvent(f"the log of session {self.session_id} has no entry {log_entry}")
        return self.log[log_entry]

    async def logged(self, id: UUID) -> tuple[str, AnyEvent] | None:
        return next(((entry, event) for entry, event in self.log.items() if event.id == id), None)

    async def settled(self, journal: str) -> dict[str, bytes]:
        return dict(self.journals.get(journal, {}))

    async def count(self, journal: str) -> int:
        return len(self.journals.get(journal, {}))

    async def note(self, journal: str, entry: str, content: bytes) -> bool:
        entries = self.journals.setdefault(journal, {})
        is_new = entry not in entries
        entries.setdefault(entry, content)
        return is_new

    async def store(self, name: str, content: bytes, more_s: float = 0.0) -> None:
        self.wholes[name] = content

    async def load(self, name: str) -> bytes | None:
        return self.wholes.get(name)

    def stream_text(self, text: str) -> Awaitable[None]:
        self.text.append(text)
        return asyncio.sleep(0)
