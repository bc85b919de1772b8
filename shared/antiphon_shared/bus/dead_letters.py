"""Dead letters: messages that were set aside after their last delivery, and can be shown, requeued or dropped."""

import asyncio
import re
from datetime import UTC, datetime
from typing import Literal

from pydantic import Field

from antiphon_shared.bus import scripts
from antiphon_shared.bus.handling import Delivery
from antiphon_shared.bus.reader import Entry
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.signing import SIGNATURE
from antiphon_shared.bus.wire import Argument
from antiphon_shared.events import Component
from antiphon_shared.process.errors import AntiphonError, ErrorInfo, NewerFormat, UnreadableEvent
from antiphon_shared.process.stream_ids import UNIX_MS_MAX, milliseconds_of
from antiphon_shared.stored import Kind, fields_of
from antiphon_shared.values import Value

_COUNT_MAX = 2**53
_SIGNATURE_LENGTH = 200
_ID = re.compile(r"([0-9]{1,4})/([0-9]{1,20}-[0-9]{1,20})")


class Letter(Value):
    """The description of a dead letter. Its event is stored next to it, byte for byte."""

    component: Component | Literal["unknown"]
    entry: str
    log: str = ""
    session_id: str = ""
    event_type: str = ""
    attempt: int = Field(default=0, le=_COUNT_MAX)
    deliveries: int = Field(default=1, le=_COUNT_MAX)
    error: ErrorInfo
    buried: datetime
    signature: str = ""
    """The signature of the event in its inbox, with which it is requeued."""

    @classmethod
    def of(
        cls, entry: Entry, component: Component, delivery: Delivery | None, error: ErrorInfo, now: datetime
    ) -> "Letter":
        """Return the letter of a message; it can be requeued if this or a later release can read its event."""
        letter = cls(
            component=component, entry=entry.id, deliveries=entry.deliveries, error=error, buried=now
        )
        if error.code == NewerFormat.code:
            event = fields_of(entry.fields.get(b"event", b""))
            found: dict[str, str | int] = {
                "log": _text(entry.fields.get(b"log", b"")),
                "session_id": str(event.get("subject", "")),
                "event_type": str(event.get("type", "")),
            }
        elif delivery is not None:
            found = {
                "log": delivery.log_entry,
                "session_id": delivery.event.subject,
                "event_type": delivery.event.type,
                "attempt": delivery.attempt,
            }
        else:
            return letter
        signature = _text(entry.fields.get(SIGNATURE, b"")[:_SIGNATURE_LENGTH])
        return letter.model_copy(update={**found, "signature": signature})


LETTER: Kind[Letter] = Kind("a dead letter", Letter)


class DeadLetters:
    """The dead letters of every partition. A letter's id is `partition/entry`."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def list(self, limit: int = 100) -> list[tuple[str, Letter]]:
        """Return the newest letters with their ids, at most `limit` per partition."""
        letters = []
        for partition in range(self._bus.keys.partitions):
            entries = await self._bus.batcher.submit(
                "XREVRANGE", self._bus.keys.dead(partition), "+", "-", "COUNT", limit
            )
            letters += [
                (f"{partition}/{entry.decode()}", _letter(entry, fields)) for entry, fields in entries
            ]
        return letters

    async def count(self) -> int:
        lengths: list[int] = await asyncio.gather(
            *(
                self._bus.batcher.submit("XLEN", self._bus.keys.dead(partition))
                for partition in range(self._bus.keys.partitions)
            )
        )
        return sum(lengths)

    async def show(self, letter_id: str) -> tuple[Letter, bytes]:
        """Return one letter and its event as received. Raises AntiphonError if it does not exist."""
        key, entry, _ = self._position(letter_id)
        entries = await self._bus.batcher.submit("XRANGE", key, entry, entry)
        if not entries:
            raise _missing(letter_id)
        (entry_id, fields) = entries[0]
        return _letter(entry_id, fields), fields.get(b"event", b"")

    async def requeue(self, letter_id: str) -> None:
        """Requeue the message into its inbox with its counts reset. Raises AntiphonError if that is impossible."""
        key, entry, partition = self._position(letter_id)
        letter, event = await self.show(letter_id)
        if not letter.event_type or letter.component == "unknown":
            raise AntiphonError(
                f"dead letter {letter_id} does not contain a readable event.",
                hint="It can be shown and dropped, not requeued.",
            )
        inbox = self._bus.keys.inbox(partition, letter.component)
        signature = [letter.signature] if letter.signature else []
        arguments: list[Argument] = [entry, event, letter.log, *signature]
        moved = await self._bus.batcher.run(scripts.REQUEUE, [key, inbox], arguments)
        if not moved:
            raise AntiphonError(f"dead letter {letter_id} was removed in the meantime.")

    async def drop(self, letter_id: str) -> None:
        """Delete a letter permanently. Raises AntiphonError if it does not exist."""
        key, entry, _ = self._position(letter_id)
        if not await self._bus.batcher.submit("XDEL", key, entry):
            raise _missing(letter_id)

    def _position(self, letter_id: str) -> tuple[str, str, int]:
        match = _ID.fullmatch(letter_id)
        partition, entry = match.groups() if match else ("0", "")
        is_valid = all(int(number) < 2**64 for number in entry.split("-")) if entry else False
        if not is_valid or int(partition) >= self._bus.keys.partitions:
            raise AntiphonError(
                f"{letter_id!r} is not the id of a dead letter.", hint="Use an id such as 0/1795244309110-0."
            )
        return self._bus.keys.dead(int(partition)), entry, int(partition)


def _missing(letter_id: str) -> AntiphonError:
    hint = "`antiphon dead list` shows the dead letters."
    return AntiphonError(f"dead letter {letter_id} does not exist.", hint=hint)


def _letter(entry: bytes, fields: dict[bytes, bytes]) -> Letter:
    """Return the letter of an entry; for an entry of a foreign client, a letter that reports it."""
    try:
        return LETTER.read(fields.get(b"letter", b""))
    except UnreadableEvent:
        error = ErrorInfo(code="unreadable_letter", message="This entry was not written by the bus.")
        added = datetime.fromtimestamp(min(milliseconds_of(entry.decode()), UNIX_MS_MAX) / 1000, UTC)
        return Letter(component="unknown", entry=entry.decode(), error=error, buried=added)


def _text(raw: bytes) -> str:
    return raw.decode(errors="replace")
