"""Fallback steps after failures of the model, or of every tool call of a round. Pure.

    tool      the dispatcher asks a tool's alternative                      substituted
    round     the model is asked again, with a shorter briefing             simplified_briefing, minimal_briefing
    model     another model is asked, or a cooldown is waited for           other_model, waiting_for_model
    session   one last call, without tools, with the smallest briefing      answer_without_tools
    facts     the answer is put together from facts, without any model      facts_without_model

Each step is an event in the session's log, and a sentence for the reader of the answer.
"""

from antiphon_shared.events import AnyEvent, FallbackTaken, ReasoningFailed, ToolsCompleted
from antiphon_shared.events.coordinator import FallbackStep
from antiphon_shared.events.session import Uncertainty
from antiphon_shared.memory.briefing import Level
from antiphon_shared.process.errors import ErrorInfo

from coordinator import models, steps
from coordinator.decision import Decision
from coordinator.session import Session, new_uncertainty
from coordinator.session_parts import replace

LEVELS: tuple[Level, ...] = ("full", "simplified", "minimal")
"""Levels of the briefing, by the number of the model's failures in the round."""
BARREN_ROUNDS_MAX = 2
"""Consecutive rounds in which every call failed: the model learns of the first, and has to answer after the second."""
_LISTED_MAX = 8

_COOLDOWN_CODES = ("circuit_open", "rate_limited")
"""Failures that only delay the next call of the model."""
_REFUSALS = ("authentication_failed", "permission_denied", "model_not_found")
"""Failures of this model for every request."""
_NOT_ACCEPTED = "invalid_request"
"""A failure that a shorter briefing does not repair. Another model is asked, or the same one without tools."""
_CAUSED_BY_SESSION = (_NOT_ACCEPTED, "context_too_long", "empty_reply")
"""Failures after which the session does not prefer other models, as its own request caused them."""
_CAUSES = {
    "circuit_open": "keeps failing and is not called",
    "rate_limited": "exceeded its rate limit",
    "overloaded": "was overloaded",
    "server_error": "had an internal error",
    "timeout": "did not reply in time",
    "connection_failed": "could not be reached",
    "empty_reply": "replied with nothing",
    "unreadable_reply": "gave an unreadable reply",
    "invalid_request": "rejected the request",
    "authentication_failed": "refused access",
    "permission_denied": "refused access",
    "model_not_found": "is not known to its server",
    "context_too_long": "received a longer prompt than it accepts",
}
_CONSEQUENCES: dict[FallbackStep, str] = {
    "simplified_briefing": "it was asked again with a shorter briefing",
    "minimal_briefing": "it was asked again with the shortest briefing",
    "answer_without_tools": "it was asked a last time, without tools",
    "facts_without_model": "the answer is put together from what the tools returned",
}


def level_of(session: Session) -> Level:
    """Return the level of the briefing of the session's next request."""
    return (
        LEVELS[-1]
        if session.models.is_last_call
        else LEVELS[min(session.models.round_failures, len(LEVELS) - 1)]
    )


def after_failure(
    session: Session, event: AnyEvent, failed: ReasoningFailed
) -> tuple[Session, FallbackStep | None]:
    """Return the session after a failed reply, and its fallback step; facts_without_model ends the session.

    The step is None if this model may not be asked again: the decision after the next briefing selects another one.
    """
    code, model = failed.error.code, failed.model
    if code in _COOLDOWN_CODES and failed.retry_after_s is not None:
        until = models.cooldown_until(event.time, failed.retry_after_s, session.models.pauses)
        paused = replace(session, models=replace(session.models, pauses=session.models.pauses + 1))
        return models.with_cooldown(paused, model, until), None
    is_refused = code in _REFUSALS or (code == _NOT_ACCEPTED and models.has_others(session, model))
    if is_refused and not session.models.is_last_call:
        unusable = (*session.models.unusable, model)
        return replace(session, models=replace(session.models, unusable=unusable)), None
    failures, in_round = session.models.failures + 1, session.models.round_failures + 1
    counting = replace(session.models, failures=failures, round_failures=in_round)
    counted = replace(session, models=counting)
    if counted.models.round_failures > 1 and code not in _CAUSED_BY_SESSION:
        counted = models.with_others_preferred(counted, model, event.time)
    if session.models.is_last_call:
        return counted, "facts_without_model"
    is_round_lost = counted.models.round_failures >= len(LEVELS) or code == _NOT_ACCEPTED
    if is_round_lost or counted.models.failures >= session.limits.model_failures_max:
        last = replace(counted.models, is_last_call=True)
        return replace(counted, models=last), "answer_without_tools"
    return counted, "simplified_briefing" if level_of(counted) == "simplified" else "minimal_briefing"


def failed_reply(session: Session, error: ErrorInfo) -> ReasoningFailed:
    """Return a failed reply for a request that became a dead letter."""
    return ReasoningFailed(round=session.round, error=error, model=session.models.asked, attempts=0)


def failure_uncertainty(session: Session, error: ErrorInfo, fallback: FallbackStep) -> Uncertainty:
    """Return the uncertainty about a failure of the model, and the fallback step."""
    cause = _CAUSES.get(error.code, "could not be asked")
    message = f"The model {cause} in round {session.round}; {_CONSEQUENCES[fallback]}."
    if fallback == "facts_without_model":
        message += f" {error.message}"
    return new_uncertainty("model_failed", message, "model", "note")


def refusal_uncertainty(session: Session, failed: ReasoningFailed) -> Uncertainty:
    """Return the uncertainty about a model that is not asked again, with its server's message."""
    cause = _CAUSES.get(failed.error.code, "could not be asked")
    model = f" `{failed.model}`" if failed.model else ""
    message = f"The model{model} {cause} in round {session.round}: {failed.error.message}"
    return new_uncertainty("model_failed", message, "model", "note")


def with_fallback_step(decision: Decision, fallback: FallbackStep, because: str, model: str = "") -> Decision:
    """Return the decision with the fallback step in the log, after its own commands."""
    event = FallbackTaken(round=decision.session.round, rung=fallback, because=because, model=model)
    return decision.with_events(event)


def after_results(session: Session, completed: ToolsCompleted) -> Session:
    """Return the session with its count of consecutive failed rounds after a batch, and the calls that failed."""
    if any(result.status == "ok" for result in completed.results):
        return without_failed_rounds(session)
    if all(steps.refusal(session, result.tool) for result in completed.results):
        return session  # the model called a tool outside its step; no tool has failed
    tool_names = {*session.tools.usable, *session.tools.built_ins}
    cause = dict.fromkeys(
        f"{result.tool if result.tool in tool_names else 'a tool that is not there'} "
        f"({result.error.error_type if result.error else 'error'})"
        for result in completed.results
    )
    return after_lost_batch(session, tuple(cause)[:_LISTED_MAX])


def without_failed_rounds(session: Session) -> Session:
    """Return the session with its count of failed rounds reset."""
    if not session.tools.barren_rounds and not session.tools.failed_calls:
        return session
    return replace(session, tools=replace(session.tools, barren_rounds=0, failed_calls=()))


def after_lost_batch(session: Session, failed_calls: tuple[str, ...]) -> Session:
    """Return the session after a batch in which every call failed."""
    barren_rounds = session.tools.barren_rounds + 1
    tools = replace(session.tools, barren_rounds=barren_rounds, failed_calls=failed_calls)
    return replace(session, tools=tools)


def notice(session: Session, offered: tuple[str, ...]) -> str:
    """Return the notice to the model after a round of failed calls, once: the failures and the other tools."""
    if session.tools.barren_rounds != 1 or not session.tools.failed_calls:
        return ""
    remaining = ", ".join(offered[:_LISTED_MAX]) + (" and others" if len(offered) > _LISTED_MAX else "")
    return (
        f"Every tool call of the last round failed: {', '.join(session.tools.failed_calls)}. "
        f"{f'There are still {remaining}. ' if remaining else ''}Go another way, with other tools or other arguments, "
        "or answer from the facts and say what is missing. If every call fails again, no tool is offered any more."
    )
