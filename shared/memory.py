"""The four layers of a session's memory, as documents, and the delta one round adds to them.

Memory is append-only: a list of deltas, one per round, under the session's key. Whoever reads it folds
the deltas. The synthesizer writes it; the assembler reads it.
"""

from typing import Any

from pydantic import Field

from shared.values import Round, Value


class Fact(Value):
    """A statement with its source: one record of a structured result, or one passage of text."""

    id: str = Field(description="`F` and a number; counts from F1 within a session.")
    round: Round
    tool: str
    call_id: str
    position: str = Field(
        description="Where in the result: a JSON path such as `$[2]`, or `$` for the whole."
    )
    title: str = ""
    content: Any = Field(description="Verbatim: the text, or the JSON value.")


class ReasoningNote(Value):
    """What the model said in one round beside its tool calls."""

    round: Round
    text: str


class ToolUse(Value):
    """What was tried, and what came of it."""

    round: Round
    call_id: str
    tool: str
    arguments: dict[str, Any]
    outcome: str = Field(description="`ok`, or the error type.")
    message: str = Field(default="", description="What the model is told of a failure.")
    facts: tuple[str, ...] = Field(default=(), description="Ids of the facts that came of it.")
    substitute: str = Field(default="", description="The alternative that answered in the tool's place.")
    substitute_because: str = Field(default="", description="Why, for the model and the reader.")
    handle: str = Field(
        default="", description="What the whole result is read by, where the facts are only its beginning."
    )


class MemoryDelta(Value):
    """What one round adds: filed once, by the commit that answers the round's `briefing.requested`."""

    facts: tuple[Fact, ...] = ()
    reasoning: tuple[ReasoningNote, ...] = ()
    tool_usage: tuple[ToolUse, ...] = ()


class Memory(Value):
    """The layers folded: intent, facts, reasoning, tool usage."""

    intent: str = Field(default="", description="The query, verbatim.")
    facts: tuple[Fact, ...] = ()
    reasoning: tuple[ReasoningNote, ...] = ()
    tool_usage: tuple[ToolUse, ...] = ()

    @classmethod
    def fold(cls, intent: str, deltas: tuple[MemoryDelta, ...]) -> "Memory":
        """All deltas, oldest first, as one memory."""
        return cls(
            intent=intent,
            facts=tuple(fact for delta in deltas for fact in delta.facts),
            reasoning=tuple(note for delta in deltas for note in delta.reasoning),
            tool_usage=tuple(use for delta in deltas for use in delta.tool_usage),
        )
