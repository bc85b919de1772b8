"""The inboxes that are read in this process: a commit that adds to one of them also reads its next entry.

Like a read, the commit script delivers the oldest new entry to the local consumer, in the same round trip; it may be
another entry than the added one. If the reply is lost, the entry is pending for the local consumer, whose reader
finds it there.
"""

from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Any, Self

from antiphon_shared.bus.committing import Operation
from antiphon_shared.bus.concurrency import Gate
from antiphon_shared.bus.reader import Entry, Reader


class LocalInboxes:
    """The inboxes of all running consumers of this process, and the gate that the consumers share."""

    def __init__(self) -> None:
        self.gate = Gate()
        """Through it, a message that may have killed a process runs alone in this process."""
        self._readers: dict[str | None, Reader] = {}

    def add(self, readers: Iterable[Reader]) -> None:
        self._readers.update((reader.stream, reader) for reader in readers)

    def taking(self, operations: Sequence[Operation]) -> "Taking":
        """Return the reads of a commit with these operations: one entry for each event for a local inbox."""
        added_to = [key for name, key, _, _ in operations if name == "event"]
        return Taking([self._readers[key] for key in added_to if key in self._readers])


class Taking:
    """The entries that one commit reads; within the block, slots for them are reserved."""

    def __init__(self, readers: Sequence[Reader]) -> None:
        self._readers = readers
        self._reserved: list[Reader] = []
        self._is_certain = False

    def __enter__(self) -> Self:
        self._reserved = [reader for reader in self._readers if reader.limit.take_free()]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for reader in self._reserved:
            reader.limit.release()
            if not self._is_certain:
                reader.look_again()

    @property
    def operations(self) -> list[Operation]:
        """Return the operations that the commit needs in addition; see commit.lua."""
        return [("take", reader.stream, reader.consumer, reader.group) for reader in self._reserved]

    def result(self, reply: Any) -> bytes:
        """Hand the entries in the script's reply to their consumers; return the result of the commit."""
        taken = reply if isinstance(reply, list) else []
        for stream, entry, fields in taken:
            reader = next(one for one in self._reserved if one.stream == stream.decode())
            self._reserved.remove(reader)
            reader.take(
                Entry(reader.stream, entry.decode(), dict(zip(fields[::2], fields[1::2], strict=True)))
            )
        result: bytes = b"committed" if taken else reply
        # A duplicate may be an earlier attempt of this commit, whose reply was lost with its entries.
        self._is_certain = result != b"duplicate"
        return result
