"""Requests for summaries of facts by a model, and the effect of the replies. Pure.

A summary is requested in parallel, and the phase, the awaited reply and all other commands are the same without
it. At most one is in flight. All summaries together may take a fifth of the token budget. After two that failed
or were refused, no more are requested.
"""

from uuid import UUID

from antiphon_shared.events import AnyEvent, BriefingReady, SummaryCompleted, SummaryFailed, SummaryRequested
from antiphon_shared.process.ids import child_id
from antiphon_shared.values import LogEntry

from coordinator import limits
from coordinator.decision import Decision
from coordinator.session import Session
from coordinator.session_parts import replace

_FAILURES_MAX = 2
_BUDGET_SHARE = 0.2
_OWN_PROMPT_TOKENS = 500
"""The tokens of the engine's instructions, in addition to the text."""


def may_request(session: Session) -> bool:
    """Return whether a summary may be requested in the session's round, whatever its size."""
    return (
        session.summaries.awaiting is None
        and session.summaries.ready is None
        and session.summaries.asked < session.limits.summaries_max
        and session.summaries.failures < _FAILURES_MAX
        and session.models.round_failures == 0
        and bool(session.tools.usable)
        and session.round < session.limits.max_rounds
        and session.summaries.tokens < _BUDGET_SHARE * session.limits.max_tokens
    )


def with_summary_request(decision: Decision, event: AnyEvent, ready: BriefingReady) -> Decision:
    """Return the decision, with a request for a summary after its own commands, if one is needed and affordable."""
    session, source = decision.session, ready.to_summarize
    if source is None or session.last_round is not None or not may_request(session):
        return decision
    tokens = limits.calibrated_tokens(session, source.tokens + _OWN_PROMPT_TOKENS) + source.tokens_max
    left = limits.tokens_left(session)
    is_ample = left - tokens >= 2 * limits.tokens_for_round(session, ready.briefing.tokens)
    if not is_ample or session.summaries.tokens + tokens > _BUDGET_SHARE * session.limits.max_tokens:
        return decision
    request = SummaryRequested(
        round=session.round,
        source=source.source,
        facts=source.facts,
        tokens_max=source.tokens_max,
        tokens_left=left,
        deadline=session.deadline,
    )
    summaries = replace(
        session.summaries,
        awaiting=child_id(event.id, len(decision.commands)),
        asked=session.summaries.asked + 1,
    )
    waiting = replace(session, summaries=summaries)
    return Decision(waiting, (*decision.commands, request), decision.timers)


def after_reply(
    session: Session, event: AnyEvent, log_entry: LogEntry, reply: SummaryCompleted | SummaryFailed
) -> Session:
    """Return the session with a summary to file, or with its failure; itself if another reply is awaited."""
    if session.summaries.awaiting is None or event.causationid != session.summaries.awaiting:
        return session
    tokens = session.summaries.tokens + reply.usage.total_tokens
    summaries = replace(session.summaries, tokens=tokens)
    spent = replace(session, spent=session.spent.plus(reply.usage), summaries=summaries)
    if isinstance(reply, SummaryFailed):
        return after_failure(spent)
    return replace(spent, summaries=replace(summaries, awaiting=None, ready=log_entry))


def after_failure(session: Session) -> Session:
    """Return the session without the summary that it awaits."""
    failures = session.summaries.failures + 1
    return replace(session, summaries=replace(session.summaries, awaiting=None, failures=failures))


def after_refusal(session: Session) -> Session:
    """Return the session after its last summary was refused at filing."""
    return replace(session, summaries=replace(session.summaries, failures=session.summaries.failures + 1))


def is_about(session: Session, failed_event: UUID) -> bool:
    """Return whether a dead letter is the request for the awaited summary, or the reply to it."""
    request = session.summaries.awaiting
    return request is not None and failed_event in (request, child_id(request, 0))
