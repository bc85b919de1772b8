"""Deliveries, read from the entries of an inbox."""

import re
from typing import TYPE_CHECKING

from antiphon_shared.bus.handling import Delivery
from antiphon_shared.bus.signing import Signer, verified_event
from antiphon_shared.events import decode
from antiphon_shared.process.errors import UnreadableEvent

if TYPE_CHECKING:
    from antiphon_shared.bus.reader import Entry

_LOG_ID = re.compile(rb"\d{1,20}-\d{1,20}")
_COUNT = re.compile(rb"\d{1,6}")


def read_delivery(entry: "Entry", bytes_max: int, signer: Signer | None = None) -> Delivery:
    """Return the delivery in an entry of an inbox. Pure. Raises UnreadableEvent, which names the field.

    Args:
        bytes_max: the maximum size of the event.
        signer: verifies the event; None if messages are not signed.
    """
    raw, log_id = entry.fields.get(b"event"), entry.fields.get(b"log")
    if raw is None or log_id is None:
        raise UnreadableEvent("an entry of an inbox needs the fields `event` and `log`.")
    if len(raw) > bytes_max:
        raise UnreadableEvent(f"event: {len(raw)} bytes, more than the limit of {bytes_max}.")
    verified_event(signer, entry.stream, entry.fields)
    if not _LOG_ID.fullmatch(log_id):
        raise UnreadableEvent("log: not the id of an entry in the session's log.")
    count = entry.fields.get(b"attempt", b"0")
    if not _COUNT.fullmatch(count):
        raise UnreadableEvent("attempt: not a small whole number.")
    attempt = int(count)
    is_begun = entry.is_taken_over or attempt > 0 or b"again" in entry.fields
    return Delivery(decode(raw), log_id.decode(), attempt, redelivered=is_begun)
