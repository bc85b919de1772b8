"""An answer without any model: what was asked, is known, is missing and why, and what to try next. Pure."""

import re
from collections.abc import Sequence

from response_assembler.quote import code, plain, quote
from response_assembler.uncertainty import LIMITS, MESSAGE_CHARACTERS, failed
from shared.briefing import as_text
from shared.excerpt import one_line
from shared.memory import Fact, Memory, ToolUse
from shared.session import Status, TerminationReason

FACTS_MAX = 12
_FAILURES_MAX = 6
_QUESTION_CHARACTERS = 500
_SEARCHED_CHARACTERS = 4000
_WORD = re.compile(r"\w{3,}")

_NEXT: dict[TerminationReason, str] = {
    "natural_completion": "Ask again, in other words if you can.",
    "max_rounds_reached": "Ask again with more rounds (`max_rounds`), or ask for one part of the question.",
    "max_tool_calls_reached": "Ask again with more tool calls (`max_tool_calls`), or ask for less at once.",
    "token_budget_exhausted": "Ask again with a larger token budget (`max_tokens`), or ask for less at once.",
    "deadline_exceeded": "Ask again with more time (`deadline_s`), or ask for less at once.",
    "all_tools_failed": "See to what the tools complain about, then ask again.",
    "model_unavailable": "Ask again in a while; if it goes on, check the model's address, key and limits.",
    "model_refused": "Put the question differently; asked the same way, the model will decline again.",
    "reply_truncated": "Ask for a shorter answer, or for one part of the question.",
    "cancelled": "Ask again whenever you want; nothing more is being done for this question.",
    "internal_error": "Ask again; if it happens once more, look at the dead letters (`antiphon dead list`).",
}


def compose_partial(
    memory: Memory, reason: TerminationReason, status: Status, unfinished: Sequence[tuple[str, str]]
) -> tuple[str, tuple[Fact, ...]]:
    """The answer as Markdown, and the facts it quotes. `unfinished`: (id, tool) of calls still under way."""
    quoted = most_relevant(memory.facts, memory.intent)
    sections = [
        _opening(memory, reason, status, bool(quoted)),
        _known(quoted, len(memory.facts)),
        _missing(memory, unfinished),
        f"**What to try next**\n\n{_NEXT[reason]}",
    ]
    return "\n\n".join(filter(None, sections)), quoted


def closing_note(reason: TerminationReason) -> str:
    """What stands under a model's text that falls short; empty when nothing limits it."""
    return f"\n\n---\n\n*This answer may be incomplete: {LIMITS[reason]}.*" if reason in LIMITS else ""


def most_relevant(facts: Sequence[Fact], question: str) -> tuple[Fact, ...]:
    """The facts that share most words with the question, at most FACTS_MAX, in the order they were found."""
    if len(facts) <= FACTS_MAX:
        return tuple(facts)
    asked = _words(question)
    scores = [len(asked & _words(f"{fact.title} {as_text(fact.content)}")) for fact in facts]
    best = sorted(range(len(facts)), key=lambda index: (-scores[index], index))[:FACTS_MAX]
    return tuple(facts[index] for index in sorted(best))


def _opening(memory: Memory, reason: TerminationReason, status: Status, is_something_known: bool) -> str:
    asked = f"You asked: “{plain(one_line(memory.intent, _QUESTION_CHARACTERS))}”" if memory.intent else ""
    why = LIMITS.get(reason, "the model replied with nothing")
    if is_something_known:
        said = f"I have no finished answer, because {why}. Here is what the tools found."
    elif status == "cancelled":
        said = f"There is no answer, because {why}. Nothing had been found until then."
    else:
        said = f"I have no answer, because {why}, and nothing was found that I could quote."
    return "\n\n".join(filter(None, [asked, said]))


def _known(quoted: Sequence[Fact], found: int) -> str:
    if not quoted:
        return ""
    lines = [f"- {quote(fact)} [{fact.id}]" for fact in quoted]
    more = found - len(quoted)
    if more:
        lines.append(
            f"\n{more} more {'fact was' if more == 1 else 'facts were'} found, less close to the question."
        )
    return "**What is known**\n\n" + "\n".join(lines)


def _missing(memory: Memory, unfinished: Sequence[tuple[str, str]]) -> str:
    lines = [f"- {code(tool)} had not finished." for _, tool in unfinished]
    lines += [
        f"- Whether {code(use.tool)}{_with(use)} took effect is unknown; check before doing it again."
        for use in memory.tool_usage
        if use.outcome == "outcome_unknown"
    ]
    lines += [
        f"- {code(use.tool)}{_with(use)} found nothing."
        for use in memory.tool_usage
        if use.outcome in ("ok", "not_found") and not use.facts
    ]
    lines += [f"- {code(use.tool)}{_with(use)} failed: {_said(use)}" for use in failed(memory)]
    if not lines:
        return ""
    more = [f"- {len(lines) - _FAILURES_MAX} more of the kind."] if len(lines) > _FAILURES_MAX else []
    return "**What is missing**\n\n" + "\n".join(lines[:_FAILURES_MAX] + more)


def _with(use: ToolUse) -> str:
    """The arguments of a call as a person would say them."""
    said = ", ".join(f"{key}: {value}" for key, value in use.arguments.items())
    return f" ({plain(one_line(said, 100))})" if said else ""


def _said(use: ToolUse) -> str:
    return plain(one_line(use.message, MESSAGE_CHARACTERS)) or use.outcome


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text[:_SEARCHED_CHARACTERS].lower()))
