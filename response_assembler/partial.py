"""An answer without a model: the question, the known facts, the gaps with reasons, and the next steps. Pure."""

from collections.abc import Iterable, Sequence, Set
from itertools import groupby

from antiphon_shared.events.session import Status, TerminationReason, Uncertainty
from antiphon_shared.memory.conversation import CONVERSATION
from antiphon_shared.memory.layers import Fact
from antiphon_shared.memory.session_memory import Memory
from antiphon_shared.text.citations import cited_ids
from antiphon_shared.text.excerpt import one_line

from response_assembler.closeness import Cluster, Group, grouped, most_salient
from response_assembler.missing import Gaps, missing_section, next_section
from response_assembler.quote import plain, plain_but_cited, quoted_fact, title
from response_assembler.uncertainty import WHY_INCOMPLETE

_QUESTION_CHARACTERS = 500
_LINE_CHARACTERS = 400
_NOTED_MAX = 6


def compose_partial(
    memory: Memory,
    reason: TerminationReason,
    status: Status,
    unfinished: Sequence[tuple[str, str]] = (),
    uncertainties: Sequence[Uncertainty] = (),
) -> tuple[str, tuple[str, ...]]:
    """Return the answer as Markdown that cites facts by their ids, and the ids of the facts it quotes.

    `unfinished`: (id, tool) of calls in flight; `uncertainties`: the coordinator's uncertainties.
    """
    answers, concluded = _notes_with_facts(memory)
    cited = cited_ids("\n".join((*answers, *concluded)))
    groups = grouped(memory, cited)
    most_distinctive = () if cited or any(group.clusters for group in groups) else most_salient(memory)
    quoted = [
        fact.id
        for group in (*groups, Group("", most_distinctive))
        for cluster in group.clusters
        for fact in cluster
    ]
    gaps = Gaps(memory, groups, unfinished, uncertainties)
    sections = [
        _opening(memory, reason, status, bool(cited or quoted)),
        _findings_section(memory, answers, concluded, groups, most_distinctive, {*cited, *quoted}),
        missing_section(gaps),
        next_section(gaps, reason),
    ]
    return "\n\n".join(filter(None, sections)), tuple(quoted)


def closing_note(reason: TerminationReason) -> str:
    """Return the note under a model's text that may be incomplete; empty for a natural completion."""
    return (
        f"---\n\n*This answer may be incomplete: {WHY_INCOMPLETE[reason]}.*"
        if reason in WHY_INCOMPLETE
        else ""
    )


def _opening(memory: Memory, reason: TerminationReason, status: Status, has_findings: bool) -> str:
    question = plain(one_line(memory.query, _QUESTION_CHARACTERS))
    question_text = f"You asked: “{question}”" if question.strip() else ""
    why = WHY_INCOMPLETE.get(reason, "the model replied with nothing")
    if has_findings:
        opening = f"I have no finished answer, because {why}. Here is what I know so far."
    elif status == "cancelled":
        opening = f"There is no answer, because {why}. Nothing had been found until then."
    else:
        opening = f"I have no answer, because {why}, and nothing was found that I could quote."
    return "\n\n".join(filter(None, [question_text, opening]))


def _notes_with_facts(memory: Memory) -> tuple[list[str], list[str]]:
    """Return the model's notes of answers and conclusions that cite existing facts, each once."""
    answers = [line for line in memory.answered if _cites_fact(memory, line)]
    notes = [one.note for one in memory.reasoning if one.note is not None]
    concluded = dict.fromkeys(line for note in notes for line in note.concluded if _cites_fact(memory, line))
    return answers[-_NOTED_MAX:], [line for line in concluded if line not in answers][-_NOTED_MAX:]


def _cites_fact(memory: Memory, line: str) -> bool:
    return any(id in memory.facts for id in cited_ids(line))


def _findings_section(
    memory: Memory,
    answers: list[str],
    concluded: list[str],
    groups: Iterable[Group],
    extra: Sequence[Cluster],
    shown: Set[str],
) -> str:
    parts = [f"- {_answer(line)}" for line in answers]
    parts = ["\n".join(parts)] if parts else []
    if concluded:
        lines = [f"- {plain_but_cited(_short(line))}" for line in concluded]
        parts.append("Worked out so far:\n\n" + "\n".join(lines))
    for group in groups:
        if group.clusters:
            heading = f"On “{plain(_short(group.question))}”:\n\n" if group.is_part else ""
            parts.append(heading + _facts(memory, group.clusters))
    if extra:
        parts.append("None of it speaks of the question in its own words.\n\n" + _facts(memory, extra))
    if not parts:
        return ""
    if more := sum(_is_current_finding(memory, fact) for id, fact in memory.facts.items() if id not in shown):
        parts.append(
            f"{more} more {'fact was' if more == 1 else 'facts were'} found, less close to the question."
        )
    return "\n\n".join(["**What is known**", *parts])


def _is_current_finding(memory: Memory, fact: Fact) -> bool:
    """Return whether a fact is not superseded, and comes from this session's tools."""
    return fact.id not in memory.superseded and memory.document_of(fact).tool != CONVERSATION


def _answer(line: str) -> str:
    """Return a line such as `Who teaches it? Ada [F3]` with the question in italics."""
    question, mark, rest = _short(line).partition("? ")
    if not mark or cited_ids(question):
        return plain_but_cited(_short(line))
    return f"*{plain(question)}?* {plain_but_cited(rest)}"


def _short(line: str) -> str:
    """Return a text on one line that keeps its citations even if it is cut."""
    short = one_line(line, _LINE_CHARACTERS)
    cited = set(cited_ids(short))
    lost = [f"[{id}]" for id in cited_ids(line)[:_NOTED_MAX] if id not in cited]
    return " ".join([short, *lost]) if short.endswith("…") else short


def _facts(memory: Memory, clusters: Iterable[Cluster]) -> str:
    """Return a line per document with its facts, and one per contradiction with its sides."""
    lines: list[str] = []
    for document, run in groupby(clusters, key=lambda sides: sides[0].document if len(sides) == 1 else ""):
        if document:
            lines.append(f"- {_of_one_document(memory, [fact for (fact,) in run])}")
            continue
        for sides in run:
            lines.append("- The sources disagree here, and no date decides between them:")
            lines += [f"  - {_of_one_document(memory, [fact])}" for fact in sides]
    return "\n".join(lines)


def _of_one_document(memory: Memory, facts: list[Fact]) -> str:
    """Return the facts of one document: `**Title**: “one sentence” [F3] “another” [F5]`."""
    document = memory.document_of(facts[0])
    is_structured = any(fact.is_json for fact in facts)
    statements = (" · " if is_structured else " ").join(
        f"{quoted_fact(fact, document)} [{fact.id}]" for fact in facts
    )
    return f"{title(document)}: {statements}" if title(document) else statements
