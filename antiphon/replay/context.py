"""The briefing of each round of a recorded session, and the sources of the answer that it contained. Pure.

A briefing's content is shown as recorded, even if today's code would write another. The statements of facts come
from today's filing, and are omitted if today's code files other facts.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from antiphon_shared.events import (
    AssemblyRequested,
    BriefingReady,
    BriefingRequested,
    ReasoningCompleted,
    ReasoningRequested,
    ResponseReady,
)
from antiphon_shared.events.session import Source
from antiphon_shared.events.step_records import BriefingRecord, ForkRecord
from antiphon_shared.memory.briefing import Level, Outline, ids_in, number_of
from antiphon_shared.memory.session_memory import Memory
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.process.ids import child_id

from antiphon.recording.lines import EventLine, Line, RecordLine
from antiphon.replay.checks.briefings import Briefings
from antiphon.replay.steps.redelivery import redelivered
from antiphon.replay.steps.replay_state import RecordingContent, Step

_RANGE = re.compile(r"F(\d{1,9})(?:-F(\d{1,9}))?", re.ASCII)
_FACTS_MAX = 10_000_000
Shown = Literal["whole", "shortened", "absent"]


@dataclass(frozen=True, slots=True)
class BriefingFacts:
    """The facts in one briefing."""

    event: int
    """The number of the `briefing.ready` event."""
    round: int
    level: Level
    tokens: int
    """The estimated size of the briefing."""
    facts: int
    """The number of all facts at that time."""
    shown: tuple[str, ...]
    """The ids of the facts in the briefing, whole or shortened."""
    shortened: tuple[str, ...]
    missed: tuple[str, ...]
    """The ids of facts that are close to the question, but were omitted."""
    new: tuple[str, ...]
    """The facts shown for the first time."""
    dropped: tuple[str, ...]
    """The facts shown in the previous briefing, but not in this one."""
    back: tuple[str, ...]
    """The facts shown again after they were missing from the previous briefing."""
    shortened_now: tuple[str, ...]
    """The facts shown whole in the previous briefing and shortened in this one."""
    summaries: int | None = None
    """The number of available summaries; None if today's code files other facts."""
    omitted: tuple[str, ...] | None = None
    """The ids of the facts that are not in the briefing; None if today's code files other facts."""

    @property
    def retained(self) -> tuple[str, ...]:
        """Return the facts that the previous briefing also showed."""
        others = {*self.new, *self.back}
        return tuple(id for id in self.shown if id not in others)


@dataclass(frozen=True, slots=True)
class AnswerSource:
    """A source of the final answer."""

    source: Source
    shown: Shown
    """The form in which the answer's briefing showed it."""


@dataclass(frozen=True)
class Context:
    """A session's briefings, and the sources of its answer."""

    session_id: str
    briefings: tuple[BriefingFacts, ...]
    answered_from: int | None = None
    """The event number of the briefing behind the final answer; None if no model wrote it."""
    sources: tuple[AnswerSource, ...] = ()
    facts: dict[str, str] = field(default_factory=dict)
    """The statement of each fact, by id."""


def context(lines: Iterable[Line]) -> Context:
    """Return the briefings of a recording. Raises UnreadableEvent."""
    reader = _Reader()
    for line in lines:
        reader.read(line)
    return reader.context()


class _Reader:
    """A reader of a recording, line by line."""

    def __init__(self) -> None:
        self._known, self._session_index = RecordingContent(), Briefings()
        self._briefings: list[BriefingFacts] = []
        self._seen: set[str] = set()
        self._last: Outline | None = None
        self._session_id = ""
        self._has_same_facts = True
        self._request: AssemblyRequested | None = None
        self._response: ResponseReady | None = None

    def read(self, line: Line) -> None:
        match line:
            case EventLine():
                self._session_id = self._session_id or line.event.subject
                self._known.add(line)
                if isinstance(line.event.data, AssemblyRequested):
                    self._request = line.event.data
                elif isinstance(line.event.data, ResponseReady):
                    self._response = line.event.data
            case RecordLine(record=BriefingRecord() as record):
                self._add_briefing(record)
            case RecordLine(record=ForkRecord() as record):
                for one in record.redelivered:
                    redelivered(one, self._known)

    def context(self) -> Context:
        answer_event = self._answer_briefing()
        outline = next((one for one in self._briefings if one.event == answer_event), None)
        sources = self._response.sources if self._response else ()
        memory = self._memory()
        statements = {fact.id: fact.statement for fact in memory.facts.values()} if memory else {}
        return Context(
            session_id=self._session_id,
            briefings=tuple(self._briefings),
            answered_from=answer_event,
            sources=tuple(AnswerSource(source, _form_in_briefing(source.id, outline)) for source in sources),
            facts=statements,
        )

    def _add_briefing(self, record: BriefingRecord) -> None:
        line = self._known.lines.get(record.of)
        ready = self._known.lines.get(child_id(record.of, 0))
        if line is None or ready is None:
            raise UnreadableEvent(f"the briefing for event {record.of} is missing.")
        request, ready_data = line.event.data, ready.event.data
        if not isinstance(request, BriefingRequested) or not isinstance(ready_data, BriefingReady):
            raise UnreadableEvent(f"event {ready.n} is not a briefing.")
        self._file(Step(line, record, (ready,)), ready_data.briefing)
        memory, outline, before = self._memory(), ready_data.briefing, self._last
        shown, shortened = _ids_in(outline.shown), set(_ids_in(outline.shortened))
        now = set(shown)
        then = set(_ids_in(before.shown)) if before else set()
        were_complete = then - set(_ids_in(before.shortened)) if before else set()
        self._briefings.append(
            BriefingFacts(
                event=ready.n,
                round=ready_data.round,
                level=request.level,
                tokens=outline.tokens,
                facts=len(shown) + outline.omitted,
                shown=shown,
                shortened=tuple(id for id in shown if id in shortened),
                missed=outline.missed,
                new=tuple(id for id in shown if id not in self._seen),
                dropped=_sorted(then - now),
                back=tuple(id for id in shown if id in self._seen and id not in then),
                shortened_now=tuple(id for id in shown if id in shortened and id in were_complete),
                summaries=len(memory.summaries) if memory else None,
                omitted=tuple(id for id in memory.facts if id not in now) if memory else None,
            )
        )
        self._seen.update(shown)
        self._last = outline

    def _file(self, step: Step, outline: Outline) -> None:
        """File the round with today's code, and note whether its memory has the same facts as the briefing."""
        if not self._has_same_facts:
            return
        try:
            self._session_index.redo(step, self._known)
            memory = self._session_index.memory
        except UnreadableEvent:
            self._has_same_facts = False
            return
        shown, facts = _ids_in(outline.shown), memory.facts
        is_complete = len(facts) == len(shown) + outline.omitted
        self._has_same_facts = is_complete and facts.keys() >= set(shown)

    def _memory(self) -> Memory | None:
        return self._session_index.memory if self._has_same_facts else None

    def _answer_briefing(self) -> int | None:
        """Return the event number of the briefing that led to the final reply; None without such a briefing."""
        if self._request is None or self._request.reply is None:
            return None
        reply = self._known.by_entry.get(self._request.reply)
        if reply is None or not isinstance(reply.event.data, ReasoningCompleted):
            return None
        request = self._cause(reply, ReasoningRequested)
        briefing = request and self._cause(request, BriefingReady)
        return briefing.n if briefing else None

    def _cause(self, line: EventLine, kind: type[Any]) -> EventLine | None:
        cause = self._known.lines.get(line.event.causationid) if line.event.causationid else None
        return cause if cause is not None and isinstance(cause.event.data, kind) else None


def _form_in_briefing(id: str, briefed: BriefingFacts | None) -> Shown:
    if briefed is None or id not in briefed.shown:
        return "absent"
    return "shortened" if id in briefed.shortened else "whole"


def _ids_in(ranges: Sequence[str]) -> tuple[str, ...]:
    """Return the ids in ranges of an outline. Raises UnreadableEvent for an invalid or too large range."""
    bounds = [_RANGE.fullmatch(one) for one in ranges]
    if sum(int(one[2] or one[1]) - int(one[1]) if one else _FACTS_MAX for one in bounds) >= _FACTS_MAX:
        raise UnreadableEvent(f"the fact ids of a briefing are invalid: {', '.join(ranges)[:200]!r}.")
    return ids_in(ranges)


def _sorted(ids: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(ids, key=number_of))
