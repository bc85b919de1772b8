"""A fact as a source of an answer. Pure."""

from antiphon_shared.events.session import Source
from antiphon_shared.memory.session_memory import Memory
from antiphon_shared.text.excerpt import one_line, shorten

EXCERPT_CHARACTERS = 300
_TITLE_CHARACTERS = 80


def source_of(memory: Memory, id: str, number: int = 0) -> Source:
    """Return a fact as a source, with the beginning of its statement, verbatim."""
    fact = memory.facts[id]
    document, text = memory.document_of(fact), fact.statement
    return Source(
        id=id,
        number=number,
        tool=document.tool,
        call_id=document.call_id,
        title=document.title or one_line(text, _TITLE_CHARACTERS),
        excerpt=text if len(text) <= EXCERPT_CHARACTERS else shorten(text, EXCERPT_CHARACTERS),
    )
