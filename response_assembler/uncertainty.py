"""The uncertainties of an answer: their kinds and wording. Pure.

docs/uncertainty.md has the same table for readers; a test keeps the two equal.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from antiphon_shared.events.session import Severity, Source, TerminationReason, Uncertainty
from antiphon_shared.memory.conversation import CONVERSATION
from antiphon_shared.memory.layers import ToolUse
from antiphon_shared.memory.repeated import calls_of_unknown_outcome, repetitions
from antiphon_shared.memory.session_memory import Memory
from antiphon_shared.text.excerpt import one_line
from antiphon_shared.tools.relevance import ASK_USER


class Kind(NamedTuple):
    """One kind of uncertainty."""

    meaning: str
    severity: Severity


WHY_INCOMPLETE: dict[TerminationReason, str] = {
    "max_rounds_reached": "the limit of reasoning rounds was reached before everything was looked up",
    "max_tool_rounds_reached": "the rounds with tools were used up before everything was looked up",
    "max_tool_calls_reached": "the limit of tool calls was reached before everything was looked up",
    "token_budget_exhausted": "the token budget ran out before the question was worked through",
    "cost_budget_exhausted": "the cost budget was used up before the question was worked through",
    "deadline_exceeded": "the time ran out before the question was worked through",
    "all_tools_failed": "none of the tools gave a usable result",
    "model_unavailable": "the model could not be reached",
    "model_failing": "the model failed again and again, so it was asked a last time, without tools",
    "model_refused": "the model declined to answer",
    "reply_truncated": "the model's reply broke off before its end",
    "validation_incomplete": "not every validation that was demanded has passed on an answer",
    "output_invalid": "no answer of the model's fit the schema that was demanded",
    "workflow_failed": "the run of the workflow did not complete",
    "step_failed": "a step could not be completed",
    "cancelled": "the session was cancelled before the work was done",
    "internal_error": "a part of the pipeline failed",
}
"""Why an answer is incomplete, as the end of a sentence, for every termination reason but `natural_completion`."""


def _sentence(clause: str) -> str:
    return f"{clause[0].upper()}{clause[1:]}."


_SERIOUS_ENDINGS: frozenset[TerminationReason] = frozenset(
    (
        "all_tools_failed",
        "model_refused",
        "validation_incomplete",
        "output_invalid",
        "workflow_failed",
        "step_failed",
        "internal_error",
    )
)

KINDS: dict[str, Kind] = {
    **{
        reason: Kind(_sentence(why), "serious" if reason in _SERIOUS_ENDINGS else "caution")
        for reason, why in WHY_INCOMPLETE.items()
    },
    "write_stands": Kind("A run failed, and one of its writes took effect and was not undone.", "serious"),
    "output_left_out": Kind("The output of a run is too large for its answer.", "caution"),
    "tool_failed": Kind(
        "A tool failed and did not succeed later, so what it would have returned is not known.", "caution"
    ),
    "outcome_unknown": Kind(
        "A call may or may not have taken effect. Check before doing it again.", "serious"
    ),
    "write_repeated": Kind(
        "The model asked again for a write that had been made; nothing was done again.", "note"
    ),
    "write_refused": Kind(
        "The model asked again for a write after other writes, and it was not made again.", "caution"
    ),
    "substituted": Kind("A tool could not answer, and another answered instead.", "note"),
    "call_unfinished": Kind(
        "A call was still running, or had not begun, when the session ended.", "caution"
    ),
    "memory_full": Kind("Facts were found that could not be kept: the session's memory was full.", "caution"),
    "summarized": Kind("The model read a part of the facts as a summary, not word for word.", "note"),
    "composed_from_facts": Kind("No model wrote the answer; it quotes what the tools returned.", "note"),
    "earlier_answer": Kind(
        "The answer cites what was answered earlier in the conversation, which was not looked up again.", "note"
    ),
    "empty_reply": Kind("The model ended without saying anything.", "caution"),
    "uncited": Kind(
        "The answer does not say which facts it rests on; those the model had are listed.", "caution"
    ),
    "uncited_claims": Kind(
        "Statements of the answer cite no source; each is marked `[no source]`. Only with `citations: strict`.",
        "caution",
    ),
    "unknown_citation": Kind("The answer cites a fact that does not exist.", "serious"),
    "quote_not_found": Kind("A quotation is not in the facts cited for it.", "serious"),
    "number_not_found": Kind(
        "A number is not in the facts cited for it; it may be computed.", "note"
    ),
    "superseded_cited": Kind("The answer cites a fact for which there is a later one.", "caution"),
    "contradicted": Kind(
        "The answer cites a fact that another fact contradicts, and no date decides between them.", "caution"
    ),
    "record_missing": Kind(
        "A part of the session's record could not be read and is not in the answer.", "caution"
    ),
    "evidence_left_out": Kind(
        "Facts close to the question did not fit into the last briefing.", "caution"
    ),
    "component_failed": Kind(
        "A step failed inside one of the components; the session continued without it.", "caution"
    ),
    "model_failed": Kind(
        "A call to the model failed; the session continued with a smaller briefing, another model, or without it.",
        "note",
    ),
    "other_model": Kind("Another model than the requested one wrote a part of the text or of the facts used.", "note"),
    "cost_unknown": Kind("The cost of the model is not known, so it was not bounded.", "caution"),
    "tools_unavailable": Kind(
        "A requested tool, or the whole catalogue, was missing, not permitted, or unavailable.",
        "caution",
    ),
    "grant_invalid": Kind(
        "The session's grant could not be used, so no tools were offered.", "caution"
    ),
    "grant_ignored": Kind(
        "There was no key to verify the session's grant; the session had the default scopes and tenant.",
        "caution",
    ),
    "approval_missing": Kind(
        "Calls needed a person's approval, got none in time, and were not run.", "caution"
    ),
    "output_missing": Kind("The answer had to fit a schema, and the session ended without one.", "serious"),
    "question_unanswered": Kind("The model asked the user a question, and got no answer in time.", "caution"),
}  # fmt: skip  # one form for all rows
"""The kinds by name. The last eleven come only from the coordinator, with its request."""

_ANSWERED = ("ok", "not_found")
_NOT_FAILED = (*_ANSWERED, "outcome_unknown")
MESSAGE_CHARACTERS = 300
"""Bound on a tool's error message."""


def uncertain(kind: str, message: str = "", about: str = "answer") -> Uncertainty:
    """Return one uncertainty of a kind in the table, with its severity; the table's wording is the default."""
    meaning, severity = KINDS[kind]
    return Uncertainty(kind=kind, message=message or meaning, about=about, severity=severity)


def with_severity(reported: Uncertainty) -> Uncertainty:
    """Return an uncertainty of the request with the table's severity, unless it has its own severity."""
    kind = KINDS.get(reported.kind)
    if kind is None or reported.severity != Uncertainty.model_fields["severity"].default:
        return reported
    return reported.model_copy(update={"severity": kind.severity})


def ending_uncertainties(reason: TerminationReason) -> Iterator[Uncertainty]:
    """Yield the uncertainty that follows from the end of the session itself."""
    if reason in WHY_INCOMPLETE:
        yield uncertain(reason, about="session")


def memory_uncertainties(memory: Memory) -> Iterator[Uncertainty]:
    """Yield uncertainties about facts that were not stored, and about facts that the model read as a summary."""
    if lost := facts_lost(memory):
        tools = dict.fromkeys(f"`{one_line(use.tool, 80)}`" for use in memory.tool_usage if use.facts_lost)
        tool_names = ", ".join(list(tools)[:3]) + (" and others" if len(tools) > 3 else "")
        message = f"{facts_were(lost)} found by {tool_names} but not kept: the session's memory was full."
        yield uncertain("memory_full", message, "memory")
    if memory.summaries:
        yield uncertain("summarized", about="memory")


def source_uncertainties(sources: Iterable[Source]) -> Iterator[Uncertainty]:
    """Yield an uncertainty if the answer cites earlier answers of its conversation."""
    if any(source.number and source.tool == CONVERSATION for source in sources):
        yield uncertain("earlier_answer", about=CONVERSATION)


def tool_uncertainties(memory: Memory, unfinished: Sequence[tuple[str, str]]) -> Iterator[Uncertainty]:
    """Yield uncertainties about tools.

    They concern unknown outcomes, `unfinished` calls (id, tool), failures without a later success, and substituted
    tools.
    """
    for use in calls_of_unknown_outcome(memory.tool_usage):
        message = f"Whether `{use.tool}` took effect is unknown. Check before doing it again."
        yield uncertain("outcome_unknown", message, f"{use.tool} {use.call_id}")
    for call_id, tool in unfinished:
        message = f"`{tool}` had not finished when the session ended; its result is not known."
        yield uncertain("call_unfinished", message, f"{tool} {call_id}")
    for use in failed(memory):
        why = f": {one_line(use.what_happened, MESSAGE_CHARACTERS)}" if use.what_happened else "."
        yield uncertain("tool_failed", f"`{use.tool}` failed ({use.outcome}){why}", use.tool)
    for kind, use, message in repetitions(memory.tool_usage):
        yield uncertain(kind, message, f"{use.tool} {use.call_id}")
    for use in _substituted(memory):
        yield uncertain("substituted", one_line(use.substitute_because, MESSAGE_CHARACTERS), use.tool)


def failed(memory: Memory) -> Sequence[ToolUse]:
    """Return the last failure of each tool that did not succeed in a later round; an empty result is a success.

    A call of an unknown tool does not count once any later call has succeeded. A question that the user has
    not answered is reported as `question_unanswered` instead.
    """
    uses = [use for use in memory.tool_usage if use.tool != ASK_USER]
    last: dict[str, ToolUse] = {}
    for use in (use for use in uses if use.outcome not in ("outcome_unknown", "repeated_write")):
        before = last.get(use.tool, use)
        is_same_round = before.round == use.round and before.outcome not in _NOT_FAILED
        if not (is_same_round and use.outcome in _NOT_FAILED):  # another call of the round has failed
            last[use.tool] = use
    last_answer = max((use.round for use in uses if use.outcome in _ANSWERED), default=0)
    return [
        use
        for use in last.values()
        if use.outcome not in _NOT_FAILED and not (use.outcome == "unknown_tool" and use.round < last_answer)
    ]


def facts_lost(memory: Memory) -> int:
    return sum(use.facts_lost for use in memory.tool_usage)


def facts_were(count: int) -> str:
    """Return the count as the beginning of a sentence: `1 fact was`, `2 facts were`."""
    return "1 fact was" if count == 1 else f"{count} facts were"


def _substituted(memory: Memory) -> Iterable[ToolUse]:
    """Return the first use of each alternative that answered instead of a tool."""
    uses = [use for use in memory.tool_usage if use.outcome == "ok" and use.substitute]
    return {(use.tool, use.substitute): use for use in reversed(uses)}.values()


def without_repeats(uncertainties: Iterable[Uncertainty]) -> tuple[Uncertainty, ...]:
    """Return each uncertainty once, in the order of first occurrence."""
    return tuple(dict.fromkeys(uncertainties))
