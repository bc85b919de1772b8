"""How a session waits for people, and for how long. Pure.

It stands in its phase `approval` with the batch in its document, no worker in hand and a timer set. The batch goes
out when every call that needs a decision or an answer has one, or when the time for it is over: then those without
are refused, and the model goes on and says so.

Nobody is waited for into the last fifth of the session's time, which is the model's to conclude in.
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
from coordinator.session import People, Session, replace

PERSON = "person"
"""The name of the timer."""
_CONCLUDING_SHARE = 0.2
_CONCLUDING_S_MIN, _CONCLUDING_S_MAX = 5.0, 300.0
_SHORTEST = timedelta(seconds=1)
"""In less nobody reads what is asked."""


def waiting_for(
    session: Session,
    calls: tuple[RequestedCall, ...],
    to_approve: tuple[CallToApprove, ...],
    posed: tuple[Question, ...],
) -> Session:
    """The session with a batch that waits."""
    waiting = People(
        pending=calls,
        undecided=tuple(dict.fromkeys(call.id for call in to_approve)),
        unanswered=tuple(question.id for question in posed),
    )
    return replace(session, phase="approval", awaiting=(), people=waiting)


def until(session: Session, now: datetime) -> datetime | None:
    """When the session goes on without people; None where it has no time to wait for any."""
    share_s = _CONCLUDING_SHARE * session.limits.deadline_s
    concluding_s = min(max(share_s, _CONCLUDING_S_MIN), _CONCLUDING_S_MAX)
    latest = session.deadline - timedelta(seconds=concluding_s)
    end = min(now + timedelta(seconds=session.limits.person_s), latest)
    return end if end - now >= min(_SHORTEST, timedelta(seconds=session.limits.person_s)) else None


def ask(
    session: Session, to_approve: tuple[CallToApprove, ...], posed: tuple[Question, ...], end: datetime
) -> Decision:
    """Tell people what a waiting session needs of them, and until when."""
    requests: list[EventData] = []
    if to_approve:
        requests.append(ApprovalRequested(round=session.round, calls=to_approve, until=end))
    if posed:
        requests.append(QuestionAsked(round=session.round, questions=posed, until=end))
    return Decision(session, tuple(requests), (SetTimer(PERSON, end, PersonOverdue(round=session.round)),))


def given_up(session: Session) -> Session:
    """The session with what people have not said refused, and told as doubts."""
    doubts = missing(session, "in time", is_batch_lost=False)
    pending = tuple(_without_person(call, session) for call in session.people.pending)
    return replace(session, people=People(pending=pending)).doubting(*doubts)


def missing(
    session: Session, when: str = "before the session ended", is_batch_lost: bool = True
) -> tuple[Uncertainty, ...]:
    """What is to be said of people who were waited for in vain, if any were."""
    if session.phase != "approval":
        return ()
    return (*approvals.missing(session, when, is_batch_lost), *questions.missing(session, when))


def _without_person(call: RequestedCall, session: Session) -> RequestedCall:
    if call.refused is not None:
        return call
    if call.name == ASK_USER and call.id in session.people.unanswered:
        return call.model_copy(update={"refused": questions.UNANSWERED})
    if call.id in session.people.undecided:
        return call.model_copy(update={"refused": approvals.UNDECIDED})
    return call
