"""The answer from the model's text, with numbered and verified citations and a list of sources. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from antiphon_shared.events.session import Citations, Source, Uncertainty
from antiphon_shared.memory.briefing import id_ranges
from antiphon_shared.memory.session_memory import Memory
from antiphon_shared.text.excerpt import one_line
from antiphon_shared.text.splice import Edit

from response_assembler.claims import MARK, uncited
from response_assembler.fact_validity import outdated_facts
from response_assembler.markdown import Reading, Sentence, parse_markdown
from response_assembler.numbering import Numbered, bare_numbers, number
from response_assembler.sources import cited_sources, newest_sources, sources_section
from response_assembler.uncertainty import uncertain
from response_assembler.verify import unsupported

_LISTED_MAX = 20
_CLAIMS_QUOTED_MAX = 3
_CLAIM_CHARACTERS = 120


@dataclass(frozen=True)
class Answer:
    """The answer as Markdown, the sources of its numbers, and its uncertainties."""

    text: str
    sources: tuple[Source, ...] = ()
    uncertainties: tuple[Uncertainty, ...] = ()


def cited_answer(text: str, memory: Memory, citations: Citations = "normal", closing: str = "") -> Answer:
    """Return the model's answer; `closing` is put between its text and the list of sources.

    An answer without citations gets the newest facts as its sources.
    """
    reading = parse_markdown(text)
    claims = tuple(uncited(reading.blocks, memory.facts)) if citations == "strict" else ()
    marks: list[Edit] = [(claim.end, claim.end, MARK) for claim in claims]
    numbered = number(text, reading.citations, memory.facts, [*bare_numbers(reading.blocks), *marks])
    sources = cited_sources(memory, numbered.numbers)
    parts = [_with_closed_fence(numbered.text, reading), closing, sources_section(memory, sources)]
    return Answer(
        text="\n\n".join(filter(None, parts)),
        sources=sources or newest_sources(memory),
        uncertainties=(
            *_citation_uncertainties(numbered, bool(memory.facts)),
            *_claim_uncertainties(claims),
            *unsupported(
                chain.from_iterable(block.sentences for block in reading.blocks), memory, numbered.numbers
            ),
            *outdated_facts(memory, numbered.numbers),
        ),
    )


def _citation_uncertainties(numbered: Numbered, are_facts_known: bool) -> list[Uncertainty]:
    uncertainties = []
    if unknown := id_ranges(numbered.unknown):
        listed = ", ".join(unknown[:_LISTED_MAX]) + (", …" if len(unknown) > _LISTED_MAX else "")
        message = f"The answer cites {listed}, which no tool returned. Do not rely on what it says there."
        uncertainties.append(uncertain("unknown_citation", message, listed))
    if are_facts_known and not numbered.numbers:
        uncertainties.append(uncertain("uncited"))
    return uncertainties


def _claim_uncertainties(claims: Sequence[Sentence]) -> list[Uncertainty]:
    if not claims:
        return []
    quoted = "; ".join(
        f"“{one_line(claim.text, _CLAIM_CHARACTERS)}”" for claim in claims[:_CLAIMS_QUOTED_MAX]
    )
    more = f"; and {len(claims) - _CLAIMS_QUOTED_MAX} more" if len(claims) > _CLAIMS_QUOTED_MAX else ""
    subject = (
        "1 statement of the answer cites"
        if len(claims) == 1
        else f"{len(claims)} statements of the answer cite"
    )
    return [uncertain("uncited_claims", f"{subject} no source: {quoted}{more}.")]


def _with_closed_fence(text: str, reading: Reading) -> str:
    """Return the text with an open code block closed, so that the following text is not code."""
    return f"{text.rstrip()}\n{reading.open_fence}" if reading.open_fence else text.rstrip()
