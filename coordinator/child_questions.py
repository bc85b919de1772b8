"""Questions to a session's user from runs that wait for input, and the user's answers to them. Pure."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from antiphon_shared.bus.handling import Send, SetTimer
from antiphon_shared.events import (
    ChildWaiting,
    InputGiven,
    PersonOverdue,
    Question,
    QuestionAnswered,
    QuestionAsked,
)
from antiphon_shared.values import JsonObject
from pydantic_core import from_json

from coordinator import people
from coordinator.decision import Decision
from coordinator.session import Session
from coordinator.session_parts import ChildRun, replace


def ask(session: Session, child: ChildRun, waiting: ChildWaiting, at: datetime) -> Decision | None:
    """Ask the session's user for the input that a run waits for; return None if no time is left."""
    end = people.wait_end(session, at)
    if end is None:
        return None
    question = Question(id=child.call.id, question=_question(waiting))
    return Decision(
        with_changes(session, child, waits=waiting),
        (QuestionAsked(round=session.round, questions=(question,), until=min(waiting.until, end)),),
        (SetTimer(people.PERSON, end, PersonOverdue(round=session.round)),),
    )


def questions_of_runs(session: Session) -> tuple[Question, ...]:
    """Return the questions of the session's runs that its user has not answered."""
    return tuple(Question(id=run.call.id, question=_question(waits)) for run, waits in asking(session))


def asking(session: Session) -> Iterator[tuple[ChildRun, ChildWaiting]]:
    """Yield the runs that wait for the session's user, each with the input that it waits for."""
    for run in session.children.runs if session.phase == "tools" else ():
        if run.waits is not None and run.result is None:
            yield run, run.waits


def after_answer(session: Session, answer: QuestionAnswered) -> Decision | None:
    """Send the user's answer to the runs that asked; return None if no run did."""
    if answer.round != session.round:
        return None
    after, sends = session, []
    for run, waits in asking(session):
        if not answer.calls or run.call.id in answer.calls:
            values = values_in(answer.answer, waits.expects)
            sends.append(Send(run.id, InputGiven(round=waits.request, values=values, by=answer.by)))
            after = with_changes(after, run, waits=None)
    return Decision(after, sends=tuple(sends)) if sends else None


def with_changes(session: Session, child: ChildRun, **changes: Any) -> Session:
    """Return the session with fields of one of its runs changed."""
    runs = tuple(
        run.model_copy(update=changes) if run.index == child.index else run for run in session.children.runs
    )
    return replace(session, children=replace(session.children, runs=runs))


def values_in(text: str, expects: JsonObject) -> dict[str, Any]:
    """Return the values in a person's answer: a JSON object, or the one expected value as text."""
    try:
        value = from_json(text)
    except ValueError:
        value = text.strip()
    if isinstance(value, dict):
        return value
    if len(expects) != 1:
        return {"answer": value}  # the run refuses the value with a message that names the expected type
    (name, param), *_ = expects.items()
    kind = param.get("type") if isinstance(param, dict) else param
    words = {"yes": True, "true": True, "no": False, "false": False}
    if kind == "bool" and isinstance(value, str):
        value = words.get(value.lower().rstrip("."), value)
    if kind == "str" and not isinstance(value, str):
        value = text.strip()
    return {name: value}


def _question(waiting: ChildWaiting) -> str:
    expected = ", ".join(
        f"{name} ({param.get('type', 'value') if isinstance(param, dict) else param})"
        for name, param in waiting.expects.items()
    )
    because = f"{waiting.because}. " if waiting.because else ""
    form = "" if len(waiting.expects) == 1 else " Answer with a JSON object."
    return f"{because}{waiting.message} Expected: {expected}.{form}"
