"""The recovery ladder: what is done instead when the model, or every tool of a round, has failed. Pure.

    tool      the dispatcher asks a tool's alternative                     substituted
    round     the model is asked again, with less to read                  simplified_briefing, minimal_briefing
    model     another model is asked, or one that rests is waited for      other_model, waiting_for_model
    session   one last call, without tools, with the smallest briefing     answer_without_tools
    facts     the answer is put together from facts, without any model     facts_without_model

Each rung is an event in the session's log, and a sentence for the reader of the answer.
"""

from antiphon_shared.events import AnyEvent, ReasoningFailed, RungTaken, ToolsCompleted
from antiphon_shared.events.coordinator import Rung
from antiphon_shared.events.session import Uncertainty
from antiphon_shared.memory.briefing import Level
from antiphon_shared.process.errors import ErrorInfo

from coordinator import models, steps
from coordinator.decision import Decision
from coordinator.session import Session, doubt, replace

LEVELS: tuple[Level, ...] = ("full", "simplified", "minimal")
"""Of the briefing, by how often the model has failed in the round."""
BARREN_ROUNDS_MAX = 2
"""Rounds in a row in which every call failed: after the first the model is told, after the second it answers."""
_NAMED_MAX = 8

_PAUSES = ("circuit_open", "rate_limited")
"""Failures that say no more than when the model may be asked again."""
_REFUSALS = ("authentication_failed", "permission_denied", "model_not_found")
"""Failures of this model, whatever it is asked."""
_UNTAKEN = "invalid_request"
"""A shorter briefing does not mend it, but perhaps another model; where there is none, a request without tools."""
_OF_THE_SESSION = (_UNTAKEN, "context_too_long", "empty_reply")
"""Failures that say nothing against the model."""
_SAID = {
    "circuit_open": "has been failing and is left alone",
    "rate_limited": "may not be asked so often",
    "overloaded": "was overloaded",
    "server_error": "had a failure of its own",
    "timeout": "did not reply in time",
    "connection_failed": "could not be reached",
    "empty_reply": "replied with nothing",
    "unreadable_reply": "gave a reply that cannot be read",
    "invalid_request": "did not take the request",
    "authentication_failed": "refused access",
    "permission_denied": "refused access",
    "model_not_found": "is not known to its server",
    "context_too_long": "was given more than it can read",
}
_INSTEAD: dict[Rung, str] = {
    "simplified_briefing": "it was asked again with a shorter briefing",
    "minimal_briefing": "it was asked again with the shortest briefing",
    "answer_without_tools": "it was asked a last time, without tools",
    "facts_without_model": "the answer is put together from what the tools returned",
}


def level_of(session: Session) -> Level:
    """How much the briefing of the session's next request holds."""
    return (
        LEVELS[-1]
        if session.models.is_last_call
        else LEVELS[min(session.models.round_failures, len(LEVELS) - 1)]
    )


def after_failure(session: Session, event: AnyEvent, failed: ReasoningFailed) -> tuple[Session, Rung | None]:
    """The session that goes on after a failed reply, and the rung it takes; facts_without_model ends it.

    None where it is the model that cannot be asked: which one is asked instead is seen with the next briefing.
    """
    code, model = failed.error.code, failed.model
    if code in _PAUSES and failed.retry_after_s is not None:
        until = models.rest_until(event.time, failed.retry_after_s, session.models.pauses)
        paused = replace(session, models=replace(session.models, pauses=session.models.pauses + 1))
        return models.resting(paused, model, until), None
    is_refused = code in _REFUSALS or (code == _UNTAKEN and models.has_others(session, model))
    if is_refused and not session.models.is_last_call:
        unusable = (*session.models.unusable, model)
        return replace(session, models=replace(session.models, unusable=unusable)), None
    failures, in_round = session.models.failures + 1, session.models.round_failures + 1
    counting = replace(session.models, failures=failures, round_failures=in_round)
    counted = replace(session, models=counting)
    if counted.models.round_failures > 1 and code not in _OF_THE_SESSION:
        counted = models.preferring_others(counted, model, event.time)
    if session.models.is_last_call:
        return counted, "facts_without_model"
    is_round_lost = counted.models.round_failures >= len(LEVELS) or code == _UNTAKEN
    if is_round_lost or counted.models.failures >= session.limits.model_failures_max:
        last = replace(counted.models, is_last_call=True)
        return replace(counted, models=last), "answer_without_tools"
    return counted, "simplified_briefing" if level_of(counted) == "simplified" else "minimal_briefing"


def lost(session: Session, error: ErrorInfo) -> ReasoningFailed:
    """A request that became a dead letter, as the failed reply that it comes to."""
    return ReasoningFailed(round=session.round, error=error, model=session.models.asked, attempts=0)


def failure_told(session: Session, error: ErrorInfo, rung: Rung) -> Uncertainty:
    """For the reader: what was wrong with the model, and what was done instead."""
    said = _SAID.get(error.code, "could not be asked")
    message = f"The model {said} in round {session.round}; {_INSTEAD[rung]}."
    if rung == "facts_without_model":
        message += f" {error.message}"
    return doubt("model_failed", message, "model", "note")


def refusal_told(session: Session, failed: ReasoningFailed) -> Uncertainty:
    """For the reader: that a model is not asked again, in its server's words."""
    said = _SAID.get(failed.error.code, "could not be asked")
    model = f" `{failed.model}`" if failed.model else ""
    message = f"The model{model} {said} in round {session.round}: {failed.error.message}"
    return doubt("model_failed", message, "model", "note")


def taken(decision: Decision, rung: Rung, because: str, model: str = "") -> Decision:
    """The decision, with the rung told in the log behind its own commands."""
    event = RungTaken(round=decision.session.round, rung=rung, because=because, model=model)
    return decision.telling(event)


def after_results(session: Session, completed: ToolsCompleted) -> Session:
    """The session after a batch: how many rounds in a row have brought nothing but errors, and which ones."""
    if any(result.status == "ok" for result in completed.results):
        return without_failed_rounds(session)
    if all(steps.refusal(session, result.tool) for result in completed.results):
        return session  # the model is early or late; no tool has failed
    known = {*session.tools.usable, *session.tools.built_ins}
    said = dict.fromkeys(
        f"{result.tool if result.tool in known else 'a tool that is not there'} "
        f"({result.error.error_type if result.error else 'error'})"
        for result in completed.results
    )
    return after_lost_batch(session, tuple(said)[:_NAMED_MAX])


def without_failed_rounds(session: Session) -> Session:
    """Return the session with no round of failed calls behind it."""
    if not session.tools.barren_rounds and not session.tools.failed_calls:
        return session
    return replace(session, tools=replace(session.tools, barren_rounds=0, failed_calls=()))


def after_lost_batch(session: Session, failed_calls: tuple[str, ...]) -> Session:
    """The same where no call of the batch has brought anything."""
    barren_rounds = session.tools.barren_rounds + 1
    tools = replace(session.tools, barren_rounds=barren_rounds, failed_calls=failed_calls)
    return replace(session, tools=tools)


def notice(session: Session, offered: tuple[str, ...]) -> str:
    """What the model is told once, when every call of a round has failed: what failed, and what remains."""
    if session.tools.barren_rounds != 1 or not session.tools.failed_calls:
        return ""
    remains = ", ".join(offered[:_NAMED_MAX]) + (" and others" if len(offered) > _NAMED_MAX else "")
    return (
        f"Every tool call of the last round failed: {', '.join(session.tools.failed_calls)}. "
        f"{f'There are still {remains}. ' if remains else ''}Go another way, with other tools or other arguments, "
        "or answer from the facts and say what is missing. If every call fails again, no tool is offered any more."
    )
