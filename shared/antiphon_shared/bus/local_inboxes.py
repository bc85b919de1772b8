"""Inboxes that are read in this process: a commit that adds to one of them also reads its next entry.

The commit script delivers that entry to the local consumer in the same round trip, as a read of its own would: the
oldest entry that was not delivered yet, which need not be the one that was added. If the reply is lost, the entry is
pending for the local consumer, whose reader finds it there.
"""

from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Any, Self

from antiphon_shared.bus.committing import Operation
from antiphon_shared.bus.concurrency import Gate
from antiphon_shared.bus.reader import Entry, Reader


class LocalInboxes:
    """The inboxes of all consumers of this process that are reading, and the gate that the consumers share."""

    def __init__(self) -> None:
        self.gate = Gate()
        """A message that may have ended its process runs alone among the messages of all components in the process."""
        self._readers: dict[str | None, Reader] = {}

    def add(self, readers: Iterable[Reader]) -> None:
        self._readers.update((reader.stream, reader) for reader in readers)

    def taking(self, operations: Sequence[Operation]) -> "Taking":
        """Return the entries that a commit with these operations reads: one for each event for a local inbox."""
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
        # A duplicate may be this commit itself, sent before a connection broke, with its reply lost.
        self._is_certain = result != b"duplicate"
        return result
