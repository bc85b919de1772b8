"""From the citations in an answer to the facts they name. Pure."""

import re
from collections.abc import Sequence

from response_assembler.uncertainty import KINDS
from shared.briefing import as_text
from shared.excerpt import one_line
from shared.memory import Fact
from shared.session import Source, Uncertainty

UNCITED_MAX = 20
"""Sources listed at most for an answer that cites none."""
EXCERPT_CHARACTERS = 300
_TITLE_CHARACTERS = 80
_IDS_MAX = 1000
_NAMED_MAX = 20
_CITATION = re.compile(r"\[\s*(F\d{1,9}(?:\s*(?:,|;|-|–|and|&)\s*F?\d{1,9})*)\s*\]")
_ID_OR_RUN = re.compile(r"F?(\d{1,9})(?:\s*[-–]\s*F?(\d{1,9}))?")


def cited_ids(answer: str) -> tuple[str, ...]:
    """The ids cited as `[F3]`, `[F1, F2]` or `[F4-F6]`, each once, in the order of the answer."""
    numbers: dict[int, None] = {}
    for citation in _CITATION.finditer(answer):
        for part in _ID_OR_RUN.finditer(citation[1]):
            first, last = int(part[1]), int(part[2] or part[1])
            for number in range(first, min(last, first + _IDS_MAX) + 1):
                numbers[number] = None
            numbers[last] = None
        if len(numbers) > _IDS_MAX:
            break
    return tuple(f"F{number}" for number in numbers)


def resolve(answer: str, facts: Sequence[Fact]) -> tuple[tuple[Source, ...], tuple[Uncertainty, ...]]:
    """The sources of an answer, and what is doubtful about its citations.

    An answer that cites nothing gets the newest facts as its sources, since they were before the model.
    """
    by_id = {fact.id: fact for fact in facts}
    ids = cited_ids(answer)
    sources = tuple(source_of(by_id[id]) for id in ids if id in by_id)
    doubts = _unknown(ids, by_id)
    if not sources and facts:
        sources = tuple(source_of(fact) for fact in facts[-UNCITED_MAX:])
        doubts.append(Uncertainty(kind="uncited", message=KINDS["uncited"], about="answer"))
    return sources, tuple(doubts)


def source_of(fact: Fact) -> Source:
    """A fact as a source, with the beginning of its content."""
    text = as_text(fact.content)
    return Source(
        id=fact.id,
        tool=fact.tool,
        call_id=fact.call_id,
        title=fact.title or one_line(text, _TITLE_CHARACTERS),
        excerpt=text if len(text) <= EXCERPT_CHARACTERS else one_line(text, EXCERPT_CHARACTERS),
    )


def _unknown(ids: Sequence[str], by_id: dict[str, Fact]) -> list[Uncertainty]:
    unknown = [id for id in ids if id not in by_id]
    if not unknown:
        return []
    named = ", ".join(unknown[:_NAMED_MAX]) + (", …" if len(unknown) > _NAMED_MAX else "")
    message = f"The answer cites {named}, which no tool returned. Do not rely on what it says there."
    return [Uncertainty(kind="unknown_citation", message=message, about=named)]
