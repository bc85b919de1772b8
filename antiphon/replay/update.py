"""The rewriting of a recording by today's code, from the same replies, results, client messages and times.

Each step is repeated on today's inputs; its outputs replace the recorded ones, and are the inputs of later steps.
Messages of people, models and tools stay, even if today's request for them has another wording.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from importlib.metadata import version
from typing import Any
from uuid import UUID

from antiphon_shared.events import (
    ApprovalRequested,
    EventData,
    QuestionAsked,
    ReasoningRequested,
    SummaryRequested,
    ToolsRequested,
)
from antiphon_shared.events.step_records import AnyRecord, BatchRecord, DecisionRecord, ExchangeRecord
from antiphon_shared.process.errors import AntiphonError
from pydantic_core import to_json

from antiphon.recording.hashes import content_hash, prompt_hashes, schemas_hash
from antiphon.recording.lines import ContentLine, End, EventLine, Header, Line, RecordLine
from antiphon.replay.differences import ABSENT
from antiphon.replay.requests import content_named_by
from antiphon.replay.steps.repeat import Replay
from antiphon.replay.steps.replay_state import RepeatedStep, Step, output_ids
from reasoning_engine.exchange_record import SHARED

_COMPLETE_CALL = re.compile(r"calls\[\d+\]")


class DecidesDifferently(AntiphonError):
    """Today's code requests something for which the recording has no answer."""

    code = "takes_another_way"

    def __init__(self, event: int, message: str, hint: str = "") -> None:
        anew = f"Record the session again, or continue it live with `antiphon replay fork --from {event}`."
        super().__init__(
            f"The current code decides differently at event {event}: {message}", hint=hint or anew
        )
        self.event = event


def updated(lines: Iterable[Line]) -> Iterator[Line]:
    """Yield the lines as today's code writes them. Raises DecidesDifferently and UnreadableEvent."""
    update = _Update()
    for line in lines:
        yield from update.read(line)
    update.replay.report()  # raises when the recording is not whole


class _Update:
    """The state of an update; an event waits until the record of its step has been read."""

    def __init__(self) -> None:
        self.replay = Replay(follows_today=True)
        self._waiting: deque[EventLine] = deque()
        self._numbers: dict[UUID, int] = {}
        """The numbers of all events, in the order in which they were read, from 1."""
        self._final = 0
        self._today: dict[UUID, EventLine] = {}
        self._named_contents: set[str] = set()

    def read(self, line: Line) -> Iterator[Line]:
        """Add one line; yield the lines that are final with it."""
        self.replay.read(line)
        if self.replay.failed:
            raise DecidesDifferently(
                self.replay.newest_step, f"it raises {self.replay.failed}.", "Repair it first."
            )
        match line:
            case Header():
                today = {
                    "antiphon": version("antiphon"),
                    "schemas": schemas_hash(),
                    "prompts": prompt_hashes(),
                }
                yield line.model_copy(update=today)
            case ContentLine():
                pass  # it is written before the first record that names it
            case EventLine():
                self._waiting.append(line)
                self._numbers[line.event.id] = self._final + len(self._waiting)
            case RecordLine():
                yield from self._step(line.record)
            case End():
                yield from map(self._today_of, self._waiting)
                yield line
            case _:
                yield line

    def _step(self, record: AnyRecord) -> Iterator[Line]:
        """Yield the events up to the step's last one, and its record; today's, if the step was repeated."""
        last = self._last(record)
        if self.replay.repeated is not None:
            record = self._redone(*self.replay.repeated) or record
        # Events and records are in the order of commits, so events before those of the step are final too.
        while self._waiting and self._final < last:
            self._final += 1
            yield self._today_of(self._waiting.popleft())
        yield from self._record(record)

    def _last(self, record: AnyRecord) -> int:
        """Return the number of the last event of the step."""
        return max(self._numbers[id] for id in (record.of, *output_ids(record)))

    def _redone(self, step: Step, redone: RepeatedStep) -> AnyRecord | None:
        _check_same_path(step, redone)
        for line, data in zip(step.outputs, redone.outputs, strict=True):
            if line.event.data != data:
                today = replace(line, event=line.event.model_copy(update={"data": data}))
                self._today[line.event.id] = today
                self.replay.content.add(today)
        if redone.record is None:
            return None
        today_record: Any = redone.record.model_copy(update={"outputs": step.record.outputs})
        return today_record  # type: ignore[no-any-return]  # of the same kind as the recorded one

    def _record(self, record: AnyRecord) -> Iterator[Line]:
        """Yield the contents that no earlier record names, then the record."""
        if isinstance(record, ExchangeRecord):
            record, contents = _split_contents(record)
            for name in record.contents:
                content = contents.get(name) or self.replay.content.contents.get(name)
                if content is not None and name not in self._named_contents:
                    self._named_contents.add(name)
                    yield ContentLine(hash=name, content=content)
        yield RecordLine(record=record)

    def _today_of(self, line: EventLine) -> EventLine:
        return self._today.pop(line.event.id, line)


def _check_same_path(step: Step, redone: RepeatedStep) -> None:
    """Raise DecidesDifferently when the next recorded lines do not follow from the step's outputs today."""
    event = step.line.n
    then, now = step.sent, redone.outputs
    if [one.type for one in then] != [one.type for one in now]:
        raise DecidesDifferently(event, f"it sends {_types(now)} instead of {_types(then)}.")
    for before, today in zip(then, now, strict=True):
        if _request_of(before) != _request_of(today):
            raise DecidesDifferently(event, f"its {today.type} makes another request.")
    match step.record, redone.record:
        case DecisionRecord(closes=True), DecisionRecord(closes=False):
            raise DecidesDifferently(event, "it continues, although the session had ended.")
        case DecisionRecord(closes=False), DecisionRecord(closes=True):
            raise DecidesDifferently(event, "it ends the session, although the session continued.")
        case BatchRecord(), BatchRecord() if now[0] is then[0]:  # the repeated batch did not end
            raise DecidesDifferently(event, "the calls of its batch run in another order than recorded.")
    for part, difference in redone.others:
        if part == "request" and difference.expected == ABSENT and _COMPLETE_CALL.fullmatch(difference.path):
            raise DecidesDifferently(event, "it makes one more model call than the recording has replies.")


def _request_of(data: EventData) -> Any:
    """Return the part of a request that its recorded answer depends on: calls, a model, facts."""
    match data:
        case ToolsRequested(calls=calls):
            return [(call.id, call.name, call.refused is None, call.approval, call.answer) for call in calls]
        case ReasoningRequested(round=round, model=model):
            return round, model
        case SummaryRequested(facts=facts):
            return facts
        case ApprovalRequested(calls=calls):
            return [call.id for call in calls]
        case QuestionAsked(questions=questions):
            return [question.id for question in questions]
        case _:
            return None


def _types(outputs: Iterable[EventData]) -> str:
    return ", ".join(one.type for one in outputs) or "nothing"


def _split_contents(record: ExchangeRecord) -> tuple[ExchangeRecord, dict[str, Any]]:
    """Return the record with hashes in place of the large shared parts of its requests, and those parts."""
    contents: dict[str, Any] = {}
    hashes: dict[str, None] = {}
    calls = []
    for call in record.calls:
        request = dict(call.request)
        for part in SHARED:
            if part not in request:
                continue
            name = content_named_by(request[part])
            if name is None:
                name = content_hash(to_json(request[part]))
                contents[name], request[part] = request[part], {"$content": name}
            hashes[name] = None
        calls.append(call.model_copy(update={"request": request}))
    return record.model_copy(update={"calls": tuple(calls), "contents": tuple(hashes)}), contents
