"""The gaps of a partial answer: the missing parts, the reasons, and the next steps. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from antiphon_shared.events.session import TerminationReason, Uncertainty
from antiphon_shared.memory.layers import ToolUse
from antiphon_shared.memory.repeated import calls_of_unknown_outcome
from antiphon_shared.memory.session_memory import Memory
from antiphon_shared.text.excerpt import list_names, one_line
from antiphon_shared.text.words import words
from antiphon_shared.tools.relevance import BUILT_INS

from response_assembler.closeness import Group
from response_assembler.quote import code, plain
from response_assembler.uncertainty import MESSAGE_CHARACTERS, facts_lost, facts_were, failed

_LINES_MAX = 10
_SEARCHES_MAX = 4
_STEPS_MAX = 4
_QUESTION_CHARACTERS = 200
_ANSWERED = ("ok", "not_found")
_MISSING_KINDS = (
    "approval_missing",
    "question_unanswered",
    "tools_unavailable",
    "grant_invalid",
    "component_failed",
)

_NEXT: dict[TerminationReason, str] = {
    "natural_completion": "Ask again, in other words if you can.",
    "max_rounds_reached": "Ask again with more rounds (`max_rounds`), or ask for one part of the question.",
    "max_tool_rounds_reached": "Ask again with more rounds of tools (`max_tool_rounds`), or ask for less at once.",
    "max_tool_calls_reached": "Ask again with more tool calls (`max_tool_calls`), or ask for less at once.",
    "token_budget_exhausted": "Ask again with a larger token budget (`max_tokens`), or ask for less at once.",
    "deadline_exceeded": "Ask again with more time (`deadline_s`), or ask for less at once.",
    "all_tools_failed": "Correct the problem that the tools report, then ask again.",
    "cost_budget_exhausted": "Ask for less at once, or allow more with `max_cost_usd`.",
    "model_failing": "Ask again in a while, or in a shorter form.",
    "model_unavailable": "Ask again in a while; if the failure persists, check the model's address, key and limits.",
    "model_refused": "Put the question differently; asked the same way, the model will decline again.",
    "reply_truncated": "Ask for a shorter answer, or for one part of the question.",
    "validation_incomplete": "Read in the uncertainty which validations are missing, and allow more rounds for them.",
    "output_invalid": "Read in the uncertainty which rules were broken; loosen the schema, or allow more rounds.",
    "workflow_failed": "Read what each node did; a run that undid nothing can be resumed.",
    "step_failed": "Read in the uncertainty why the step failed; correct its instructions, tools or schema.",
    "cancelled": "Ask again whenever you want; nothing more is being done for this question.",
    "internal_error": "Ask again; if it happens once more, look at the dead letters (`antiphon dead list`).",
}
_UNSERVED = "Start a tool dispatcher (`antiphon status` shows whether one is alive), then ask again."
_AFTER_FAILURE = {
    "permission_denied": "{tool} was not permitted; ask with a grant or scopes that allow it.",
    "rate_limit": "{tool} was asked too often; wait a while before asking again.",
    "circuit_open": "{tool} keeps failing and is not called for now; wait a while before asking again.",
    "timeout": "{tool} did not answer in time; check whether its service is up, or ask it for less at once.",
    "api_failure": "{tool} could not reach its service, or was refused; check whether that service is up.",
}


@dataclass(frozen=True)
class Gaps:
    """The data about the gaps of an answer."""

    memory: Memory
    groups: Sequence[Group]
    unfinished: Sequence[tuple[str, str]]
    uncertainties: Sequence[Uncertainty]

    @property
    def parts(self) -> list[Group]:
        """Return the open questions, if there are more than the query itself."""
        return [group for group in self.groups if group.is_part]


def missing_section(gaps: Gaps) -> str:
    """Return the section on the gaps and their reasons; empty without known gaps."""
    searched: set[str] = set()
    lines = [*_open_questions(gaps, searched), *_call_lines(gaps, searched)]
    if lost := facts_lost(gaps.memory):
        lines.append(f"{facts_were(lost)} found but not kept, because the session's memory was full.")
    lines += [plain(one_line(one.message, 300)) for one in gaps.uncertainties if one.kind in _MISSING_KINDS]
    return _list_section("What is missing", lines)


def next_section(gaps: Gaps, reason: TerminationReason) -> str:
    """Return the section on next steps, from the reason of the ending and the gaps."""
    steps = list(dict.fromkeys((*_checks(gaps), _first_step(gaps, reason), *_steps(gaps))))[:_STEPS_MAX]
    text = steps[0] if len(steps) == 1 else "\n".join(f"- {step}" for step in steps)
    return f"**What to try next**\n\n{text}"


def _first_step(gaps: Gaps, reason: TerminationReason) -> str:
    unserved = ("tools_unavailable", "tool_dispatcher")
    is_unserved = any((one.kind, one.about) == unserved for one in gaps.uncertainties)
    return _UNSERVED if is_unserved and reason == "deadline_exceeded" else _NEXT[reason]


def _open_questions(gaps: Gaps, searched: set[str]) -> Iterator[str]:
    """Yield a line for each open question; `searched` collects the ids of the calls that a line mentions."""
    covered = [_quoted(group) for group in gaps.parts if group.has_facts]
    if covered:
        questions = f"{', '.join(covered[:-1])} and {covered[-1]}" if len(covered) > 1 else covered[0]
        yield f"An answer to {questions} that I could stand by; what is said above may not settle it."
    for group in gaps.parts:
        if group.has_facts:
            continue
        tries = _tries_for(group.question, gaps.memory)
        searched.update(use.call_id for use in tries)
        if tries:
            yield f"{_quoted(group)}: nothing was found. Already searched: {_searches_text(tries)}."
        else:
            yield f"{_quoted(group)} had not been looked up yet."


def _quoted(group: Group) -> str:
    return f"“{plain(one_line(group.question, _QUESTION_CHARACTERS))}”"


def _tries_for(question: str, memory: Memory) -> list[ToolUse]:
    """Return the calls about a question: those that share two words with it, or one if it has only one."""
    question_words = set(words(question))
    needed = min(2, len(question_words))
    return [
        use
        for use in _searches(memory)
        if needed and len(question_words & set(words(_words_of(use)))) >= needed
    ]


def _searches(memory: Memory) -> list[ToolUse]:
    """Return the calls that succeeded, without calls of built-in tools."""
    return [use for use in memory.tool_usage if use.outcome in _ANSWERED and use.tool not in BUILT_INS]


def _call_lines(gaps: Gaps, searched: set[str]) -> Iterator[str]:
    for _, tool in gaps.unfinished:
        yield f"{code(tool)} had not finished."
    yield from _unknown_outcomes(gaps.memory, gaps.uncertainties)
    without_facts = [use for use in _searches(gaps.memory) if not use.facts and not use.facts_lost]
    for tool in dict.fromkeys(use.tool for use in without_facts):
        uses = [use for use in without_facts if use.tool == tool and use.call_id not in searched]
        if uses:
            yield f"{code(tool)} found nothing for {_searches_text(uses, has_tool_names=False)}."
    for use in failed(gaps.memory):
        message = plain(one_line(use.what_happened, MESSAGE_CHARACTERS)) or use.outcome
        yield f"{code(use.tool)}{_arguments_text(use)} failed: {message}"


def unknown_section(memory: Memory, uncertainties: Sequence[Uncertainty]) -> str:
    """Return the section on calls of unknown outcome, for an answer by the model; empty without such calls."""
    return _list_section("What may have taken effect", list(_unknown_outcomes(memory, uncertainties)))


def _list_section(title: str, lines: Sequence[str]) -> str:
    """Return the section with an item for each line, up to _LINES_MAX; empty without lines."""
    if not lines:
        return ""
    more = [f"{len(lines) - _LINES_MAX} more of the kind."] if len(lines) > _LINES_MAX else []
    return f"**{title}**\n\n" + "\n".join(f"- {line}" for line in (*lines[:_LINES_MAX], *more))


def _unknown_outcomes(memory: Memory, uncertainties: Sequence[Uncertainty]) -> Iterator[str]:
    """Yield a line for each call of unknown outcome, in the memory or in the coordinator's uncertainties."""
    calls = {f"{use.tool} {use.call_id}" for use in memory.tool_usage}
    for use in calls_of_unknown_outcome(memory.tool_usage):
        yield f"Whether {code(use.tool)}{_arguments_text(use)} took effect is unknown; check before doing it again."
    for uncertainty in uncertainties:
        if uncertainty.kind == "outcome_unknown" and uncertainty.about not in calls:
            yield one_line(uncertainty.message, MESSAGE_CHARACTERS)


def _checks(gaps: Gaps) -> list[str]:
    """Return the checks to make before asking again."""
    uses = [use for use in gaps.memory.tool_usage if use.outcome == "outcome_unknown"]
    tools = dict.fromkeys(code(use.tool) for use in uses)
    return [f"Check first whether {' and '.join(list(tools)[:3])} took effect."] if tools else []


def _steps(gaps: Gaps) -> Iterator[str]:
    """Yield further steps that would help, the most pressing first."""
    if any(uncertainty.kind == "approval_missing" for uncertainty in gaps.uncertainties):
        yield "Approve or deny the calls while the session waits for it (`antiphon sessions approve ID`)."
    if any(uncertainty.kind == "question_unanswered" for uncertainty in gaps.uncertainties):
        yield "Ask again with the requested information, or answer while it waits (`antiphon sessions answer ID`)."
    for use in failed(gaps.memory):
        if use.outcome in _AFTER_FAILURE:
            yield _AFTER_FAILURE[use.outcome].format(tool=code(use.tool))
    without_facts = [group for group in gaps.parts if not group.has_facts]
    for group in without_facts:
        is_searched = bool(_tries_for(group.question, gaps.memory))
        how = "in other words, or name where it can be found" if is_searched else "by itself"
        yield f"Ask {_quoted(group)} {how}."
    if not gaps.memory.facts and gaps.memory.tool_usage and not without_facts and not failed(gaps.memory):
        yield "Name what you look for in other words: as it is asked, the searches found nothing."
    if facts_lost(gaps.memory):
        yield "Ask for one part at a time, so that all that is found can be kept."


def _arguments_text(use: ToolUse) -> str:
    """Return the arguments of a call in words."""
    text = _named_arguments(use)
    return f" ({plain(one_line(text, 100))})" if text else ""


def _named_arguments(use: ToolUse) -> str:
    return ", ".join(f"{key}: {value}" for key, value in use.arguments.items())


def _searches_text(uses: Sequence[ToolUse], has_tool_names: bool = True) -> str:
    """Return searches as a list: `“MCP teachers” with `search`, “MCP tutors” with `search` and 2 more`."""
    texts = dict.fromkeys(
        _search_text(use) + (f" with {code(use.tool)}" if has_tool_names else "") for use in uses
    )
    return list_names(texts, _SEARCHES_MAX)


def _search_text(use: ToolUse) -> str:
    text = use.query or _named_arguments(use)
    return f"“{plain(one_line(text, 100))}”" if text else "what was asked"


def _words_of(use: ToolUse) -> str:
    return use.query or ", ".join(str(value) for value in use.arguments.values())[:1000]
