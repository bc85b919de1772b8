"""Where a round's documents, facts and sightings gather, under ids that go on from those of memory."""

from collections.abc import Iterable
from typing import NamedTuple

from shared.filing.differences import Relations
from shared.filing.parts import Part, Statement, parts_of
from shared.filing.recalled import Recalled
from shared.filing.salience import salience_of
from shared.filing.sameness import Known
from shared.memory import Document, Fact, Memory, MemoryDelta, Sighting


class Origin(NamedTuple):
    """The call that a result came of."""

    round: int
    call_id: str
    tool: str
    is_untrusted: bool


class Drawer:
    """What one round adds, while it is being filed."""

    def __init__(self, memory: Memory, known: Known) -> None:
        self._memory = memory
        self._known = known
        self._new = Known()
        self._first_document = _number_after(reversed(memory.documents))
        self._first_fact = _number_after(reversed(memory.facts))
        self._documents: list[Document] = []
        self._facts: list[Fact] = []
        self._sightings: list[Sighting] = []

    @property
    def delta(self) -> MemoryDelta:
        return MemoryDelta(
            documents=tuple(self._documents), facts=tuple(self._facts), sightings=tuple(self._sightings)
        )

    def file(self, parts: Iterable[Part], origin: Origin) -> tuple[str, ...]:
        """The ids of what the parts state. What is known already is filed as a sighting of it."""
        told: list[str] = []
        for part in parts:
            told += self._file_part(part, origin)
        return tuple(told)

    def file_again(self, recalled: Recalled, is_untrusted: bool) -> tuple[str, ...]:
        """The ids of what was recalled; what is not in memory any more is filed where it first came from."""
        origin = Origin(recalled.round, recalled.call_id, recalled.tool, is_untrusted)
        told: list[str] = []
        for part in parts_of(recalled.content, recalled.position):
            document: Document | None = None
            for statement in part.statements:
                id = self._find(statement, part.title)
                if id is None:
                    document = document or self._new_document(part, origin)
                    id = self._new_fact(document, statement)
                told.append(id)
        return tuple(told)

    def _file_part(self, part: Part, origin: Origin) -> list[str]:
        found = [self._find(statement, part.title) for statement in part.statements]
        if self._is_repeat(part, origin, found):
            return [id for id in found if id is not None]
        document = self._new_document(part, origin)
        told: list[str] = []
        for statement, known in zip(part.statements, found, strict=True):
            id = known or self._new.find(statement.text, statement.is_json, part.title)
            if id is None:
                id = self._new_fact(document, statement)
            else:
                self._sightings.append(Sighting(fact=id, document=document.id, position=statement.position))
            told.append(id)
        return told

    def _is_repeat(self, part: Part, origin: Origin, found: list[str | None]) -> bool:
        """Whether this is a document again that the same tool has told, so that no source is new."""
        sources = set()
        for id in found:
            if id is None:
                return False
            document = self._document_of(id)
            sources.add((document.tool, document.title))
        return sources == {(origin.tool, part.title)}

    def _find(self, statement: Statement, title: str) -> str | None:
        found = self._known.find(statement.text, statement.is_json, title)
        return found or self._new.find(statement.text, statement.is_json, title)

    def _document_of(self, id: str) -> Document:
        number = int(id[1:]) - self._first_fact
        if number < 0:
            return self._memory.documents[self._memory.facts[id].document]
        return self._documents[int(self._facts[number].document[1:]) - self._first_document]

    def _new_document(self, part: Part, origin: Origin) -> Document:
        document = Document(
            id=f"D{self._first_document + len(self._documents)}",
            round=origin.round,
            call_id=origin.call_id,
            tool=origin.tool,
            position=part.position,
            title=part.title,
            is_untrusted=origin.is_untrusted,
        )
        self._documents.append(document)
        return document

    def _new_fact(self, document: Document, statement: Statement) -> str:
        fact = Fact(
            id=f"F{self._first_fact + len(self._facts)}",
            document=document.id,
            position=statement.position,
            statement=statement.text,
            is_json=statement.is_json,
            salience=salience_of(statement.text, statement.is_json),
        )
        self._facts.append(fact)
        self._new.put(fact, document.title)
        return fact.id


def _number_after(ids: Iterable[str]) -> int:
    """What comes after the last of the ids, which go up."""
    last = next(iter(ids), None)
    return int(last[1:]) + 1 if last else 1
