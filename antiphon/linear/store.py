"""The store of one session in one process: what a batch notes, without a log and without documents."""

from collections import defaultdict
from uuid import UUID

from antiphon_shared.bus.handling import SessionStore
from antiphon_shared.events import AnyEvent
from antiphon_shared.process.errors import UnreadableEvent


class MemoryStore(SessionStore):
    """The journals and kept contents of one session."""

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self._journals: dict[str, dict[str, bytes]] = defaultdict(dict)
        self._kept: dict[str, bytes] = {}

    async def document(self, name: str) -> tuple[int, bytes | None]:
        """See SessionStore."""
        return 0, None

    async def items(self, name: str, start: int = 0) -> list[bytes]:
        """See SessionStore."""
        return []

    async def event(self, log_entry: str) -> AnyEvent:
        """See SessionStore."""
        raise UnreadableEvent(f"There is no log entry {log_entry}: the session has no log.")

    async def logged(self, id: UUID) -> tuple[str, AnyEvent] | None:
        """See SessionStore."""
        return None

    async def settled(self, journal: str) -> dict[str, bytes]:
        """See SessionStore."""
        return dict(self._journals[journal])

    async def count(self, journal: str) -> int:
        """See SessionStore."""
        return len(self._journals[journal])

    async def note(self, journal: str, entry: str, content: bytes) -> bool:
        """See SessionStore."""
        return self._journals[journal].setdefault(entry, content) is content

    async def keep(self, name: str, content: bytes, more_s: float = 0.0) -> None:
        """See SessionStore."""
        self._kept[name] = content

    async def kept(self, name: str) -> bytes | None:
        """See SessionStore."""
        return self._kept.get(name)

    async def stream_text(self, text: str) -> None:
        """See SessionStore."""
