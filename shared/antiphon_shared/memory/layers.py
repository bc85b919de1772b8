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

from typing import Any

from pydantic import Field

from antiphon_shared.events.session import Status
from antiphon_shared.formats import since
from antiphon_shared.memory.intent import Intent
from antiphon_shared.memory.note import Note
from antiphon_shared.stored import Kind
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
