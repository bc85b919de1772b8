"""When a model is asked to put facts into fewer words, and what comes of it. Pure.

A summary goes along beside the session's way and never changes it: the phase, what is awaited and every other
command are the same without it. One is under way at a time, it may take a fifth of the token budget in all, and
after two that failed or were refused no more are asked for.
"""

from uuid import UUID

from antiphon_shared.events import AnyEvent, BriefingReady, SummaryCompleted, SummaryFailed, SummaryRequested
from antiphon_shared.process.ids import child_id
from antiphon_shared.values import LogEntry

from coordinator import limits
from coordinator.decision import Decision
from coordinator.session import Session, replace

_FAILURES_MAX = 2
_BUDGET_SHARE = 0.2
_OWN_PROMPT_TOKENS = 500
"""What the engine's instructions take, beside the text."""


def may_ask(session: Session) -> bool:
    """Whether a summary may be asked for in the session's round, as far as can be told without its size."""
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


def asked_beside(decision: Decision, event: AnyEvent, ready: BriefingReady) -> Decision:
    """The decision, with a summary asked for behind its own commands where one is wanted and affordable."""
    session, wanted = decision.session, ready.to_summarize
    if wanted is None or session.last_round is not None or not may_ask(session):
        return decision
    tokens = limits.calibrated(session, wanted.tokens + _OWN_PROMPT_TOKENS) + wanted.tokens_max
    left = limits.tokens_left(session)
    is_ample = left - tokens >= 2 * limits.tokens_for_round(session, ready.briefing.tokens)
    if not is_ample or session.summaries.tokens + tokens > _BUDGET_SHARE * session.limits.max_tokens:
        return decision
    request = SummaryRequested(
        round=session.round,
        source=wanted.source,
        facts=wanted.facts,
        tokens_max=wanted.tokens_max,
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
    """The session with a summary to file, or with one that failed; itself when it is not the one awaited."""
    if session.summaries.awaiting is None or event.causationid != session.summaries.awaiting:
        return session
    tokens = session.summaries.tokens + reply.usage.total_tokens
    summaries = replace(session.summaries, tokens=tokens)
    spent = replace(session, spent=session.spent.plus(reply.usage), summaries=summaries)
    if isinstance(reply, SummaryFailed):
        return after_failure(spent)
    return replace(spent, summaries=replace(summaries, awaiting=None, ready=log_entry))


def after_failure(session: Session) -> Session:
    """The session without the summary it awaits."""
    failures = session.summaries.failures + 1
    return replace(session, summaries=replace(session.summaries, awaiting=None, failures=failures))


def after_refusal(session: Session) -> Session:
    """Return the session once its last summary was refused where it was to be filed."""
    return replace(session, summaries=replace(session.summaries, failures=session.summaries.failures + 1))


def is_about(session: Session, failed_event: UUID) -> bool:
    """Whether what became a dead letter is the request for the summary that is awaited, or the reply to it."""
    request = session.summaries.awaiting
    return request is not None and failed_event in (request, child_id(request, 0))
