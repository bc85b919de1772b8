"""The events that follow from one event, with ids and envelopes derived from it."""

from datetime import datetime

from antiphon_shared.bus.handling import Send
from antiphon_shared.events import AnyEvent, Component, EventData
from antiphon_shared.events.codec import ENVELOPES, encode
from antiphon_shared.formats import as_json
from antiphon_shared.process.ids import child_id


class Replies:
    """The events that follow from one event, serialized without building them; the same bytes as `reply` gives.

    The envelope needs no validation, as all its fields come from the validated parent.
    """

    def __init__(self, parent: AnyEvent, source: Component, now: datetime) -> None:
        self.parent, self._now = parent, now
        self._source: Component = source
        time = now.isoformat().replace("+00:00", "Z")
        trace = "" if parent.traceparent is None else f'"traceparent":"{parent.traceparent}",'
        format = f'"format":{parent.format},' if parent.format > 1 else ""
        self._around_data = (
            f'","subject":"{parent.subject}","time":"{time}","datacontenttype":"application/json",'
            f'"correlationid":"{parent.correlationid}","causationid":"{parent.id}",{trace}{format}"data":'
        )

    def sent(self, n: int, send: Send) -> bytes:
        """Return the n-th event, which goes into another session."""
        event = reply(self.parent, n, send.event, self._source, self._now)
        return encode(event.model_copy(update={"subject": send.session_id}))

    def encoded(self, n: int, data: EventData) -> bytes:
        """Return the n-th event, serialized as `encode` does."""
        head = (
            f'{{"specversion":"1.0","id":"{child_id(self.parent.id, n)}","source":"{self._source}","type":"'
        )
        written = as_json(data, self.parent.format, exclude_none=True)
        return (head + data.type + self._around_data).encode() + written + b"}"


def reply(parent: AnyEvent, n: int, data: EventData, source: str, now: datetime) -> AnyEvent:
    """Return the n-th event that follows from `parent`."""
    return ENVELOPES[type(data)](
        id=child_id(parent.id, n),
        source=source,
        type=data.type,
        subject=parent.subject,
        time=now,
        correlationid=parent.correlationid,
        causationid=parent.id,
        traceparent=parent.traceparent,
        format=parent.format,
        data=data,
    )
