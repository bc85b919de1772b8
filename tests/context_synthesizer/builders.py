"""Sessions as they grow round by round."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from antiphon_shared.memory.briefing import Briefing, Level
from antiphon_shared.memory.filing import KnownFacts, file_round
from antiphon_shared.memory.layers import Fact, MemoryDelta, ReasoningNote
from antiphon_shared.memory.note import Note
from antiphon_shared.memory.session_memory import Memory

from context_synthesizer.session_index import TOKENS_MAX, SessionIndex
from tests.memories import Call, a_round


def index_of(query: str, deltas: Iterable[MemoryDelta], tokens_max: int = TOKENS_MAX) -> SessionIndex:
    """Return the index after the deltas, which are given oldest first."""
    session_index = SessionIndex(query, tokens_max)
    for delta in deltas:
        session_index.add(delta)
    return session_index


@dataclass(frozen=True)
class Round:
    """The data of one round."""

    calls: Sequence[Call] = ()
    text: str = "I look it up."
    note: Note | None = None
    supersedes: Sequence[tuple[int, int]] = ()
    """The place of a fact among the new ones, and the number of an older one that it supersedes."""
    contradicts: Sequence[tuple[int, int]] = ()


@dataclass(frozen=True)
class Session:
    """A session's stored memory and its tool results."""

    query: str
    deltas: tuple[MemoryDelta, ...]
    results: Mapping[tuple[int, str], Any] = field(default_factory=dict)

    @property
    def memory(self) -> Memory:
        return Memory.of(self.query, self.deltas)

    def session_index(self, tokens_max: int = TOKENS_MAX) -> SessionIndex:
        return index_of(self.query, self.deltas, tokens_max)

    def briefing(self, tokens_max: int = TOKENS_MAX, level: Level = "full") -> Briefing:
        return self.session_index(tokens_max).briefing(len(self.deltas) + 1, 100, level)


def a_session(*rounds: Round, query: str = "Which courses teach MCP, and who teaches them?") -> Session:
    """Return the rounds filed one after the other, the first in round 1."""
    memory, known = Memory.of(query), KnownFacts()
    deltas: list[MemoryDelta] = []
    results: dict[tuple[int, str], Any] = {}
    for number, given in enumerate(rounds, 1):
        reasoning, completed = a_round(*given.calls, round=number, text=given.text)
        delta = _with_relations(
            file_round(memory, reasoning, completed, filed_facts=known), given, memory, number
        )
        memory = memory.plus(delta)
        known.add(delta, memory)
        deltas.append(delta)
        results |= {(number, one.call_id): one.data for one in completed.results}
    return Session(query, tuple(deltas), results)


def _with_relations(delta: MemoryDelta, given: Round, memory: Memory, round: int) -> MemoryDelta:
    facts = list(delta.facts)
    for kind in ("supersedes", "contradicts"):
        for place, number in getattr(given, kind):
            if not facts or f"F{number}" not in memory.facts:
                continue
            fact = facts[place % len(facts)]
            others = dict.fromkeys((*getattr(fact, kind), f"F{number}"))
            facts[place % len(facts)] = fact.model_copy(update={kind: tuple(others)})
    update: dict[str, Any] = {"facts": tuple(facts)}
    if given.note is not None:
        update["reasoning"] = (ReasoningNote(round=round, text=given.text, note=given.note),)
    return delta.model_copy(update=update)


def passages(*titled: tuple[str, str]) -> list[dict[str, str]]:
    """Return a search's result: titled passages."""
    return [{"title": title, "text": text} for title, text in titled]


def a_search(query: str, *titled: tuple[str, str]) -> Call:
    return "search", {"query": query}, passages(*titled)


def fact_saying(memory: Memory, words: str) -> Fact:
    """Return the one fact whose statement holds those words."""
    (found,) = [fact for fact in memory.facts.values() if words in fact.statement]
    return found


def with_rounds(session: Session, rounds: list[Round]) -> Session:
    """Return the session with more rounds, filed as by an index."""
    session_index = session.session_index()
    deltas = list(session.deltas)
    for number, given in enumerate(rounds, len(deltas) + 1):
        deltas.append(session_index.file(*a_round(*given.calls, round=number, text="")))
    return Session(session.query, tuple(deltas))
