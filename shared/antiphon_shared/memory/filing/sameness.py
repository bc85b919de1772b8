"""Recognition of known statements, in the same words or nearly the same. Pure.

Two texts are the same when their words are, in order, as `reading` reads them: with any spacing, and with any
punctuation that does not change the meaning. Every word counts, except words like `the` and `also`: of two
sentences of twenty words that differ in one, the one often denies the other. A sentence that refers to its
document (`He was born there.`), or is very short, is the same only below the same title. JSON is the same
when it is equal, below the same title. Untrusted content can be recognised in trusted words, never the other
way round.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from antiphon_shared.memory.conversation import CONVERSATION
from antiphon_shared.memory.filing.differences import Differences, Relations
from antiphon_shared.memory.filing.pieces import Statement
from antiphon_shared.memory.filing.reading import read_statement
from antiphon_shared.memory.layers import Document, Fact, MemoryDelta, Sighting
from antiphon_shared.memory.session_memory import Memory

_REMEMBERED = 2_048
_ANYWHERE = ""
_SLICE = re.compile(r"\[(\d{1,12}):\d{1,12}\]\Z")
Words = tuple[str, str]
"""A statement's key and its document's name, or `_ANYWHERE`."""


class KnownFacts:
    """The facts in memory, by the forms in which they are recognised. Only `add` and `add_fact` change it."""

    def __init__(self) -> None:
        self._trusted: dict[Words, str] = {}
        self._untrusted: dict[Words, str] = {}
        self._ids_by_position: dict[tuple[int, str, str], str] = {}
        self._seen: set[tuple[str, str, str]] = set()
        self._differences = Differences()

    @classmethod
    def of(cls, memory: Memory) -> "KnownFacts":
        """Return all of a memory's facts."""
        facts = cls()
        facts._take(memory.facts.values(), memory.sightings, memory)
        return facts

    def add(self, delta: MemoryDelta, memory: Memory) -> None:
        """Add a filed delta; `memory` holds it already."""
        self._take(delta.facts, delta.sightings, memory)

    def add_fact(self, fact: Fact, document: Document, name: str) -> None:
        """Add one fact, of a document that is known by `name`."""
        reading = read_statement(fact.statement, fact.is_json)
        facts = self._untrusted if document.is_untrusted else self._trusted
        if name:
            facts.setdefault((reading.key, name), fact.id)
        if reading.is_telling and not (fact.is_json and name):
            facts.setdefault((reading.key, _ANYWHERE), fact.id)
        self._ids_by_position.setdefault((document.round, document.call_id, fact.position), fact.id)
        self.see(fact.id, document)
        self._differences.add(fact, document)

    def see(self, fact: str, document: Document) -> None:
        """Note that a document states a fact."""
        self._seen.add((fact, document.tool, document.title))

    def has_seen(self, fact: str, tool: str, title: str) -> bool:
        """Return whether the tool has returned it in a document of that title."""
        return (fact, tool, title) in self._seen

    def find(self, statement: Statement, name: str, is_untrusted: bool) -> str | None:
        """Return the id of the same fact in the document `name`; in any document if its meaning allows that."""
        key = read_statement(statement.text, statement.is_json).key
        for facts in (self._trusted, self._untrusted)[: 1 + is_untrusted]:
            id = (facts.get((key, name)) if name else None) or facts.get((key, _ANYWHERE))
            if id:
                return id
        return None

    def fact_at(self, round: int, call_id: str, position: str) -> str | None:
        """Return the id of the fact from that position, if there is one."""
        return self._ids_by_position.get((round, call_id, position))

    def relations(self, statement: Statement, document: Document) -> Relations:
        """Return the facts that a new statement supersedes, is superseded by, or contradicts."""
        return self._differences.relations(statement, document)

    def _take(self, facts: Iterable[Fact], sightings: Iterable[Sighting], memory: Memory) -> None:
        # An earlier answer is not a source: a tool's same statement is filed separately.
        facts = [fact for fact in facts if memory.documents[fact.document].tool != CONVERSATION]
        # A document is known by its first statement, even if that is known from elsewhere.
        beginnings: dict[str, tuple[int, Fact]] = {}
        seen = [(one.document, one.position, memory.facts[one.fact]) for one in sightings]
        for id, position, fact in (*((one.document, one.position, one) for one in facts), *seen):
            start = _start(position)
            if id not in beginnings or start < beginnings[id][0]:
                beginnings[id] = start, fact
        for fact in facts:
            document = memory.documents[fact.document]
            first = beginnings[document.id][1]
            self.add_fact(
                fact, document, name_of(document.title, document.tool, first.statement, first.is_json)
            )
        for id, _, fact in seen:
            self.see(fact.id, memory.documents[id])


def name_of(title: str, tool: str, beginning: str, is_json: bool) -> str:
    """Return the name of a document: its title, or the tool and the beginning of a text without one."""
    if title or is_json:
        return _folded(title)
    return f"{tool}\0{read_statement(beginning, False).key}"


def _start(position: str) -> int:
    """Return the start of a statement in its text; -1 for a value."""
    text = _SLICE.search(position)
    return int(text[1]) if text else -1


@lru_cache(_REMEMBERED)
def _folded(title: str) -> str:
    return " ".join(title.lower().split())
