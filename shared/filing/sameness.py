"""Whether a statement is known already, in the same words or nearly the same.

Two texts are the same when their words are, in order, whatever the case, spacing and punctuation, and whatever the
words that say little (`the`, `also`). Every other word counts: of two sentences of twenty words that differ in
one, the one often denies the other. A sentence that leans on its document (`He was born there.`), or is very short,
is the same only below the same title. JSON is the same when it is equal, below the same title.
"""

from functools import lru_cache

from shared.filing.differences import Differences, Relations
from shared.filing.reading import read
from shared.memory import Document, Fact, Memory, MemoryDelta

_REMEMBERED = 2_048
_ANYWHERE = ""


class Known:
    """What is in memory, by what it is recognised by. Changed by `add` and `put` alone."""

    def __init__(self) -> None:
        self._facts: dict[tuple[str, str], str] = {}
        self._places: dict[tuple[int, str, str], str] = {}
        self._names: dict[str, str] = {}
        self._differences = Differences()

    @classmethod
    def of(cls, memory: Memory) -> "Known":
        """All of a memory's facts."""
        known = cls()
        for fact in memory.facts.values():
            known.put(fact, memory.documents[fact.document])
        return known

    def add(self, delta: MemoryDelta, memory: Memory) -> None:
        """Take in what was filed; `memory` holds it already."""
        for fact in delta.facts:
            self.put(fact, memory.documents[fact.document])

    def put(self, fact: Fact, document: Document) -> None:
        """Take in one fact."""
        reading = read(fact.statement, fact.is_json)
        if document.id not in self._names:
            self._names[document.id] = name_of(document.title, document.tool, fact.statement, fact.is_json)
        name = self._names[document.id]
        if name:
            self._facts.setdefault((reading.key, name), fact.id)
        if reading.is_telling and not (fact.is_json and name):
            self._facts.setdefault((reading.key, _ANYWHERE), fact.id)
        self._places.setdefault((document.round, document.call_id, fact.position), fact.id)
        if reading.is_telling and not fact.is_json:
            self._facts.setdefault((reading.key, ""), fact.id)
        self._differences.put(fact, document)

    def find(self, text: str, is_json: bool, name: str) -> str | None:
        """The id of the fact that says the same in a document of that name, or anywhere if that does not matter."""
        key = read(text, is_json).key
        return (self._facts.get((key, name)) if name else None) or self._facts.get((key, _ANYWHERE))

    def at(self, round: int, call_id: str, position: str) -> str | None:
        """The id of the fact that was taken from there, if there is one."""
        return self._places.get((round, call_id, position))

    def relations(self, text: str, is_json: bool, document: Document) -> Relations:
        """Which facts a new statement supersedes, is superseded by, or contradicts."""
        return self._differences.relations(text, is_json, document)


def name_of(title: str, tool: str, beginning: str, is_json: bool) -> str:
    """What a document is known by: its title; of a text without one, its tool and how it begins."""
    if title or is_json:
        return _folded(title)
    return f"{tool}\0{read(beginning, False).key}"


@lru_cache(_REMEMBERED)
def _folded(title: str) -> str:
    return " ".join(title.lower().split())
