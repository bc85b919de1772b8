"""The layers of a session's memory, as documents, and the delta that one filing adds to them.

Memory is append-only: a list of deltas, one per round, under the session's key; a filed fact never changes. A reader
folds the deltas. The synthesizer writes it; the dispatcher's `recall` and the assembler read it.

    documents   the sources of statements: a passage, a record, a page          D1, D2, ...
    facts       statements, each verbatim from its document                     F1, F2, ...
    reasoning   the model's conclusions, plans and doubts, by round
    tool usage  calls, and their outcomes
    summaries   a model's summaries of facts that do not fit any more
    intents     goal, constraints and sub-questions, each time that a round has changed them
    earlier     earlier questions of the conversation; their answers are documents like any other
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Any, TypeVar

from pydantic import Field

from antiphon_shared.events.session import Status
from antiphon_shared.formats import since
from antiphon_shared.memory.intent import Intent, Question, changed
from antiphon_shared.memory.note import Note
from antiphon_shared.stored import Kind
from antiphon_shared.text.citations import cited_ids
from antiphon_shared.values import LogEntry, Round, Value


class Document(Value):
    """A source of facts: one passage, record or text of a tool's result."""

    id: str = Field(description="`D` and a number; counts from D1 within a session.")
    round: Round
    call_id: str
    tool: str = Field(description="Tool that returned it, or the alternative that answered.")
    position: str = Field(
        description="JSON path in the result, such as `$.results[2]`; `$`: the whole result."
    )
    title: str = Field(default="", description="Title of the document, on one line.")
    is_untrusted: bool = Field(default=False, description="True if it is text from unknown authors.")


class Fact(Value):
    """One statement, verbatim: a sentence of a text, or a record of a structured result."""

    id: str = Field(description="`F` and a number; counts from F1 within a session.")
    document: str = Field(description="Id of the document it was taken from first.")
    position: str = Field(
        description="Position in the result: `$.results[2].text[120:180]` for a piece of text, "
        "counted in characters, or the JSON path of a value."
    )
    statement: str = Field(description="The text as it stands there, or the value as compact JSON.")
    is_json: bool = False
    salience: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="Importance independent of the question; low for boilerplate, 0.5 when unknown.",
    )
    supersedes: tuple[str, ...] = Field(
        default=(),
        description="Earlier facts on the same subject and attribute, of an explicitly earlier date.",
    )
    superseded_by: tuple[str, ...] = Field(default=(), description="Earlier facts with a later date.")
    contradicts: tuple[str, ...] = Field(
        default=(), description="Earlier facts that say otherwise, of no date that would decide."
    )


class Sighting(Value):
    """A known statement that was found again, or nearly so, in another document."""

    fact: str
    document: str
    position: str


FiledT = TypeVar("FiledT", Document, Fact)


class ReasoningNote(Value):
    """The model's text of one round, without its tool calls."""

    round: Round
    text: str = Field(default="", description="Its words, without the note.")
    note: Note | None = None


class ToolUse(Value):
    """A call of a tool, with its outcome."""

    round: Round
    call_id: str
    tool: str
    arguments: dict[str, Any]
    query: str = Field(default="", description="Search text of the call; empty if it was not a search.")
    outcome: str = Field(description="`ok`, or the error type.")
    message: str = Field(default="", description="Error message for the model.")
    what_happened: str = Field(
        default="",
        description="The part of a failure's message that is for readers too: without what the model should do next.",
        json_schema_extra=since(2),
    )
    advice: str = Field(
        default="",
        description="For a failed call: the suggested next step for the model, on one line.",
        json_schema_extra=since(4),
    )
    facts: tuple[str, ...] = Field(
        default=(), description="Ids of the facts in the result, new or already known; neighbours as `F3-F9`."
    )
    substitute: str = Field(default="", description="The alternative that answered in the tool's place.")
    substitute_because: str = Field(
        default="", description="Reason for the substitution, for the model and the reader."
    )
    handle: str = Field(
        default="", description="Handle of the whole result, if the facts cover only its beginning."
    )
    is_untrusted: bool = Field(default=False, description="True if the result is text from unknown authors.")
    results: LogEntry | None = Field(default=None, description="The tools.completed that holds its result.")
    repeated: str = Field(
        default="",
        json_schema_extra=since(2),
        description="For a write that was not run: id of the identical earlier call.",
    )
    repeated_because: str = Field(
        default="", json_schema_extra=since(2), description="Message about it for the model, on one line."
    )
    settles: str = Field(
        default="",
        json_schema_extra=since(2),
        description="For a write that ran: id of the identical call whose outcome was unknown until then.",
    )
    facts_lost: int = Field(default=0, ge=0, description="Facts not kept because the memory was full.")

    @property
    def happened_and_next(self) -> tuple[str, str]:
        """Return what happened and what to do next, from the message; all as the second where the first is unknown."""
        happened = self.what_happened if self.message.startswith(self.what_happened) else ""
        return happened, self.message.removeprefix(happened).strip()


class Summary(Value):
    """A model's summary of facts, checked against them."""

    round: Round
    text: str
    facts: tuple[str, ...] = Field(description="Ids of the facts it stands for; neighbours as `F3-F9`.")


class EarlierQuestion(Value):
    """An earlier question of the conversation."""

    call_id: str = Field(description="`turn_1`: what the documents of its answer name as their call.")
    question: str
    status: Status


class MemoryDelta(Value):
    """The delta of one filing, committed with the answer to the round's `briefing.requested`."""

    documents: tuple[Document, ...] = ()
    facts: tuple[Fact, ...] = ()
    sightings: tuple[Sighting, ...] = ()
    reasoning: tuple[ReasoningNote, ...] = ()
    tool_usage: tuple[ToolUse, ...] = ()
    summaries: tuple[Summary, ...] = ()
    earlier: tuple[EarlierQuestion, ...] = ()
    intents: tuple[Intent, ...] = Field(default=(), json_schema_extra=since(2))

    @property
    def is_empty(self) -> bool:
        layers = (self.facts, self.sightings, self.reasoning, self.tool_usage, self.summaries, self.earlier)
        return not any((*layers, self.intents))


MEMORY_DELTA: Kind[MemoryDelta] = Kind("a memory delta", MemoryDelta, writes_defaults=False)


@dataclass(frozen=True)
class Memory:
    """The layers folded. A value: `plus` returns another one."""

    query: str = ""
    """The user's words, verbatim."""
    documents: Mapping[str, Document] = field(default_factory=lambda: MappingProxyType({}))
    facts: Mapping[str, Fact] = field(default_factory=lambda: MappingProxyType({}))
    """The facts by id, in the order of their ids."""
    sightings: tuple[Sighting, ...] = ()
    reasoning: tuple[ReasoningNote, ...] = ()
    tool_usage: tuple[ToolUse, ...] = ()
    summaries: tuple[Summary, ...] = ()
    earlier: tuple[EarlierQuestion, ...] = ()
    """The earlier questions, the oldest first."""
    intents: tuple[Intent, ...] = ()
    """The intents, the oldest first."""

    @classmethod
    def of(cls, query: str, deltas: Iterable[MemoryDelta] = ()) -> "Memory":
        """Return the memory of all deltas, which begin with the oldest."""
        memory = cls(query)
        for delta in deltas:
            memory = memory.plus(delta)
        return memory

    def plus(self, delta: MemoryDelta) -> "Memory":
        """Return the memory with one more delta."""
        if delta.is_empty and not delta.documents:
            return self
        after = Memory(
            query=self.query,
            documents=_with(self.documents, delta.documents),
            facts=_with(self.facts, delta.facts),
            sightings=self.sightings + delta.sightings,
            reasoning=self.reasoning + delta.reasoning,
            tool_usage=self.tool_usage + delta.tool_usage,
            summaries=self.summaries + delta.summaries,
            earlier=self.earlier + delta.earlier,
            intents=self.intents + delta.intents,
        )
        known, new = vars(self), vars(after)
        new["asked"] = self.asked  # the query is the same, so it is parsed once
        if all(one.note is None for one in delta.reasoning):
            new.update((name, known[name]) for name in _OF_NOTES if name in known)
        if not any(one.supersedes or one.superseded_by or one.contradicts for one in delta.facts):
            new.update((name, known[name]) for name in _OF_PAIRS if name in known)
        return after

    def since(self, round: Round) -> "Memory":
        """Return the memory with all facts, without reasoning and tool uses before a round."""
        after = replace(
            self,
            reasoning=tuple(note for note in self.reasoning if note.round >= round),
            tool_usage=tuple(use for use in self.tool_usage if use.round >= round),
            intents=tuple(one for one in self.intents if one.round >= round),
        )
        vars(after)["asked"] = self.asked
        return after

    @cached_property
    def asked(self) -> Question:
        """Return the goal, constraints and parts of the query."""
        return Question(self.query)

    def document_of(self, fact: Fact) -> Document:
        return self.documents[fact.document]

    @cached_property
    def open_questions(self) -> tuple[str, ...]:
        """Return the open sub-questions: the query's parts by rule, until a note names others.

        A note that only answers leaves the rest open.
        """
        still = self.asked.parts
        for note in reversed(self._notes_newest_first):
            answered = [line.casefold() for line in note.answered]
            still = note.open or tuple(
                one for one in still if not any(line.startswith(_asked(one)) for line in answered)
            )
        return still

    @cached_property
    def answered(self) -> tuple[str, ...]:
        """Return the answered sub-questions with their answers, oldest first, each once."""
        said = [line for note in reversed(self._notes_newest_first) for line in note.answered]
        return tuple(dict.fromkeys(said))

    @cached_property
    def constraints(self) -> tuple[str, ...]:
        """Return the constraints that the model noted, oldest first, each once; without the question's own."""
        said = [line for note in reversed(self._notes_newest_first) for line in note.constraints]
        return tuple(dict.fromkeys(said))

    @cached_property
    def goal(self) -> str:
        """Return the goal in the model's newest note; empty while it has named none."""
        return next((note.goal[-1] for note in self._notes_newest_first if note.goal), "")

    def intent_after(self, round: Round) -> Intent | None:
        """Return the session's intent, with its changes since the last filed one; None if it has not changed."""
        now = Intent.trusted(
            round=round,
            goal=self.goal or self.asked.goal,
            constraints=tuple(dict.fromkeys((*self.asked.constraints, *self.constraints))),
            open=self.open_questions,
            answered=self.answered,
            changed=(),
        )
        if not self.intents:
            return now
        news = changed(self.intents[-1], now)
        return now.model_copy(update={"changed": news}) if news else None

    @cached_property
    def cited(self) -> frozenset[str]:
        """Return the ids of existing facts that the model's conclusions cite."""
        texts = [one.text for one in self.reasoning]
        texts += [line for note in self._notes_newest_first for line in (*note.concluded, *note.answered)]
        return frozenset(id for text in texts for id in _cited_ids(text) if id in self.facts)

    @cached_property
    def superseded(self) -> Mapping[str, str]:
        """Return the fact with a later date for each superseded fact."""
        later: dict[str, str] = {}
        for fact in self.facts.values():
            if fact.supersedes:
                later.update(dict.fromkeys(fact.supersedes, fact.id))
            if fact.superseded_by:
                later[fact.id] = fact.superseded_by[-1]
        return later

    @cached_property
    def contradicted(self) -> Mapping[str, tuple[str, ...]]:
        """Return the contradicting facts of each fact, in both directions."""
        pairs: dict[str, tuple[str, ...]] = {}
        for fact in self.facts.values():
            for other in fact.contradicts:
                pairs[fact.id] = (*pairs.get(fact.id, ()), other)
                pairs[other] = (*pairs.get(other, ()), fact.id)
        return pairs

    @cached_property
    def _notes_newest_first(self) -> tuple[Note, ...]:
        return tuple([one.note for one in reversed(self.reasoning) if one.note is not None])


_OF_NOTES = ("answered", "constraints", "goal", "open_questions", "_notes_newest_first")
"""Properties of the query and the model's notes, which the next memory shares unless it has a new note."""
_OF_PAIRS = ("superseded", "contradicted")
"""Properties of related facts, which the next memory shares unless it has a new related fact."""


def _with(known: Mapping[str, FiledT], new: Iterable[FiledT]) -> MappingProxyType[str, FiledT]:
    """Return both, by id. The proxy's own copy takes a tenth of the time of unpacking it."""
    copied = known.copy() if isinstance(known, MappingProxyType) else dict(known)
    copied.update((one.id, one) for one in new)
    return MappingProxyType(copied)


@lru_cache(4_096)
def _cited_ids(text: str) -> tuple[str, ...]:
    """Return the cited ids. Cached, as each memory of a session reads the same notes again."""
    return cited_ids(text)


def _asked(question: str) -> str:
    """Return the beginning of a line that answers the question."""
    return question.casefold().rstrip(" ?.")
