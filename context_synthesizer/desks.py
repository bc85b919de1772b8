"""Desks that are kept from round to round, so that a round costs what it brings and not what there is.

A kept desk is never trusted: the last item it holds is read again, and if another worker has written something
else in its place, or nothing is there because our own commit came to nothing, the desk is made anew.
"""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from hashlib import blake2b

from antiphon_shared.memory.layers import MEMORY_DELTA, MemoryDelta
from antiphon_shared.values import LogEntry, SessionId

from context_synthesizer.desk import Desk
from context_synthesizer.vectors import Vectors

BYTES_MAX, DESKS_MAX = 4_000_000, 1_000
"""Of all kept desks: items as they stand in Redis, which take some thirty times as much here; and their number.

Beyond that, the ones longest unused are put away.
"""

DeskKey = tuple[SessionId, LogEntry]
"""A session, and where its question stands in the log: another life of the id has its question elsewhere."""


class Kept:
    """A desk with what it is made of: the items of the session's list so far."""

    def __init__(self, query: str, tokens_max: int, items: Iterable[bytes] = ()) -> None:
        self.desk = Desk(query, tokens_max)
        self.items = 0
        self.bytes = 0
        self._last = ""
        self.vectors: Vectors | None = None
        """Of the facts and of what was asked, where a deployment embeds them."""
        for item in items:
            self.add(item)

    @property
    def since(self) -> int:
        """From which item on the list has to be read."""
        return max(0, self.items - 1)

    def catches_up(self, query: str, tokens_max: int, items: Sequence[bytes]) -> bool:
        """Add what is new in `items`, read from `since` on. False when the desk is not of this list."""
        if (self.desk.memory.query, self.desk.tokens_max) != (query, tokens_max):
            return False
        if self.items:
            if not items or digest_of(items[0]) != self._last:
                return False
            items = items[1:]
        for item in items:
            self.add(item)
        return True

    def add(self, item: bytes, delta: MemoryDelta | None = None) -> None:
        """One item more, as `delta` where that is at hand."""
        self.desk.add(delta or MEMORY_DELTA.read(item))
        self.items += 1
        self.bytes += len(item)
        self._last = digest_of(item)


class Desks:
    """The desks of one process, by session."""

    def __init__(self, bytes_max: int = BYTES_MAX, desks_max: int = DESKS_MAX) -> None:
        self._kept: OrderedDict[DeskKey, Kept] = OrderedDict()
        self._bytes = 0
        self._bytes_max, self._desks_max = bytes_max, desks_max

    def take(self, key: DeskKey) -> Kept | None:
        """The session's desk, if there is one; nobody else gets it until it is put back."""
        kept = self._kept.pop(key, None)
        if kept is not None:
            self._bytes -= kept.bytes
        return kept

    def put_back(self, key: DeskKey, kept: Kept) -> None:
        """Keep the desk for the session's next round."""
        self.take(key)
        self._kept[key] = kept
        self._bytes += kept.bytes
        while len(self._kept) > 1 and (self._bytes > self._bytes_max or len(self._kept) > self._desks_max):
            self.take(next(iter(self._kept)))


def digest_of(item: bytes) -> str:
    """Return what tells an item of memory from another one; nothing where there is none."""
    return blake2b(item, digest_size=16).hexdigest() if item else ""
