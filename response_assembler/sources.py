"""The sources of an answer, and the list of them under it. Pure."""

from collections.abc import Collection, Mapping, Sequence

from antiphon_shared.events.session import Source
from antiphon_shared.memory.session_memory import Memory
from antiphon_shared.memory.source import EXCERPT_CHARACTERS, source_of

from response_assembler.quote import code, quoted_fact, title

UNCITED_MAX = 20
"""Bound on the sources of an answer without citations."""
_SHORT_EXCERPT_CHARACTERS = 40


def cited_sources(memory: Memory, numbers: Mapping[str, int]) -> tuple[Source, ...]:
    """Return the sources of the numbered facts, in the order of their numbers."""
    return tuple(source_of(memory, id, number) for id, number in numbers.items())


def newest_sources(memory: Memory) -> tuple[Source, ...]:
    """Return the sources of an answer without citations: the newest facts, unnumbered."""
    return tuple(source_of(memory, id) for id in list(memory.facts)[-UNCITED_MAX:])


def sources_section(memory: Memory, sources: Sequence[Source], quoted: Collection[str] = ()) -> str:
    """Return the list of sources as Markdown; facts that the answer has `quoted` get a short excerpt."""
    if not sources:
        return ""
    lines = [_line(memory, source, source.id in quoted) for source in sources]
    return "\n".join(["**Sources**\n", *lines])


def _line(memory: Memory, source: Source, is_quoted: bool) -> str:
    fact = memory.facts[source.id]
    document = memory.document_of(fact)
    excerpt = quoted_fact(fact, document, _SHORT_EXCERPT_CHARACTERS if is_quoted else EXCERPT_CHARACTERS)
    description = " — ".join(filter(None, [title(document), excerpt]))
    return f"{source.number}. {description} ({code(source.tool)})"
