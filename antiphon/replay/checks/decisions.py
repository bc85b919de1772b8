"""The coordinator's decisions, repeated from the recording and compared with it.

This file compares the state, the timers and the effects of a decision; `run_outputs.py` compares the messages to other
sessions, and `replay/steps/findings.py` the emitted events.
"""

from typing import Any

from antiphon_shared.breakers.outages import Outages
from antiphon_shared.events import (
    AnyEvent,
    ComponentFailed,
    QuerySubmitted,
    ReasoningCompleted,
    ResponseReady,
    SessionOpened,
)
from antiphon_shared.events.codec import explain
from antiphon_shared.events.step_records import DecisionRecord, ForkRecord, MaterialRead
from antiphon_shared.output.schema import OutputSchema
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.tools.calls import ToolCall
from pydantic import ValidationError

from antiphon.recording.lines import EventLine
from antiphon.recording.session_document import Document, is_of_today
from antiphon.replay.checks.assemblies import Assemblies
from antiphon.replay.checks.run_outputs import send_differences
from antiphon.replay.differences import Difference, differences
from antiphon.replay.steps.replay_state import RecordingContent, RepeatedStep, Step
from coordinator import repetitions
from coordinator.decide import decide
from coordinator.decision import Decision, Inputs
from coordinator.dispatchers import lacked_dispatcher
from coordinator.document import changes
from coordinator.endings import has_parent, notify_parent
from coordinator.lookup import needed_event_id, needs_query, schema_of
from coordinator.opening import end_unopened, open_session, recorded_opening
from coordinator.record import record_of
from coordinator.session import PARTS, Session
from coordinator.session_parts import replace

_UNREAD = "{}; only its events were compared, for want of an upcaster (SESSION in coordinator/document.py)"


class _AnswerUnknown(UnreadableEvent):
    """The coordinator's own answer cannot be composed again; later decisions can still be repeated."""


class Decisions:
    """The repetition of a session's decisions on its document.

    Each decision is made on the recorded document, so that one divergence causes no others; with `follows_today`, on
    the document of today's code. That is also used if today's code cannot read the recorded document: as long as the
    session takes the recorded course, the events are compared, but the decisions do not count as checked.

    `assemblies` has the material of the coordinator's own answers.
    """

    def __init__(self, follows_today: bool = False, assemblies: Assemblies | None = None) -> None:
        self._assemblies = assemblies
        self._follows_today = follows_today
        self.session: Session | None = None
        """The session as recorded after the last decision."""
        self.lacks = ""
        """The reason why a recorded decision is unknown, so that no later decision can be repeated."""
        self.takes_answers = False
        """Whether the coordinator's own answer was taken from the recording, because there are no `assemblies`."""
        self._unread = ""
        """The reason why today's code can no longer read the recorded document."""
        self._document = Document()

    @property
    def can_tell_effect(self) -> bool:
        """Return whether the effect of an event without a decision can be found out."""
        return self.session is not None and not self.lacks

    def redo(self, step: Step, content: RecordingContent) -> RepeatedStep:
        """Repeat a decision with today's code. Raises UnreadableEvent if this or an earlier one lacks an input."""
        if self.lacks:
            raise UnreadableEvent(f"an earlier decision is not known: {self.lacks}")
        assert isinstance(step.record, DecisionRecord)
        try:
            return self._redo(step, step.record, content)
        except _AnswerUnknown:
            raise
        except UnreadableEvent as error:
            self.lacks = error.message
            raise

    def _redo(self, step: Step, record: DecisionRecord, content: RecordingContent) -> RepeatedStep:
        if not self._unread:
            self._document.take(record)
        before, decision = self.session, self._decide(step, record, content)
        if decision.own_answer_reason:
            return RepeatedStep(
                (self._own_answer(step, record, decision, content),), unchecked=self._unchecked
            )
        if before is not None and decision.closes and has_parent(before):
            question = content.data(before.query.question, QuerySubmitted)
            decision = notify_parent(decision, step.line.event.data, question)
        if decision.answer is None and not self._unread and _is_recorded(record, before, decision):
            self.session = decision.session
            return RepeatedStep(decision.commands, (), record)
        today = record_of(step.line.event, before, decision)
        changed, self.session = self._changed(record, today, before, decision.session)
        others = [
            *_differences_of("state", changed, today.changed),
            *_differences_of("timers", _timers(record), _timers(today)),
            *_differences_of("effects", _effects(record), _effects(today)),
        ]
        answer = () if decision.answer is None else (ResponseReady(**decision.answer.model_dump()),)
        outputs = (*answer, *decision.commands)
        if self._unread and [one.type for one in outputs] != [one.type for one in step.sent]:
            self.lacks = self._unread  # from here on the two sessions take different courses
        sent = send_differences(record.sends, today.sends, outputs)
        return RepeatedStep(outputs, tuple(others), today, sends=sent, unchecked=self._unchecked)

    @property
    def _unchecked(self) -> str:
        return _UNREAD.format(self._unread) if self._unread else ""

    def _changed(
        self, record: DecisionRecord, today: DecisionRecord, before: Session | None, after: Session
    ) -> tuple[dict[str, Any], Session]:
        """Return the recorded change in today's form, and the session to continue with.

        If the recorded document is unreadable, both are those of today's code.
        """
        if self._unread:
            return today.changed, after
        if self._follows_today or (is_of_today(record, after) and record.changed == today.changed):
            return record.changed, after
        try:
            recorded = self._document.session()
        except UnreadableEvent as error:
            self._unread = error.message.rstrip(".")
            return today.changed, after
        changed = record.changed if is_of_today(record, after) else changes(before, recorded)
        return changed, after if changed == today.changed else recorded

    def _own_answer(
        self, step: Step, record: DecisionRecord, decision: Decision, content: RecordingContent
    ) -> ResponseReady:
        """Return the coordinator's own answer with today's code. Raises _AnswerUnknown."""
        if self._assemblies is None:  # answers are not repeated: only their existence is compared
            answer = step.output(ResponseReady)
            if answer is None:
                raise _AnswerUnknown("the findings of the session are unknown.")
            self.takes_answers = True
            return answer
        try:
            read = record.read or MaterialRead()
            return self._assemblies.own_answer(step.line, decision, read, content)
        except UnreadableEvent as error:
            raise _AnswerUnknown(error.message) from None

    def take(self, record: DecisionRecord) -> None:
        """Continue with the recorded document if today's code has no document."""
        try:
            self._document.take(record)
            self.session = self._document.session()
        except UnreadableEvent as error:
            self.lacks = error.message

    def forked(self, record: ForkRecord) -> None:
        """Apply the changes that a fork made to the document."""
        try:
            then = self._document.session() if self._follows_today and self.session else None
            self._document.take(record)
            recorded = self._document.session()
        except UnreadableEvent as error:
            self.lacks = f"what the fork has changed cannot be read: {error.message}"
            return
        if then is None or self.session is None:
            self.session = recorded
        else:
            self.session = _with_same_changes(self.session, then, recorded)

    def is_ignored(self, line: EventLine, content: RecordingContent) -> bool:
        """Return whether an event has no effect on the session in its current state."""
        assert self.session is not None, "`can_tell_effect` was checked"
        return not has_effect(self.session, line, content)

    def _decide(self, step: Step, record: DecisionRecord, content: RecordingContent) -> Decision:
        event, entry = step.line.event, step.line.entry
        if self.session is not None:
            outages = self._outages(record, self.session)
            is_served = not lacked_dispatcher(step.sent)
            return decide_again(self.session, step.line, content, outages, is_served=is_served)
        match event.data:
            case ComponentFailed() as failure:
                return end_unopened(event, entry, failure)
            case QuerySubmitted() as query:
                opened = step.output(SessionOpened)
                if opened is None:
                    raise UnreadableEvent(f"no {SessionOpened.type} came of event {step.line.n}.")
                catalogue = content.catalogue(opened.catalogue)
                return open_session(event, entry, query, recorded_opening(opened, step.sent), catalogue)
            case _:
                raise UnreadableEvent(f"event {step.line.n} was decided on before the session was opened.")

    def _outages(self, record: DecisionRecord, before: Session) -> Outages:
        """Return the outages at the time of the decision, an input. Raises UnreadableEvent."""
        if not (is_of_today(record, before) or self._unread):
            return self._document.session().models.outages
        changed = record.changed.get("models", {}) if record.document_version > 1 else record.changed
        if "outages" not in changed:
            return before.models.outages
        try:
            return Outages.model_validate(changed["outages"])
        except ValidationError as error:
            raise UnreadableEvent(f"the recorded outages are unreadable: {explain(error)}") from None


def decide_again(
    session: Session, line: EventLine, content: RecordingContent, outages: Outages, *, is_served: bool = True
) -> Decision:
    """Return today's decision on an event, with the recorded inputs. Raises UnreadableEvent if an input is missing."""
    inputs = Inputs(
        content.catalogue(session.tools.catalogue),
        outages,
        content.logged_event(needed_event_id(session, line.event)),
        _earlier_calls(session, line.event, content),
        _answer_schema(session, line.event, content),
        is_served,
    )
    return decide(session, line.event, line.entry, inputs)


def has_effect(session: Session, line: EventLine, content: RecordingContent) -> bool:
    """Return whether an event changes a session in its current state, or causes an output."""
    catalogue = content.catalogue(session.tools.catalogue)
    needed = content.logged_event(needed_event_id(session, line.event))
    decision = decide(session, line.event, line.entry, Inputs(catalogue, needed=needed))
    return decision.session is not session or bool(
        decision.own_answer_reason or decision.timers or decision.sends
    )


def _answer_schema(session: Session, event: AnyEvent, content: RecordingContent) -> OutputSchema | None:
    """Return the schema of the answer, where `event` may be the answer. Raises UnreadableEvent."""
    query = content.data(session.query.question, QuerySubmitted) if needs_query(session, event.data) else None
    return schema_of(query, session.steps.number)


def _earlier_calls(session: Session, event: AnyEvent, content: RecordingContent) -> dict[str, ToolCall]:
    """Return the calls that a reply asks to repeat. Raises UnreadableEvent if the recording lacks them."""
    if not session.writes.made or not isinstance(event.data, ReasoningCompleted):
        return {}
    calls: dict[str, ToolCall] = {}
    for id, (entry, source) in repetitions.calls_to_repeat(session, event.data).items():
        reply = content.data(entry, ReasoningCompleted)
        calls.update((id, call) for call in (reply.tool_calls if reply else ()) if call.id == source)
    return calls


def _is_recorded(record: DecisionRecord, before: Session | None, decision: Decision) -> bool:
    """Return whether a decision without timers and sends, the usual case, has the recorded record."""
    return (
        is_of_today(record, decision.session)
        and not (record.timers or decision.timers or record.sends or decision.sends)
        and (record.closes, record.stops_work) == (decision.closes, decision.stops_work)
        and record.changed == changes(before, decision.session)
    )


def _with_same_changes(session: Session, then: Session, now: Session) -> Session:
    """Return the session with the changes that lead from `then` to `now`."""
    differing = _differing(then, now)
    parts = {name: _differing(getattr(then, name), differing[name]) for name in PARTS if name in differing}
    changed = {name: replace(getattr(session, name), **fields) for name, fields in parts.items()}
    return replace(session, **differing | changed)


def _differing(then: object, now: object) -> dict[str, Any]:
    return {name: value for name, value in now.__dict__.items() if value != then.__dict__[name]}


def _differences_of(what: str, expected: object, got: object) -> list[tuple[str, Difference]]:
    return [] if expected == got else [(what, one) for one in differences(expected, got)]


def _timers(record: DecisionRecord) -> list[Any]:
    return [timer.model_dump(mode="json", exclude_defaults=True) for timer in record.timers]


def _effects(record: DecisionRecord) -> dict[str, bool]:
    return {"closes": record.closes, "stops_work": record.stops_work}
