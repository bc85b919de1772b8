"""What the reader of an answer should know before trusting it: the kinds there are, and their wording. Pure.

docs/uncertainty.md is the same table for readers; a test keeps the two equal.
"""

from collections.abc import Iterable, Iterator, Sequence

from shared.excerpt import one_line
from shared.memory import Memory, ToolUse
from shared.session import TerminationReason, Uncertainty

KINDS: dict[str, str] = {
    "max_rounds_reached": "The rounds were used up; the answer is made from what was found by then.",
    "max_tool_calls_reached": "The tool calls were used up; the answer is made from what was found by then.",
    "token_budget_exhausted": "The token budget was used up before the question was worked through.",
    "deadline_exceeded": "The time was over before the question was worked through.",
    "all_tools_failed": "Every tool call failed, round after round.",
    "model_unavailable": "The model could not be reached, even with the smallest briefing.",
    "model_refused": "The model declined to answer.",
    "reply_truncated": "The model's reply broke off before its end.",
    "cancelled": "Somebody cancelled the session.",
    "internal_error": "A part of the pipeline failed.",
    "tool_failed": "A tool failed and did not succeed later, so what it would have told is not known.",
    "outcome_unknown": "A call may or may not have taken effect. Check before doing it again.",
    "substituted": "A tool could not answer, and another was used in its place.",
    "call_unfinished": "A call was still under way, or had not begun, when the session ended.",
    "composed_from_facts": "No model wrote the answer; it quotes what the tools returned.",
    "empty_reply": "The model ended without saying anything.",
    "uncited": "The answer does not say which facts it rests on; those the model had are listed.",
    "unknown_citation": "The answer cites a fact that does not exist.",
    "record_missing": "A part of the session's record could not be read and is not in the answer.",
    "component_failed": "A step failed inside one of the components; the session went on without it.",
    "model_failed": "A call to the model failed; the session went on with a smaller briefing, or without it.",
    "tools_unavailable": "A tool that was asked for, or the whole catalogue, was not there, or not permitted.",
    "grant_invalid": "The session's grant could not be used, so no tools were offered.",
    "approval_missing": "Calls waited for a person's approval when the session ended, and were not run.",
}
"""Kind -> what it means. The last five are the coordinator's and arrive with the request."""

LIMITS: dict[TerminationReason, str] = {
    "max_rounds_reached": "the limit of reasoning rounds was reached before everything was looked up",
    "max_tool_calls_reached": "the limit of tool calls was reached before everything was looked up",
    "token_budget_exhausted": "the token budget ran out before the question was worked through",
    "deadline_exceeded": "the time ran out before the question was worked through",
    "all_tools_failed": "none of the tools gave a usable result",
    "model_unavailable": "the model could not be reached",
    "model_refused": "the model declined to answer",
    "reply_truncated": "the model's reply broke off before its end",
    "cancelled": "the session was cancelled before the work was done",
    "internal_error": "a part of the pipeline failed",
}
"""Why an answer falls short, as the end of a sentence."""

_ANSWERS_IN_THEMSELVES = ("ok", "not_found", "outcome_unknown")
MESSAGE_CHARACTERS = 300
"""Of what a tool said about its failure."""


def of_ending(reason: TerminationReason) -> Iterator[Uncertainty]:
    """What the end of the session itself leaves uncertain."""
    if reason in LIMITS:
        limit = LIMITS[reason]
        yield Uncertainty(kind=reason, message=f"{limit[0].upper()}{limit[1:]}.", about="session")


def of_tools(memory: Memory, unfinished: Sequence[tuple[str, str]]) -> Iterator[Uncertainty]:
    """Unknown outcomes, calls still under way (id, tool), failures that no later success made good, and tools
    that others answered for.
    """
    for use in memory.tool_usage:
        if use.outcome == "outcome_unknown":
            message = f"Whether `{use.tool}` took effect is unknown. Check before doing it again."
            yield Uncertainty(kind="outcome_unknown", message=message, about=f"{use.tool} {use.call_id}")
    for call_id, tool in unfinished:
        message = f"`{tool}` had not finished when the session ended; what it would have told is not known."
        yield Uncertainty(kind="call_unfinished", message=message, about=f"{tool} {call_id}")
    for use in failed(memory):
        message = f"`{use.tool}` failed ({use.outcome}): {one_line(use.message, MESSAGE_CHARACTERS)}"
        yield Uncertainty(kind="tool_failed", message=message, about=use.tool)
    for use in _substituted(memory):
        message = one_line(use.substitute_because, MESSAGE_CHARACTERS)
        yield Uncertainty(kind="substituted", message=message, about=use.tool)


def failed(memory: Memory) -> Sequence[ToolUse]:
    """The last failure of each tool that did not succeed afterwards. Finding nothing is no failure."""
    last = {use.tool: use for use in memory.tool_usage if use.outcome != "outcome_unknown"}
    return [use for use in last.values() if use.outcome not in _ANSWERS_IN_THEMSELVES]


def _substituted(memory: Memory) -> Iterable[ToolUse]:
    """The first use of each alternative that answered in the place of each tool."""
    uses = [use for use in memory.tool_usage if use.outcome == "ok" and use.substitute]
    return {(use.tool, use.substitute): use for use in reversed(uses)}.values()


def without_repeats(doubts: Iterable[Uncertainty]) -> tuple[Uncertainty, ...]:
    """Each doubt once, the first ones first."""
    return tuple(dict.fromkeys(doubts))
