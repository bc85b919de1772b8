"""The coordinator's decisions, made anew from what was recorded."""

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
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.tools.calls import ToolCall
from pydantic import ValidationError

from antiphon.recording.lines import EventLine
from antiphon.recording.replaying.checks.assemblies import Assemblies
from antiphon.recording.replaying.differences import Difference, differences
from antiphon.recording.replaying.known import Known, Redone, Step
from coordinator import repetitions
from coordinator.decide import decide
from coordinator.endings import named_by
from coordinator.opening import never_opened, open_session, recorded_opening
from coordinator.record import changes, record_of
from coordinator.session import Decision, Session


class _AnswerUnknown(UnreadableEvent):
    """An answer of the coordinator's own cannot be composed again; the decisions after it can be made."""


class Decisions:
    """Follows one session's document through its recorded decisions.

    Each decision is made on the document as it was recorded, so that one divergence does not drag others along;
    unless `follows_today`: then on the document as today's code would have it.
    """

    def __init__(self, follows_today: bool = False, assemblies: Assemblies | None = None) -> None:
        """`assemblies` has what an answer was made of that the coordinator gave by itself."""
        self._assemblies = assemblies
        self._follows_today = follows_today
        self.session: Session | None = None
        """As it was recorded, after the last decision."""
        self.lacks = ""
        """Why a decision is not known as it was recorded, so that no later one can be made again."""
        self._document: dict[str, Any] = {}

    def redo(self, step: Step, known: Known) -> Redone:
        """One decision, today. Raises UnreadableEvent when this one, or one before, lacks something."""
        if self.lacks:
            raise UnreadableEvent(f"an earlier decision is not known: {self.lacks}")
        assert isinstance(step.record, DecisionRecord)
        try:
            return self._redo(step, step.record, known)
        except _AnswerUnknown:
            raise
        except UnreadableEvent as error:
            self.lacks = error.message
            raise

    def _redo(self, step: Step, record: DecisionRecord, known: Known) -> Redone:
        before, decision = self.session, self._decide(step, record, known)
        self._document |= record.changed
        if decision.alone:
            return Redone((self._alone(step, record, decision, known),))
        if decision.answer is None and _is_recorded(record, before, decision):
            self.session = decision.session
            return Redone(decision.commands, (), record)
        today = record_of(step.line.event, before, decision)
        others = [
            *_told("state", record.changed, today.changed),
            *(_told("timers", _timers(record), _timers(today)) if record.timers != today.timers else ()),
            *_told("effects", _effects(record), _effects(today)),
        ]
        is_same = self._follows_today or record.changed == today.changed
        self.session = decision.session if is_same else self._recorded()
        answer = () if decision.answer is None else (ResponseReady(**decision.answer.model_dump()),)
        return Redone((*answer, *decision.commands), tuple(others), today)

    def _alone(self, step: Step, record: DecisionRecord, decision: Decision, known: Known) -> ResponseReady:
        """The coordinator's own answer, today; it changes no document. Raises _AnswerUnknown."""
        if self._assemblies is None:
            raise _AnswerUnknown("what the session had found is not known here.")
        try:
            read = record.read or MaterialRead()
            return self._assemblies.alone(step.line, decision, read, known)
        except UnreadableEvent as error:
            raise _AnswerUnknown(error.message) from None

    def _recorded(self) -> Session:
        try:
            return Session.model_validate(self._document)
        except ValidationError as error:
            raise UnreadableEvent(f"the document cannot be read: {explain(error)}") from None

    def take(self, record: DecisionRecord) -> None:
        """Go on from the document as it was recorded, where today's code has come to none."""
        self._document |= record.changed
        try:
            self.session = self._recorded()
        except UnreadableEvent as error:
            self.lacks = error.message

    def forked(self, record: ForkRecord) -> None:
        """The document is another from here on, because somebody wanted it to be. Raises UnreadableEvent."""
        self._document |= record.changed
        today = self.session.model_dump(mode="json") if self._follows_today and self.session else {}
        try:
            self.session = Session.model_validate({**(today or self._document), **record.changed})
        except ValidationError as error:
            raise UnreadableEvent(f"what the fork has changed cannot be read: {explain(error)}") from None

    def lets_go(self, line: EventLine, known: Known) -> bool:
        """Whether the session, as it stands, changes nothing on an event."""
        if self.session is None or self.lacks:
            return True
        decision = decide(
            self.session,
            line.event,
            line.entry,
            known.catalogue(self.session.catalogue),
            named=known.named(named_by(self.session, line.event)),
        )
        return decision.session is self.session and not (decision.alone or decision.timers)

    def _decide(self, step: Step, record: DecisionRecord, known: Known) -> Decision:
        event, entry = step.line.event, step.line.entry
        if self.session is not None:
            outages = self.session.outages
            if "outages" in record.changed:
                outages = _outages(record.changed["outages"])
            named = known.named(named_by(self.session, event))
            earlier = _earlier(self.session, event, known)
            catalogue = known.catalogue(self.session.catalogue)
            return decide(self.session, event, entry, catalogue, outages, named, earlier)
        match event.data:
            case ComponentFailed() as failure:
                return never_opened(event, entry, failure)
            case QuerySubmitted() as query:
                opened = next((one.event.data for one in step.outputs), None)
                if not isinstance(opened, SessionOpened):
                    raise UnreadableEvent(f"no {SessionOpened.type} came of event {step.line.n}.")
                catalogue = known.catalogue(opened.catalogue)
                return open_session(event, entry, query, recorded_opening(opened), catalogue)
            case _:
                raise UnreadableEvent(f"event {step.line.n} was decided on before the session was opened.")


def _earlier(session: Session, event: AnyEvent, known: Known) -> dict[str, ToolCall]:
    """The calls that a reply wants repeated. Raises UnreadableEvent when the recording lacks them."""
    if not session.writes or not isinstance(event.data, ReasoningCompleted):
        return {}
    found: dict[str, ToolCall] = {}
    for id, (entry, source) in repetitions.named(session, event.data).items():
        reply = known.data(entry, ReasoningCompleted)
        found.update((id, call) for call in (reply.tool_calls if reply else ()) if call.id == source)
    return found


def _outages(recorded: object) -> Outages:
    try:
        return Outages.model_validate(recorded)
    except ValidationError as error:
        raise UnreadableEvent(f"what was out of order cannot be read: {explain(error)}") from None


def _is_recorded(record: DecisionRecord, before: Session | None, decision: Decision) -> bool:
    """Whether a decision without timers, as nearly all are, leaves the record that it left then."""
    return (
        not (record.timers or decision.timers)
        and (record.closes, record.stops_work) == (decision.closes, decision.stops_work)
        and record.changed == changes(before, decision.session)
    )


def _told(what: str, expected: Any, got: Any) -> list[tuple[str, Difference]]:
    return [] if expected == got else [(what, one) for one in differences(expected, got)]


def _timers(record: DecisionRecord) -> list[Any]:
    return [timer.model_dump(mode="json", exclude_defaults=True) for timer in record.timers]


def _effects(record: DecisionRecord) -> dict[str, bool]:
    return {"closes": record.closes, "stops_work": record.stops_work}
