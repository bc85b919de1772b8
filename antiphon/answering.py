"""The questions to a session's user, from the model or from its runs, and the user's answers."""

from collections.abc import Iterable

from antiphon_shared.bus.connection import retry_while_unavailable
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import Question, QuestionAnswered
from antiphon_shared.tools.ask_user import read_question
from antiphon_shared.tools.relevance import ASK_USER

from antiphon.approval import select_calls, session_waiting_for_person, unanswered_session
from antiphon.arrival import Arrival
from antiphon.confirmation import CallIds
from antiphon.decision_effect import check_effect
from antiphon.errors import NotWaiting
from antiphon.signals import send
from antiphon.submission import checked_answer
from antiphon.tail import PATIENCE_S
from coordinator.child_questions import questions_of_runs
from coordinator.session import Session

_MISSING = "open question"


async def answer(
    bus: Bus, arrival: Arrival, session_id: str, text: str, calls: Iterable[str], by: str
) -> CallIds:
    """Answer the questions in `calls`, or all waiting questions if it is empty; return their ids.

    Raises NotWaiting, its subclass TooLate if another answer came first, InvalidQuery if the text is not an answer or
    a question does not wait, UnknownSession, SubmissionRejected.
    """
    text = checked_answer(text)
    session = await retry_while_unavailable(
        "look for a session", lambda: _session_with_questions(bus, arrival, session_id), PATIENCE_S
    )
    questions = {question.id: question.question for question in waiting_questions(session)}
    waiting_ids = session.people.unanswered or tuple(questions)
    chosen = select_calls(calls, waiting_ids, questions, session_id, "an answer")
    fields = {"round": session.round, "answer": text, "calls": chosen, "by": by}
    sent = await send(bus, session_id, QuestionAnswered, fields)
    return await check_effect(bus, session_id, [sent], chosen)


async def _session_with_questions(bus: Bus, arrival: Arrival, session_id: str) -> Session:
    """Return the session if it waits for an answer. Raises NotWaiting."""
    running = await unanswered_session(bus, session_id)
    if running is not None and questions_of_runs(running):
        return running
    session = await session_waiting_for_person(bus, arrival, session_id, _MISSING)
    if not session.people.unanswered:
        raise NotWaiting(f"session {session_id} has no {_MISSING}: it is waiting for a person's approval.")
    return session


async def questions_waiting(bus: Bus, session_id: str) -> tuple[Question, ...]:
    """Return the unanswered questions of a session; an empty tuple if it does not wait for an answer."""
    session = await unanswered_session(bus, session_id)
    return waiting_questions(session) if session else ()


def waiting_questions(session: Session) -> tuple[Question, ...]:
    """Return the questions that wait for an answer, in the order of their batch, each id once."""
    by_id: dict[str, Question] = {}
    for call in session.people.pending:
        is_waiting = call.name == ASK_USER and call.refused is None and call.id in session.people.unanswered
        if is_waiting and (questions := read_question(call.arguments)) is not None:
            by_id.setdefault(call.id, Question(id=call.id, question=questions[0], choices=questions[1]))
    return (*by_id.values(), *questions_of_runs(session))
