"""The coordinator's document of a session, assembled from the records of a recording. Pure."""

from typing import Any

from antiphon_shared.events.step_records import DecisionRecord, ForkRecord
from antiphon_shared.process.errors import NewerFormat

from coordinator.document import SESSION, document_version, merged
from coordinator.session import Session

_CHANGES_MAX = 100


class Document:
    """The recorded document of a session; each record contains the fields that it has changed.

    A record contains the version of the document. So the upcasters of `SESSION` convert a document of an earlier
    version, as for a coordinator that reads it from Redis.
    """

    def __init__(self) -> None:
        self._fields: dict[str, Any] = {}
        self._version = 1
        self._changes: list[dict[str, Any]] = []
        """The newest changes, which are merged when the document is read; this is not needed if decisions are equal."""

    @property
    def is_empty(self) -> bool:
        return not self._merged()

    def take(self, record: DecisionRecord | ForkRecord) -> None:
        """Add the changes of a record. Raises UnreadableEvent."""
        written = record.document_version
        if written > SESSION.version:
            raise NewerFormat(SESSION.name, written, SESSION.version)
        if written > self._version:
            if fields := self._merged():
                self._fields = SESSION.carried(fields, self._version, written)
            self._version = written
        self._changes.append(record.changed)
        if len(self._changes) > _CHANGES_MAX:
            self._merged()

    def session(self) -> Session:
        """Return the document as a session of today's code. Raises UnreadableEvent, which names the field."""
        return SESSION.read_fields(self._merged(), self._version)

    def _merged(self) -> dict[str, Any]:
        for changed in self._changes:
            self._fields = merged(self._fields, changed, self._version)
        self._changes.clear()
        return self._fields


def is_of_today(record: DecisionRecord | ForkRecord, session: Session) -> bool:
    """Return whether the record has the document version that today's code writes for the session."""
    return record.document_version == document_version(session.format)
