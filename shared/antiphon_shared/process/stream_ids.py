"""Redis stream ids, `milliseconds-sequence`, and their times. Pure."""

from datetime import UTC, datetime

UNIX_MS_MAX = 253_402_300_799_000
"""The last second of the year 9999, in Unix milliseconds: a later time is no `datetime`."""


def order_of(entry: str) -> tuple[int, int]:
    """Return the milliseconds and the sequence of a stream id, by which ids are ordered."""
    milliseconds, _, sequence = entry.partition("-")
    return int(milliseconds), int(sequence)


def milliseconds_of(entry: str) -> int:
    """Return the time of a stream id, in Unix milliseconds."""
    return int(entry.partition("-")[0])


def time_of(entry: str) -> datetime | None:
    """Return the time of a stream id; None for one that a foreign client chose, and that is no time."""
    milliseconds = milliseconds_of(entry)
    return datetime.fromtimestamp(milliseconds / 1000, UTC) if milliseconds <= UNIX_MS_MAX else None
