"""A cache of session indexes from round to round, so that the cost of a round grows with its new facts only.

A cached index is verified: the last item that it holds is read again. If another worker has written a
different one, or our own commit failed, so that it is missing, the index is built again.
"""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from hashlib import blake2b

from antiphon_shared.memory.layers import MEMORY_DELTA, MemoryDelta
from antiphon_shared.values import LogEntry, SessionId

from context_synthesizer.session_index import SessionIndex
from context_synthesizer.vectors import Vectors

BYTES_MAX, INDEXES_MAX = 4_000_000, 1_000
"""Bounds on all cached indexes: the bytes of their items in Redis, a thirtieth of their size here; and their number.

Beyond them, the least recently used indexes are evicted.
"""

SessionKey = tuple[SessionId, LogEntry]
"""A session, and the log entry of its question, which distinguishes sessions of the same id."""


class CachedIndex:
    """An index with its source: the items of the session's list so far."""

    def __init__(self, query: str, tokens_max: int, items: Iterable[bytes] = ()) -> None:
        self.session_index = SessionIndex(query, tokens_max)
        self.items = 0
        self.bytes = 0
        self._last = ""
        self.vectors: Vectors | None = None
        """The vectors of the facts and of the searches, when a deployment embeds them."""
        for item in items:
            self.add(item)

    @property
    def since(self) -> int:
        """Return the index of the first item to read from the list."""
        return max(0, self.items - 1)

    def catches_up(self, query: str, tokens_max: int, items: Sequence[bytes]) -> bool:
        """Add the new ones of `items`, which begin at `since`. Return False when the index is not of this list."""
        if (self.session_index.memory.query, self.session_index.tokens_max) != (query, tokens_max):
            return False
        if self.items:
            if not items or digest_of(items[0]) != self._last:
                return False
            items = items[1:]
        for item in items:
            self.add(item)
        return True

    def add(self, item: bytes, delta: MemoryDelta | None = None) -> None:
        """Add one more item, and its `delta`, if the caller has it."""
        self.session_index.add(delta or MEMORY_DELTA.read(item))
        self.items += 1
        self.bytes += len(item)
        self._last = digest_of(item)


class SessionIndexCache:
    """The cached indexes of one process, by session."""

    def __init__(self, bytes_max: int = BYTES_MAX, indexes_max: int = INDEXES_MAX) -> None:
        self._kept: OrderedDict[SessionKey, CachedIndex] = OrderedDict()
        self._bytes = 0
        self._bytes_max, self._desks_max = bytes_max, indexes_max

    def take(self, key: SessionKey) -> CachedIndex | None:
        """Remove and return the session's index, if it is cached, so that only one caller uses it at a time."""
        kept = self._kept.pop(key, None)
        if kept is not None:
            self._bytes -= kept.bytes
        return kept

    def store(self, key: SessionKey, index: CachedIndex) -> None:
        """Cache the index for the session's next round."""
        self.take(key)
        self._kept[key] = index
        self._bytes += index.bytes
        while len(self._kept) > 1 and (self._bytes > self._bytes_max or len(self._kept) > self._desks_max):
            self.take(next(iter(self._kept)))


def digest_of(item: bytes) -> str:
    """Return the digest of an item of memory; empty for an empty item."""
    return blake2b(item, digest_size=16).hexdigest() if item else ""
