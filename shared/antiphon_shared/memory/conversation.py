"""Conversations: the stored turns of ended sessions, and the turns that a follow-up gets. Pure.

A turn is bounded when it is stored, and turns are bounded together when they are read, so that a conversation
cannot make a session's log or its briefing larger than that.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar

from pydantic import AwareDatetime

from antiphon_shared.events.session import Response, Turn
from antiphon_shared.text.excerpt import shorten
from antiphon_shared.values import SessionId, Tenant, Value

TurnT = TypeVar("TurnT", bound="Turn | OpenTurn")
CONVERSATION = "this conversation"
"""The name in place of a tool's when an earlier answer is the source; it is not a valid name of a tool."""
QUESTION_CHARACTERS, ANSWER_CHARACTERS = 2_000, 6_000
TURNS_STORED_MAX = 50
TURNS_INCLUDED_MAX, CHARACTERS_INCLUDED_MAX = 6, 20_000
"""Bounds on the turns that a session is opened with."""

_SOURCES = "\n\n**Sources**\n\n1. "
_CODE = re.compile(r"(```.*?(?:```|\Z)|`[^`\n]*`)", re.DOTALL)
_MARKS = re.compile(r" ?(?:\[(?:\d{1,3}|…|F\d{1,9}(?:-F\d{1,9})?\?|no source)\](?:–(?=\[\d))?)+")
"""`[1]`, `[1]–[4]`, `[F99?]`, `[…]` and `[no source]`, as the assembler writes them."""
_SENTENCE_ENDS = (". ", ".\n", "! ", "!\n", "? ", "?\n", "。", "！", "？", "\n\n")


class OpenTurn(Value):
    """A question of a conversation that is not answered yet."""

    session_id: SessionId
    at: AwareDatetime
    question: str


@dataclass(frozen=True, slots=True)
class StoredTurns:
    """The stored turns and open questions of a conversation, the oldest first."""

    turns: tuple[Turn, ...] = ()
    open: tuple[OpenTurn, ...] = ()
    is_turn_due: bool = False
    """Whether one of the open questions is answered, so that its turn is about to be stored."""


class Turns(Protocol):
    """The store of turns, by tenant and conversation. Each of its operations can be repeated."""

    async def turns(self, tenant: Tenant, conversation: SessionId, at: datetime | None = None) -> StoredTurns:
        """Return the stored turns and questions; with `at`, only of questions up to that time."""

    async def begin(self, tenant: Tenant, conversation: SessionId, turn: OpenTurn) -> None:
        """Note a question, unless its session has a turn."""

    async def open_question(
        self, tenant: Tenant, conversation: SessionId, session_id: SessionId
    ) -> OpenTurn | None:
        """Return the question that `begin` noted, while it is open and stored."""

    async def complete(self, tenant: Tenant, conversation: SessionId, turn: Turn) -> None:
        """Replace a question by its turn."""


def open_turn(session_id: SessionId, at: datetime, question: str) -> OpenTurn:
    """Return the stored question of a session, from its opening on."""
    return OpenTurn(session_id=session_id, at=at, question=_cut(question.strip(), QUESTION_CHARACTERS))


def turn_of(question: OpenTurn, response: Response, has_untrusted: bool) -> Turn:
    """Return the stored turn of a session that ended in `response`; only the question if it failed."""
    return Turn(
        **question.model_dump(),
        answer="" if response.status == "failed" else _answer_of(response),
        status=response.status,
        has_untrusted=has_untrusted,
    )


def earlier(turns: Iterable[Turn], session_id: SessionId, at: datetime) -> tuple[Turn, ...]:
    """Return the turns that a session asked at `at` builds on: the newest, the oldest first."""
    before = (turn for turn in turns if turn.at <= at and turn.session_id != session_id)
    included: list[Turn] = []
    characters = 0
    for turn in reversed(in_order(before)):
        characters += len(turn.question) + len(turn.answer)
        if len(included) == TURNS_INCLUDED_MAX or characters > CHARACTERS_INCLUDED_MAX:
            break
        included.append(turn)
    return tuple(reversed(included))


def in_order(turns: Iterable[TurnT]) -> list[TurnT]:
    """Return the turns by the time of their questions; the same order in every process."""
    return sorted(turns, key=lambda turn: (turn.at, turn.session_id))


def _answer_of(response: Response) -> str:
    """Return the answer without its numbered citations and sources, which would mean others in another answer."""
    answer = response.answer
    if any(source.number for source in response.sources) and (end := answer.rfind(_SOURCES)) >= 0:
        answer = answer[:end]
    # Code keeps its brackets. More is read than is stored, as the removed marks count too.
    pieces = _CODE.split(answer[: 2 * ANSWER_CHARACTERS])
    pieces[::2] = [_MARKS.sub("", piece) for piece in pieces[::2]]
    return _cut("".join(pieces).strip(), ANSWER_CHARACTERS)


def _cut(text: str, characters: int) -> str:
    """Return the text, or its beginning up to the end of a sentence, else of a word, and an ellipsis."""
    if len(text) <= characters:
        return text
    beginning = text[:characters]
    end = max(beginning.rfind(mark) + 1 for mark in _SENTENCE_ENDS)
    return f"{beginning[:end].rstrip()} …" if end > characters // 2 else shorten(text, characters)
