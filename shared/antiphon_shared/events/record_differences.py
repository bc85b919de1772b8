"""Exchange records as differences from the exchange before: each prompt repeats most of the last one. Pure.

A difference names its base by the event that the base is about, and holds the digest of the whole record, so that
another record never comes out. Recordings hold whole records.
See docs/decisions/0013-a-prompt-is-kept-as-a-difference.md.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal
from uuid import UUID

from pydantic import Field

from antiphon_shared.events.step_records import (
    AnyRecord,
    ExchangeRecord,
    StepRecord,
    decode_record,
    encode_record,
)
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.stored import Kind

SINCE_FORMAT = 6
"""The first format of sessions whose readers understand differences."""
_DIFFERENCES_MAX = 3.0
"""The total size of the differences since the last complete record, relative to the record, above which the record is
stored complete again. So the complete records take at most a third of the space of the differences.
"""
_BASES_MAX = 16
"""The number of cached exchanges; the base of an exchange is that of a recent round, usually the previous one."""
RECORD_BYTES_MIN = 2_000
"""The size below which a record is stored complete, as a difference would save less than a kilobyte."""
_COMMAS_MAX = 20_000
"""The number of commas above which a record is stored complete, as a difference would block the event loop."""
_COPIED_BYTES_MIN = 16
"""Below this size, a text is shorter than a reference to it."""
_AT_ONCE = 16
_SMALL_ENOUGH = 0.75
"""The largest difference, relative to the record, that is worth the cost of restoring it."""


class DifferenceRecord(StepRecord):
    """An exchange record as it is stored: the difference of its JSON from the JSON of an earlier one."""

    kind: Literal["difference"] = "difference"
    base: UUID = Field(description="Id of the event of the earlier exchange.")
    digest: str = Field(description="Digest of the whole record.")
    parts: tuple[str | tuple[int, int], ...] = Field(
        description="In order: a text, or the first and the number of pieces of the base."
    )


class LostBase(UnreadableEvent):
    """A stored difference whose base is missing, or is another record than the one it was made from."""

    def __init__(self, message: str, record: DifferenceRecord) -> None:
        super().__init__(message)
        self.record = record


@dataclass(frozen=True, slots=True)
class Base:
    """A complete exchange record, to which the session's next record may refer."""

    of: UUID
    contents: tuple[str, ...]
    raw: bytes
    differences_bytes: int
    """The total size of the differences since the last complete record; 0 if this record itself is stored complete."""

    @classmethod
    def of_record(cls, record: ExchangeRecord, raw: bytes) -> "Base":
        """Return the record, stored complete, as a base."""
        return cls(record.of, record.contents, raw, 0)

    def following(self, record: ExchangeRecord, raw: bytes, difference_bytes: int) -> "Base":
        """Return the record as a base whose stored difference from this one has `difference_bytes`."""
        return Base(record.of, record.contents, raw, self.differences_bytes + difference_bytes)


_DIFFERENCE: Kind[DifferenceRecord] = Kind("a step record", DifferenceRecord)
_EXCHANGE_BEGINS, _DIFFERENCE_BEGINS = b'{"kind":"exchange"', b'{"kind":"difference"'


def difference(of: UUID, raw: bytes, base: Base) -> tuple[DifferenceRecord, int] | None:
    """Return the difference of the record `raw` from `base`, and its size; None if `raw` itself must be stored."""
    if len(raw) < RECORD_BYTES_MIN or b"\0" in raw or b"\0" in base.raw:
        return None
    if max(raw.count(b","), base.raw.count(b",")) > _COMMAS_MAX:
        return None
    parts = tuple(_parts(_pieces(raw), _pieces(base.raw)))
    record = DifferenceRecord.trusted(
        of=of, outputs=0, kind="difference", base=base.of, digest=_digest(raw), parts=parts
    )
    size = len(encode_record(record, 0))
    is_small = size < _SMALL_ENOUGH * len(raw)
    is_base_due = base.differences_bytes + size > _DIFFERENCES_MAX * len(raw)
    return (record, size) if is_small and not is_base_due else None


class RecordReader:
    """A reader of the stored records of one session, in order, which restores records from their differences."""

    def __init__(self) -> None:
        self.bases: dict[UUID, Base] = {}
        """The newest exchanges by their event, the newest last."""

    def read(self, stored: bytes) -> tuple[AnyRecord, bytes]:
        """Return a record, and its bytes as they would be stored whole. Raises UnreadableEvent; LostBase is one."""
        raw, base = stored, None
        if stored.startswith(_DIFFERENCE_BEGINS):
            difference = _DIFFERENCE.read(stored)
            base = self.bases.get(difference.base)
            if base is None:
                raise LostBase(
                    f"the record of {difference.of} is a difference from that of {difference.base}, which is missing.",
                    difference,
                )
            raw = _restored(difference, base)
        record = decode_record(raw)
        if isinstance(record, ExchangeRecord) and record.calls:
            self.bases[record.of] = (
                Base.of_record(record, raw) if base is None else base.following(record, raw, len(stored))
            )
            if len(self.bases) > _BASES_MAX:
                del self.bases[next(iter(self.bases))]
        return record, raw


def bases_in(records: list[bytes]) -> list[Base]:
    """Return the exchanges among a session's newest stored records that can be restored, the newest last."""
    reader = RecordReader()
    for stored in records:
        if stored.startswith((_EXCHANGE_BEGINS, _DIFFERENCE_BEGINS)):
            try:
                reader.read(stored)
            except UnreadableEvent:  # its base is further back
                continue
    return list(reader.bases.values())


def _restored(record: DifferenceRecord, base: Base) -> bytes:
    pieces = _pieces(base.raw)
    raw = b"".join(
        part.encode() if isinstance(part, str) else b"".join(pieces[part[0] : part[0] + part[1]])
        for part in record.parts
    )
    if _digest(raw) != record.digest:
        raise LostBase(f"the record of {record.of} does not fit that of {record.base}, its base.", record)
    return raw


def _parts(new: list[bytes], old: list[bytes]) -> Iterator[str | tuple[int, int]]:
    """Yield `new` as texts and references to `old`."""
    first = dict(zip(reversed(old), range(len(old) - 1, -1, -1), strict=True))
    text, at, expected = bytearray(), 0, 0
    while at < len(new):
        piece = new[at]
        is_next = expected < len(old) and old[expected] == piece
        start = expected if is_next else first.get(piece)
        if start is None:
            text += piece
            at += 1
            continue
        count = _same(new, at, old, start)
        copied = piece if count == 1 else b"".join(new[at : at + count])
        if len(copied) < _COPIED_BYTES_MIN:
            text += copied
        else:
            if text:
                yield text.decode()
                text.clear()
            yield start, count
            expected = start + count
        at += count
    if text:
        yield text.decode()


def _same(new: list[bytes], at: int, old: list[bytes], start: int) -> int:
    """Return how many pieces are equal from these positions on; many are compared at once, which is faster."""
    count, end = 0, min(len(new) - at, len(old) - start)
    while count + _AT_ONCE <= end and (
        new[at + count : at + count + _AT_ONCE] == old[start + count : start + count + _AT_ONCE]
    ):
        count += _AT_ONCE
    while count < end and new[at + count] == old[start + count]:
        count += 1
    return count


def _pieces(raw: bytes) -> list[bytes]:
    """Return the JSON in pieces, each up to a comma or the end of a line in a text."""
    return raw.replace(b"\\n", b"\\n\0").replace(b",", b",\0").split(b"\0")


def _digest(raw: bytes) -> str:
    return blake2b(raw, digest_size=8).hexdigest()
