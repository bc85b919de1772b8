"""What is kept of a submission that is set aside: why, and its fields as they came. Pure."""

from antiphon_shared.bus.reader import Entry
from antiphon_shared.process.errors import AntiphonError

REASON = "reason"
_ORIGINALS_MAX = 1_000
"""Original fields that are set aside one by one; Lua's stack ends the list, the rest share one field."""
_REASON_LENGTH = 2_000


def fields_of(entry: Entry, error: AntiphonError, bytes_max: int) -> list[str | bytes]:
    """Names and values for the stream of rejections.

    What is larger than an event may be is cut: an entry that Redis takes could not be written back whole, as its
    fields grow on the way.
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
