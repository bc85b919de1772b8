"""The coordinator's document of a session, put together from the records of a recording. Pure."""

from typing import Any

from antiphon_shared.events.step_records import DecisionRecord, ForkRecord
from antiphon_shared.process.errors import NewerFormat

from coordinator.document import SESSION, document_version, merged
from coordinator.session import Session


class Document:
    """One session's document as it was recorded: each record holds the fields that it has changed.

    A record names the version of the document that its fields are of, so a document of an earlier version is carried
    over by the upcasters of `SESSION`, as one that a coordinator reads from Redis is.
    """

    def __init__(self) -> None:
        self._fields: dict[str, Any] = {}
        self._version = 1

    @property
    def is_empty(self) -> bool:
        return not self._fields

    def take(self, record: DecisionRecord | ForkRecord) -> None:
        """Take in what a record has changed. Raises UnreadableEvent."""
        written = record.document_version
        if written > SESSION.version:
            raise NewerFormat(SESSION.name, written, SESSION.version)
        if written > self._version and self._fields:
            self._fields = SESSION.carried(self._fields, self._version, written)
        self._version = max(written, self._version)
        self._fields = merged(self._fields, record.changed, self._version)

    def session(self) -> Session:
        """Return the document as today's code reads it. Raises UnreadableEvent, which names the field."""
        return SESSION.read_fields(self._fields, self._version)


def is_of_today(record: DecisionRecord | ForkRecord, session: Session) -> bool:
    """Return whether the record's fields are of the version that today's code writes for the session."""
    return record.document_version == document_version(session.format)
