"""The wait of a session for people, and its length. Pure.

The session is in phase `approval`, with the batch in its document, no work in flight and a timer set. The batch
is handed out when every call that needs a decision or an answer has one, or when the time is over. Then calls
without one are refused, and the model reports it.

The wait ends before the last fifth of the session's time, in which the model concludes.
"""

from datetime import datetime, timedelta

from antiphon_shared.bus.handling import SetTimer
from antiphon_shared.events import (
    ApprovalRequested,
    CallToApprove,
    EventData,
    PersonOverdue,
    Question,
    QuestionAsked,
)
from antiphon_shared.events.session import Uncertainty
from antiphon_shared.tools.calls import RequestedCall
from antiphon_shared.tools.relevance import ASK_USER

from coordinator import approvals, questions
from coordinator.decision import Decision
from coordinator.session import Session
from coordinator.session_parts import People, replace

PERSON = "person"
"""The name of the timer."""
_CONCLUDING_SHARE = 0.2
_CONCLUDING_S_MIN, _CONCLUDING_S_MAX = 5.0, 300.0
_SHORTEST = timedelta(seconds=1)
"""The shortest useful wait, as a person needs time to read."""


def waiting_for(
    session: Session,
    calls: tuple[RequestedCall, ...],
    to_approve: tuple[CallToApprove, ...],
    posed: tuple[Question, ...],
) -> Session:
    """Return the session with a batch that waits."""
    waiting = People(
        pending=calls,
        undecided=tuple(dict.fromkeys(call.id for call in to_approve)),
        unanswered=tuple(question.id for question in posed),
    )
    return replace(session, phase="approval", awaiting=(), people=waiting)


def wait_end(session: Session, now: datetime) -> datetime | None:
    """Return when the session continues without people; None if it has no time to wait."""
    share_s = _CONCLUDING_SHARE * session.limits.deadline_s
    concluding_s = min(max(share_s, _CONCLUDING_S_MIN), _CONCLUDING_S_MAX)
    latest = session.deadline - timedelta(seconds=concluding_s)
    end = min(now + timedelta(seconds=session.limits.person_s), latest)
    return end if end - now >= min(_SHORTEST, timedelta(seconds=session.limits.person_s)) else None


def ask(
    session: Session, to_approve: tuple[CallToApprove, ...], posed: tuple[Question, ...], end: datetime
) -> Decision:
    """Return the decision to ask people for approvals and answers that the session needs, until `end`."""
    requests: list[EventData] = []
    if to_approve:
        requests.append(ApprovalRequested(round=session.round, calls=to_approve, until=end))
    if posed:
        requests.append(QuestionAsked(round=session.round, questions=posed, until=end))
    return Decision(session, tuple(requests), (SetTimer(PERSON, end, PersonOverdue(round=session.round)),))


def without_answers(session: Session) -> Session:
    """Return the session with unanswered calls refused, and an uncertainty for each."""
    uncertainties = people_uncertainty(session, "in time", is_batch_lost=False)
    pending = tuple(_without_person(call, session) for call in session.people.pending)
    return replace(session, people=People(pending=pending)).with_uncertainties(*uncertainties)


def people_uncertainty(
    session: Session, when: str = "before the session ended", is_batch_lost: bool = True
) -> tuple[Uncertainty, ...]:
    """Return the uncertainty about people who have not answered, if any."""
    if session.phase != "approval":
        return ()
    return (
        *approvals.approval_missing(session, when, is_batch_lost),
        *questions.question_unanswered(session, when),
    )


def _without_person(call: RequestedCall, session: Session) -> RequestedCall:
    if call.refused is not None:
        return call
    if call.name == ASK_USER and call.id in session.people.unanswered:
        return call.model_copy(update={"refused": questions.UNANSWERED})
    if call.id in session.people.undecided:
        return call.model_copy(update={"refused": approvals.UNDECIDED})
    return call
