"""The outcome of a decision, which is committed. Pure."""

from collections.abc import Callable

from antiphon_shared.bus.handling import RESPONSE, STATE, Outcome, PutDocument
from antiphon_shared.events import AnyEvent, ResponseReady
from antiphon_shared.events.session import RESPONSE_KIND, Response
from antiphon_shared.events.step_records import DecisionRecord, MaterialRead
from antiphon_shared.process.ids import CHILD

from coordinator.decision import Decision
from coordinator.document import SESSION
from coordinator.record import record_of
from coordinator.session import Session


def outcome_of(
    version: int,
    event: AnyEvent,
    decision: Decision,
    before: Session | None = None,
    after_commit: Callable[[], None] | None = None,
) -> Outcome:
    """Return the outcome of a decision; it is committed if the session's document still has `version`."""
    state = PutDocument(STATE, version, SESSION.write(decision.session, event.format))
    return Outcome(
        events=decision.commands,
        sends=decision.sends,
        writes=(state,),
        timers=decision.timers,
        closes_session=decision.closes,
        takes_room=_takes_room(before, decision.session),
        stops_work=decision.stops_work,
        record=record_of(event, before, decision),
        after_commit=after_commit,
    )


def _takes_room(before: Session | None, after: Session) -> bool | None:
    """Return whether the session needs a slot, if that has changed: it needs none while it waits for a person."""
    if CHILD in after.id:
        return None  # a child shares the slot of its root
    waited, waits = before is not None and before.phase == "approval", after.phase == "approval"
    return None if waited == waits else not waits


def outcome_of_answer(event: AnyEvent, response: Response, read: MaterialRead | None = None) -> Outcome:
    """Return the outcome with the coordinator's own response, unless the session has a response by then."""
    return Outcome(
        events=(ResponseReady(**response.model_dump()),),
        writes=(PutDocument(RESPONSE, 0, RESPONSE_KIND.write(response, event.format)),),
        record=DecisionRecord(of=event.id, changed={}, read=read),
    )


def outcome_of_unopened(event: AnyEvent, decision: Decision) -> Outcome:
    """Return the outcome with the answer of a session that was never opened, and a document that keeps it closed."""
    assert decision.answer is not None, "the decision answers a session that was never opened"
    answer, document = outcome_of_answer(event, decision.answer), outcome_of(0, event, decision)
    return answer._replace(writes=(*answer.writes, *document.writes), record=document.record)
