"""A builder of a round's delta: documents, facts and sightings, whose ids continue the ids in memory. Pure."""

from collections.abc import Iterable
from typing import NamedTuple

from antiphon_shared.memory.briefing import number_of
from antiphon_shared.memory.conversation import CONVERSATION
from antiphon_shared.memory.filing.differences import NONE, Relations
from antiphon_shared.memory.filing.parts import parts_of
from antiphon_shared.memory.filing.pieces import Part, Statement
from antiphon_shared.memory.filing.recalled import Recalled
from antiphon_shared.memory.filing.salience import salience_of
from antiphon_shared.memory.filing.sameness import KnownFacts, name_of
from antiphon_shared.memory.layers import Document, Fact, MemoryDelta, Sighting
from antiphon_shared.memory.session_memory import Memory


class Origin(NamedTuple):
    """The call that returned a result."""

    round: int
    call_id: str
    tool: str
    is_untrusted: bool


class MemoryDeltaBuilder:
    """The delta of one round, while it is being filed."""

    def __init__(self, memory: Memory, filed: KnownFacts) -> None:
        self._memory = memory
        self._filed = filed
        self._new = KnownFacts()
        self._first_document = len(memory.documents) + 1
        self._first_fact = len(memory.facts) + 1
        self._documents: list[Document] = []
        self._facts: list[Fact] = []
        self._sightings: list[Sighting] = []

    @property
    def delta(self) -> MemoryDelta:
        return MemoryDelta(
            documents=tuple(self._documents), facts=tuple(self._facts), sightings=tuple(self._sightings)
        )

    def file(self, parts: Iterable[Part], origin: Origin) -> tuple[str, ...]:
        """File parts, with known statements as sightings, and return the ids of their facts."""
        ids: list[str] = []
        for part in parts:
            ids += self._file_part(part, origin)
        return tuple(ids)

    def file_again(self, recalled: Recalled, is_untrusted: bool) -> tuple[str, ...]:
        """Return the ids of recalled facts; file a fact that is no longer in memory under its first call."""
        if recalled.tool == CONVERSATION:
            return self._of_conversation(recalled)
        call = (recalled.round, recalled.call_id)
        was_untrusted = any(
            use.is_untrusted for use in self._memory.tool_usage if (use.round, use.call_id) == call
        )
        origin = Origin(*call, recalled.tool, is_untrusted or was_untrusted)
        ids: list[str] = []
        for part in parts_of(recalled.content, recalled.position):
            document: Document | None = None
            name = _name(part, origin)
            for statement in part.statements:
                id = self._filed.fact_at(*origin[:2], statement.position) or self._find(
                    statement, name, origin
                )
                if id is None:
                    document = document or self._new_document(part, origin)
                    id = self._new_fact(document, statement, name)
                ids.append(id)
        return tuple(ids)

    def _of_conversation(self, recalled: Recalled) -> tuple[str, ...]:
        """Return the ids of recalled facts of an earlier answer, which `recall` has read from memory."""
        return tuple(
            fact.id
            for fact in self._memory.facts.values()
            if self._memory.documents[fact.document].call_id == recalled.call_id
            and self._memory.documents[fact.document].tool == CONVERSATION
            and fact.statement in str(recalled.content)
        )

    def _file_part(self, part: Part, origin: Origin) -> list[str]:
        name = _name(part, origin)
        existing = [self._find(statement, name, origin) for statement in part.statements]
        if self._is_repeat(part, origin, existing):
            return [id for id in existing if id is not None]
        document = self._new_document(part, origin)
        ids: list[str] = []
        for statement, existing_id in zip(part.statements, existing, strict=True):
            id = existing_id or self._new.find(statement, name, origin.is_untrusted)
            if id is None:
                id = self._new_fact(document, statement, name)
            elif self._document_of(id) is not document:
                self._new.see(id, document)
                self._sightings.append(Sighting(fact=id, document=document.id, position=statement.position))
            ids.append(id)
        return ids

    def _is_repeat(self, part: Part, origin: Origin, existing: list[str | None]) -> bool:
        """Return whether the same tool has returned the same document before, so that it is not a new source."""
        return all(
            id is not None
            and any(facts.has_seen(id, origin.tool, part.title) for facts in (self._filed, self._new))
            for id in existing
        )

    def _find(self, statement: Statement, name: str, origin: Origin) -> str | None:
        id = self._filed.find(statement, name, origin.is_untrusted)
        return id or self._new.find(statement, name, origin.is_untrusted)

    def _document_of(self, id: str) -> Document:
        number = number_of(id) - self._first_fact
        if number < 0:
            return self._memory.documents[self._memory.facts[id].document]
        return self._documents[number_of(self._facts[number].document) - self._first_document]

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

    def _new_fact(self, document: Document, statement: Statement, name: str) -> str:
        relations = self._relations(document, statement)
        fact = Fact(
            id=f"F{self._first_fact + len(self._facts)}",
            document=document.id,
            position=statement.position,
            statement=statement.text,
            is_json=statement.is_json,
            salience=salience_of(statement.text, statement.is_json),
            **relations,
        )
        self._facts.append(fact)
        self._new.add_fact(fact, document, name)
        return fact.id

    def _relations(self, document: Document, statement: Statement) -> dict[str, tuple[str, ...]]:
        """Return the relations of the statement to earlier facts and to those of this round."""
        old = self._filed.relations(statement, document)
        new = self._new.relations(statement, document)
        if old is NONE and new is NONE:
            return {}
        return {name: getattr(old, name) + getattr(new, name) for name in Relations._fields}


def _name(part: Part, origin: Origin) -> str:
    first = part.statements[0]
    return name_of(part.title, origin.tool, first.text, first.is_json)
