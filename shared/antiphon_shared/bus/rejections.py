"""The record of a rejected submission: the reason, and its fields as received."""

from antiphon_shared.bus.reader import Entry
from antiphon_shared.process.errors import AntiphonError

REASON = "reason"
_ORIGINALS_MAX = 1_000
"""Bound on the original fields that are stored one by one, because of Lua's stack; the rest share one field."""
_REASON_LENGTH = 2_000


def fields_of(entry: Entry, error: AntiphonError, bytes_max: int) -> list[str | bytes]:
    """Return names and values for the stream of rejections.

    Content beyond the size of an event is cut, as the record adds fields to an entry that may have the maximum size.
    """
    fields: list[str | bytes] = ["entry", entry.id, "code", error.code, REASON, str(error)[:_REASON_LENGTH]]
    # The smallest first, so that a long query does not make the limit cut the session's id.
    originals = sorted(entry.fields.items(), key=lambda field: len(field[1]))
    left = bytes_max
    for name, value in originals[:_ORIGINALS_MAX]:
        cut_name, cut_value = name[:left], value[: max(0, left - len(name))]
        fields += [b"original." + cut_name, cut_value]
        left -= len(cut_name) + len(cut_value)
    if others := dict(originals[_ORIGINALS_MAX:]):
        fields += ["others", Entry(entry.stream, entry.id, others).content[: max(0, left)]]
    return fields
