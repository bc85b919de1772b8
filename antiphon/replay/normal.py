"""A recording without the values that differ in every run: ids, times, durations. Pure.

Ids become ordinals (`event-3`; `call-2.1` for the first call of round 2), also within texts. Deadlines become
offsets from the submission; other times, durations and keys that contain ids are omitted.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from antiphon_shared.events import BriefingReady, EventData, ReasoningCompleted
from antiphon_shared.events.step_records import ExchangeRecord, ModelCall
from pydantic import BaseModel

from antiphon.recording.lines import ContentLine, EventLine, Header, Line, RecordLine
from antiphon.replay.requests import content_named_by

EXCHANGE = "model exchange"
_OMITTED = frozenset({"duration_ms", "idempotency_key"})
_RELATIVE_TIMES = frozenset({"deadline", "opened"})
"""Times that depend only on the submission; all others depend on the speed of the run."""
_TOKEN = re.compile(r"[A-Za-z0-9_-]{8,}")
"""The form of an id within a text; a shorter id is recognised only as a whole text."""


class Moment(NamedTuple):
    """An event, or the exchange with a model for it."""

    n: int
    """The number of the event, or of the event that requested the exchange."""
    what: str
    """The event's type, or `model exchange`."""
    round: int | None
    data: Any
    """The data as JSON."""


def moments(lines: Iterable[Line]) -> Iterator[Moment]:
    """Yield the events and exchanges, in order."""
    normal = _Normal()
    for line in lines:
        yield from normal.read(line)


class _Normal:
    """The ordinals of a recording's ids, and the values with their ids replaced."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._events: dict[UUID, EventLine] = {}
        self._contents: dict[str, Any] = {}
        self._briefings = self._blocks = 0
        self._submitted: datetime | None = None

    def read(self, line: Line) -> Iterator[Moment]:
        match line:
            case Header():
                self._submitted = line.submitted
                self._names[line.session_id] = "session"
            case EventLine():
                self._name(line)
                data = line.event.data
                yield Moment(line.n, data.type, _round(data), self._normalized(data))
            case ContentLine():
                self._contents[line.hash] = self._normalized(line.content)
            case RecordLine(record=ExchangeRecord() as record) if record.of in self._events:
                requesting = self._events[record.of]
                for call in record.calls:
                    self._name_blocks(call.reply)
                calls = [self._call(call) for call in record.calls]
                yield Moment(requesting.n, EXCHANGE, _round(requesting.event.data), {"calls": calls})

    def _name(self, line: EventLine) -> None:
        """Name the ids that the event introduces."""
        event, data = line.event, line.event.data
        self._events[event.id] = line
        self._names.setdefault(str(event.id), f"event-{line.n}")
        self._names[line.entry] = f"entry-{line.n}"
        match data:
            case ReasoningCompleted(tool_calls=calls):
                for index, call in enumerate(calls, 1):
                    self._names.setdefault(call.id, f"call-{data.round}.{index}")
            case BriefingReady(briefing=briefing, to_summarize=to_summarize):
                self._briefings += 1
                self._names.setdefault(briefing.digest, f"briefing-{self._briefings}")
                if to_summarize is not None:
                    self._names.setdefault(to_summarize.source, f"text-to-summarize-{self._briefings}")

    def _name_blocks(self, reply: dict[str, Any] | None) -> None:
        """Name the ids of a reply's server-side calls, which the provider's servers ran."""
        blocks = reply.get("content") if reply else None
        for block in blocks if isinstance(blocks, list) else ():
            if isinstance(block, dict) and isinstance(block.get("id"), str):
                self._blocks += 1
                self._names.setdefault(block["id"], f"block-{self._blocks}")

    def _call(self, call: ModelCall) -> dict[str, Any]:
        """Return a call with its whole request, the reply without its id, and the error without headers."""
        request = {name: self._part(value) for name, value in call.request.items()}
        fields: dict[str, Any] = {"request": request}
        if call.reply is not None:
            fields["reply"] = self._normalized(
                {name: value for name, value in call.reply.items() if name != "id"}
            )
        if call.error is not None:
            fields["error"] = self._normalized({"status": call.error.status, "failure": call.error.failure})
        return fields

    def _part(self, value: object) -> Any:
        name = content_named_by(value)
        return self._normalized(value) if name is None else self._contents.get(name, value)

    def _normalized(self, value: object) -> Any:
        match value:
            case str():
                return self._text(value)
            case BaseModel():
                return self._fields(value)
            case Mapping():
                return {self._text(str(key)): self._normalized(one) for key, one in value.items()}
            case list() | tuple():
                return [self._normalized(one) for one in value]
            case UUID():
                return self._names.get(str(value), "another event")
            case datetime():
                return "some time"
            case _:
                return value

    def _fields(self, value: BaseModel) -> dict[str, Any]:
        fields = {}
        for name in type(value).model_fields:
            field = getattr(value, name)
            if name in _OMITTED:
                continue
            if isinstance(field, datetime) and name in _RELATIVE_TIMES and self._submitted:
                fields[name] = f"{(field - self._submitted).total_seconds():+.3f} s"
            else:
                fields[name] = self._normalized(field)
        return fields

    def _text(self, text: str) -> str:
        if text in self._names:
            return self._names[text]
        return _TOKEN.sub(lambda found: self._names.get(found[0], found[0]), text)


def _round(data: EventData) -> int | None:
    round = getattr(data, "round", None)
    return round if isinstance(round, int) else None
