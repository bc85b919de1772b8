"""The record of a submission that is set aside: the reason, and its fields as received."""

from antiphon_shared.bus.reader import Entry
from antiphon_shared.process.errors import AntiphonError

REASON = "reason"
_ORIGINALS_MAX = 1_000
"""The number of original fields kept one by one, limited by Lua's stack; the rest share one field."""
_REASON_LENGTH = 2_000


def fields_of(entry: Entry, error: AntiphonError, bytes_max: int) -> list[str | bytes]:
    """Return names and values for the stream of rejections.

    Content beyond the limit of an event is cut: the fields grow, and an entry of the maximum size could not
    be written back.
    """
    fields: list[str | bytes] = ["entry", entry.id, "code", error.code, REASON, str(error)[:_REASON_LENGTH]]
    originals = list(entry.fields.items())
    left = bytes_max
    for name, value in originals[:_ORIGINALS_MAX]:
        shown_name, shown = name[:left], value[: max(0, left - len(name))]
        fields += [b"original." + shown_name, shown]
        left -= len(shown_name) + len(shown)
    if others := dict(originals[_ORIGINALS_MAX:]):
        fields += ["others", Entry(entry.stream, entry.id, others).content[: max(0, left)]]
    return fields
