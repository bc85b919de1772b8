"""A cache of session indexes from round to round, so that the cost of a round grows only with its new facts.

To verify a cached index, its last item is read again. If another worker has written a different item, or the item is
missing because the commit failed, the index is built again.
"""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from hashlib import blake2b

from antiphon_shared.memory.layers import MEMORY_DELTA, MemoryDelta
from antiphon_shared.values import LogEntry, SessionId

from context_synthesizer.session_index import SessionIndex
from context_synthesizer.vectors import Vectors

BYTES_MAX, INDEXES_MAX = 4_000_000, 1_000
"""Bounds on all cached indexes: the bytes of their items in Redis, which take thirty times as much memory here, and
the number of indexes. Beyond them, the least recently used indexes are evicted.
"""

SessionKey = tuple[SessionId, LogEntry]
"""A session, and the log entry of its question, which distinguishes sessions of the same id."""


class CachedIndex:
    """An index, with the items of the session's list from which it was built."""

    def __init__(self, query: str, tokens_max: int, items: Iterable[bytes] = ()) -> None:
        self.session_index = SessionIndex(query, tokens_max)
        self.items = 0
        self.bytes = 0
        self._last = ""
        self.vectors: Vectors | None = None
        """The vectors of the facts and of the searches, if a deployment embeds them."""
        for item in items:
            self.add(item)

    @property
    def since(self) -> int:
        """Return the index of the first item to read from the list."""
        return max(0, self.items - 1)

    def catches_up(self, query: str, tokens_max: int, items: Sequence[bytes]) -> bool:
        """Add the new ones of `items`, which begin at `since`; return False if the index is of another list."""
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
        """Add one item; `delta` is its content, if the caller has it."""
        self.session_index.add(delta or MEMORY_DELTA.read(item))
        self.items += 1
        self.bytes += len(item)
        self._last = digest_of(item)


class SessionIndexCache:
    """The cached indexes of one process, by session."""

    def __init__(self, bytes_max: int = BYTES_MAX, indexes_max: int = INDEXES_MAX) -> None:
        self._cached: OrderedDict[SessionKey, CachedIndex] = OrderedDict()
        self._bytes = 0
        self._bytes_max, self._indexes_max = bytes_max, indexes_max

    def take(self, key: SessionKey) -> CachedIndex | None:
        """Remove and return the session's index, if it is cached, so that only one caller uses it at a time."""
        cached = self._cached.pop(key, None)
        if cached is not None:
            self._bytes -= cached.bytes
        return cached

    def store(self, key: SessionKey, index: CachedIndex) -> None:
        """Cache the index for the session's next round."""
        self.take(key)
        self._cached[key] = index
        self._bytes += index.bytes
        while len(self._cached) > 1 and (
            self._bytes > self._bytes_max or len(self._cached) > self._indexes_max
        ):
            self.take(next(iter(self._cached)))


def digest_of(item: bytes) -> str:
    """Return the digest of an item of memory; empty for an empty item."""
    return blake2b(item, digest_size=16).hexdigest() if item else ""
