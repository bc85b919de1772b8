"""The bounds of a session: what is left of them, and when a round has to be the last. Pure."""

from math import ceil

from antiphon_shared.events import ReasoningCompleted
from antiphon_shared.events.session import Limits, QueryOptions, TerminationReason
from antiphon_shared.output.steps import rounds_of

from coordinator.ladder import BARREN_ROUNDS_MAX
from coordinator.session import Session

_REPLY_RESERVE_TOKENS = 1_000
_RATE_MIN, _RATE_MAX = 0.5, 3.0
"""Beyond, it is rather the count than the estimate that cannot be right."""


def resolve(options: QueryOptions, defaults: Limits) -> Limits:
    """Return a query's own limits where it sets them, the defaults for the rest; its time is cut to what can be kept.

    A bound on rounds with tools is one on rounds too, the answer's included, unless the query sets both. Steps have
    the rounds that all their attempts take.
    """
    chosen = options.model_dump(exclude_none=True, include=set(Limits.model_fields))
    if options.step_list:
        chosen.setdefault("max_rounds", rounds_of(options.step_list))
    if options.max_tool_rounds is not None:
        chosen.setdefault("max_rounds", options.max_tool_rounds + 1)
    deadline_s = min(chosen.get("deadline_s", defaults.deadline_s), defaults.deadline_max_s)
    return defaults.model_copy(update={**chosen, "deadline_s": deadline_s})


def tokens_left(session: Session) -> int:
    """Tokens the session may still spend; 0 or less when the budget is gone."""
    return session.limits.max_tokens - session.spent.usage.total_tokens


def tokens_per_estimated(session: Session) -> float:
    """How many tokens the model has counted for each that was estimated; 1 as long as nothing is known."""
    if not (session.spent.tokens_counted and session.spent.tokens_estimated):
        return 1.0
    return round(
        min(max(session.spent.tokens_counted / session.spent.tokens_estimated, _RATE_MIN), _RATE_MAX), 3
    )


def calibrated(session: Session, tokens_estimated: int) -> int:
    """What the model would count for that estimate, as far as the session has seen it count."""
    return ceil(tokens_estimated * tokens_per_estimated(session))


def tokens_for_round(session: Session, briefing_tokens: int) -> int:
    """What a round with tools takes: a reply to that briefing, estimated, and the answer in another round."""
    return 2 * calibrated(session, briefing_tokens) + 2 * _REPLY_RESERVE_TOKENS


def cost_left_usd(session: Session) -> float | None:
    """What the session may still spend; None when there is no bound, or nobody knows what was spent."""
    most, spent = session.limits.max_cost_usd, session.spent.usage.cost_usd
    return None if most is None or spent is None else most - spent


def last_round_reason(
    session: Session, briefing_tokens: int, is_every_tool_out: bool = False
) -> TerminationReason | None:
    """Why the round to come must do without tools, so that the model answers with what it has.

    `briefing_tokens` as they were estimated; `is_every_tool_out`: no tool of this round is in order.
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
    if session.tools.barren_rounds >= BARREN_ROUNDS_MAX:
        return "all_tools_failed"
    if is_every_tool_out:
        return "all_tools_failed"
    if tokens_left(session) < tokens_for_round(session, briefing_tokens):
        return "token_budget_exhausted"
    left_usd = cost_left_usd(session)
    if left_usd is not None and left_usd < _cost_of_round_usd(session, briefing_tokens):
        return "cost_budget_exhausted"
    return None


def is_answer(reason: TerminationReason, reply: ReasoningCompleted) -> bool:
    """Whether a reply in a last round is the answer that was asked for, and nothing cut it short.

    Rounds with tools, and then the answer, is what a bound on such rounds asks for: so it ends like any other. A
    reply that asks for more calls all the same does not.
    """
    return reason == "max_tool_rounds_reached" and not reply.tool_calls


def explain(reason: TerminationReason | None, session: Session) -> str:
    """The same, in words for the model."""
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
            return "Every tool is out of order at the moment."
        case "all_tools_failed":
            return f"Every tool call of the last {session.tools.barren_rounds} rounds failed."
        case "model_failing":
            return "Earlier attempts at a reply have failed."
        case "cost_budget_exhausted":
            return "The session's cost budget is nearly spent."
        case _:
            return "The session's token budget is nearly spent."


def _cost_of_round_usd(session: Session, briefing_tokens: int) -> float:
    """What a round with tools would cost, at what the session's tokens have cost so far."""
    tokens, spent = session.spent.usage.total_tokens, session.spent.usage.cost_usd
    return tokens_for_round(session, briefing_tokens) * spent / tokens if tokens and spent else 0.0


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
