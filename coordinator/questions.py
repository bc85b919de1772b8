"""Questions of the model to the user, and the effect of the answers. Pure.

A call of `ask_user` waits like a call that a person has to approve: see people.py. Answers arrive one by one or
all at once. A late or repeated answer, or one about another call, changes nothing. The call is handed out with
the answer's log entry, from which the dispatcher reads the answer.
"""

from collections.abc import Sequence
from itertools import islice

from antiphon_shared.events import Question, QuestionAnswered
from antiphon_shared.events.session import Uncertainty
from antiphon_shared.text.excerpt import one_line
from antiphon_shared.tools.ask_user import read_question
from antiphon_shared.tools.calls import RequestedCall
from antiphon_shared.tools.placeholders import has_placeholder
from antiphon_shared.tools.relevance import ASK_USER
from antiphon_shared.values import LogEntry

from coordinator.session import Session, new_uncertainty
from coordinator.session_parts import replace

QUESTIONS_MAX = 3
"""Bound on the questions of one batch."""
_TOO_MANY = f"a reply may ask the user at most {QUESTIONS_MAX} questions; ask the one that matters most"
_PLACEHOLDER = "the user must see the question; ask it again in the next reply, with no placeholder in it"
UNANSWERED = "the user has not answered; go on without, and say in the answer what you assumed"
_QUESTION_CHARACTERS = 300


def without_refused(
    calls: tuple[RequestedCall, ...], allowed: Sequence[str]
) -> tuple[tuple[RequestedCall, ...], tuple[Question, ...]]:
    """Refuse questions beyond the limit or with placeholders. Leave invalid arguments to the dispatcher.

    Returns: The batch, and its remaining questions to the user, each id once.
    """
    asking = [call for call in calls if _is_asking(call, allowed)]
    hidden = {call.id for call in asking if has_placeholder(call.arguments)}
    fit = dict.fromkeys(call.id for call in asking if call.id not in hidden)
    accepted = set(islice(fit, QUESTIONS_MAX))
    refused = tuple(
        call.model_copy(update={"refused": _PLACEHOLDER if call.id in hidden else _TOO_MANY})
        if _is_asking(call, allowed) and call.id not in accepted
        else call
        for call in calls
    )
    posed: dict[str, Question] = {}
    for call in asking:
        if call.id in accepted and (question := read_question(call.arguments)) is not None:
            posed.setdefault(call.id, Question(id=call.id, question=question[0], choices=question[1]))
    return refused, tuple(posed.values())


def after_answer(session: Session, log_entry: LogEntry, answer: QuestionAnswered) -> Session:
    """Return the session after the user's answer; the same object when no question waits for it."""
    if session.phase != "approval" or answer.round != session.round:
        return session
    answered_ids = {id for id in session.people.unanswered if not answer.calls or id in answer.calls}
    if not answered_ids:
        return session
    pending = tuple(
        call.model_copy(update={"answer": log_entry})
        if call.name == ASK_USER and call.id in answered_ids
        else call
        for call in session.people.pending
    )
    left = tuple(id for id in session.people.unanswered if id not in answered_ids)
    people = replace(session.people, pending=pending, unanswered=left)
    return replace(session, people=people)


def question_unanswered(session: Session, when: str) -> tuple[Uncertainty, ...]:
    """Return the uncertainty about questions without an answer; `when` ends its sentence."""
    waiting = [
        call
        for call in session.people.pending
        if call.name == ASK_USER and call.id in session.people.unanswered
    ]
    if not waiting:
        return ()
    questions = [one_line(str(call.arguments.get("question", "")), _QUESTION_CHARACTERS) for call in waiting]
    quoted = ", ".join(f"“{question}”" for question in dict.fromkeys(questions))
    message = f"The user was asked {quoted} and did not answer {when}."
    return (new_uncertainty("question_unanswered", message, ", ".join(session.people.unanswered)),)


def _is_asking(call: RequestedCall, allowed: Sequence[str]) -> bool:
    """Return whether a call asks the user, if its arguments are valid."""
    return call.name == ASK_USER and call.name in allowed and call.refused is None and call.problem is None
