"""The bounds of a session: the remaining budgets, and the reasons for a last round. Pure."""

from math import ceil

from antiphon_shared.events import ReasoningCompleted
from antiphon_shared.events.session import Limits, QueryOptions, TerminationReason
from antiphon_shared.output.steps import rounds_of

from coordinator.fallbacks import BARREN_ROUNDS_MAX
from coordinator.session import Session

_REPLY_RESERVE_TOKENS = 1_000
_RATE_MIN, _RATE_MAX = 0.5, 3.0
"""Bounds on the ratio; beyond them the model's count is more likely wrong than the estimate."""


def resolve_limits(options: QueryOptions, defaults: Limits) -> Limits:
    """Return the limits of a query, with defaults for limits that it does not set, and a deadline within the maximum.

    A bound on rounds with tools also bounds all rounds, including the round of the answer, unless the query sets
    both. A query with steps has the rounds of all attempts at them.
    """
    chosen = options.model_dump(exclude_none=True, include=set(Limits.model_fields))
    if options.step_list:
        chosen.setdefault("max_rounds", rounds_of(options.step_list))
    if options.max_tool_rounds is not None:
        chosen.setdefault("max_rounds", options.max_tool_rounds + 1)
    deadline_s = min(chosen.get("deadline_s", defaults.deadline_s), defaults.deadline_max_s)
    return defaults.model_copy(update={**chosen, "deadline_s": deadline_s})


def tokens_left(session: Session) -> int:
    """Return the tokens that the session may still spend; 0 or less when the budget is spent."""
    return session.limits.max_tokens - session.spent.usage.total_tokens


def tokens_per_estimated(session: Session) -> float:
    """Return the model's token count per estimated token; 1 when it is unknown."""
    if not (session.spent.tokens_counted and session.spent.tokens_estimated):
        return 1.0
    return round(
        min(max(session.spent.tokens_counted / session.spent.tokens_estimated, _RATE_MIN), _RATE_MAX), 3
    )


def calibrated_tokens(session: Session, tokens_estimated: int) -> int:
    """Return the expected token count of the model for an estimate, from its earlier counts in the session."""
    return ceil(tokens_estimated * tokens_per_estimated(session))


def tokens_for_round(session: Session, briefing_tokens: int) -> int:
    """Return the tokens of a round with tools: a reply to that briefing, and the answer in another round."""
    return 2 * calibrated_tokens(session, briefing_tokens) + 2 * _REPLY_RESERVE_TOKENS


def cost_left_usd(session: Session) -> float | None:
    """Return the money that the session may still spend; None if it has no bound, or the cost is unknown."""
    most, spent = session.limits.max_cost_usd, session.spent.usage.cost_usd
    return None if most is None or spent is None else most - spent


def last_round_reason(
    session: Session, briefing_tokens: int, is_every_tool_out: bool = False
) -> TerminationReason | None:
    """Return why the model gets no tools in the round and has to answer from its facts; None if it gets tools.

    `briefing_tokens` are estimated; `is_every_tool_out`: every tool of this round is unavailable.
    """
    if session.models.is_last_call:
        return "model_failing"
    if not session.tools.usable:
        return None
    most = session.limits.max_tool_rounds
    if most is not None and session.spent.tool_rounds >= most:
        return "max_tool_rounds_reached"
    if session.steps.ends_with(session.round):
        return "step_failed"
    if session.round >= session.limits.max_rounds:
        return "max_rounds_reached"
    if session.spent.tool_calls >= session.limits.max_tool_calls:
        return "max_tool_calls_reached"
    if session.tools.barren_rounds >= BARREN_ROUNDS_MAX or is_every_tool_out:
        return "all_tools_failed"
    if tokens_left(session) < tokens_for_round(session, briefing_tokens):
        return "token_budget_exhausted"
    left_usd = cost_left_usd(session)
    if left_usd is not None and left_usd < _cost_of_round_usd(session, briefing_tokens):
        return "cost_budget_exhausted"
    return None


def is_answer(reason: TerminationReason, reply: ReasoningCompleted) -> bool:
    """Return whether a reply in a last round is the complete answer that was asked for.

    A query with a bound on rounds with tools asks for these rounds and then the answer. A reply with more calls is
    not the answer.
    """
    return reason == "max_tool_rounds_reached" and not reply.tool_calls


def explain(reason: TerminationReason | None, session: Session) -> str:
    """Return the reason of a last round, in words for the model."""
    match reason:
        case None:
            return ""
        case "max_rounds_reached":
            return f"The limit of {_counted(session.limits.max_rounds, 'round')} is reached."
        case "step_failed":
            return "It is the last round of this attempt at the step."
        case "max_tool_rounds_reached" if not session.limits.max_tool_rounds:
            return "This question is to be answered without tools."
        case "max_tool_rounds_reached":
            return f"This question allows {_counted(session.limits.max_tool_rounds or 0, 'round')} of tool calls."
        case "max_tool_calls_reached":
            return f"The limit of {_counted(session.limits.max_tool_calls, 'tool call')} is reached."
        case "all_tools_failed" if session.tools.barren_rounds < BARREN_ROUNDS_MAX:
            return "Every tool is unavailable at the moment."
        case "all_tools_failed":
            return f"Every tool call of the last {session.tools.barren_rounds} rounds failed."
        case "model_failing":
            return "Earlier attempts at a reply have failed."
        case "cost_budget_exhausted":
            return "The session's cost budget is nearly spent."
        case "token_budget_exhausted":
            return "The session's token budget is nearly spent."
        case _:
            return "It is the last round of this session."


def _cost_of_round_usd(session: Session, briefing_tokens: int) -> float:
    """Return the cost of a round with tools, at the session's average cost per token."""
    tokens, spent = session.spent.usage.total_tokens, session.spent.usage.cost_usd
    return tokens_for_round(session, briefing_tokens) * spent / tokens if tokens and spent else 0.0


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
