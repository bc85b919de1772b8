"""Conversations: what is kept of a session that has ended, and what a follow-up is given of it. Pure.

A turn is bounded when it is kept, and turns are bounded together when they are read, so that no conversation
grows a session's log or its briefing beyond that.
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
"""What stands in the place of a tool's name where an earlier answer is the source; no tool can be called so."""
QUESTION_CHARACTERS, ANSWER_CHARACTERS = 2_000, 6_000
TURNS_KEPT_MAX = 50
TURNS_GIVEN_MAX, CHARACTERS_GIVEN_MAX = 6, 20_000
"""What a session is opened with at most."""

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
class Said:
    """What is kept of a conversation, the oldest first."""

    turns: tuple[Turn, ...] = ()
    open: tuple[OpenTurn, ...] = ()
    is_turn_due: bool = False
    """Whether one of the open questions is answered, so that its turn is about to be kept."""


class Turns(Protocol):
    """Where turns are kept, by tenant and conversation. All of it may be done again."""

    async def said(self, tenant: Tenant, conversation: SessionId, at: datetime | None = None) -> Said:
        """All that is kept; with `at`, of what was asked until then."""

    async def begin(self, tenant: Tenant, conversation: SessionId, turn: OpenTurn) -> None:
        """Note a question, unless its session has a turn."""

    async def begun(self, tenant: Tenant, conversation: SessionId, session_id: SessionId) -> OpenTurn | None:
        """The question that `begin` has noted, while it is open and kept."""

    async def keep(self, tenant: Tenant, conversation: SessionId, turn: Turn) -> None:
        """Put a turn in the place of its question."""


def open_turn(session_id: SessionId, at: datetime, question: str) -> OpenTurn:
    """What is kept of a session from its opening on."""
    return OpenTurn(session_id=session_id, at=at, question=_cut(question.strip(), QUESTION_CHARACTERS))


def turn_of(asked: OpenTurn, response: Response, has_untrusted: bool) -> Turn:
    """What is kept of a session that ended in `response`. Of one that failed, the question alone."""
    return Turn(
        **asked.model_dump(),
        answer="" if response.status == "failed" else _answer_of(response),
        status=response.status,
        has_untrusted=has_untrusted,
    )


def earlier(turns: Iterable[Turn], session_id: SessionId, at: datetime) -> tuple[Turn, ...]:
    """Of a conversation's turns, what a session that was asked `at` builds on: the newest, the oldest first."""
    before = (turn for turn in turns if turn.at <= at and turn.session_id != session_id)
    given: list[Turn] = []
    characters = 0
    for turn in reversed(in_order(before)):
        characters += len(turn.question) + len(turn.answer)
        if len(given) == TURNS_GIVEN_MAX or characters > CHARACTERS_GIVEN_MAX:
            break
        given.append(turn)
    return tuple(reversed(given))


def in_order(turns: Iterable[TurnT]) -> list[TurnT]:
    """By when they were asked; the same in every process."""
    return sorted(turns, key=lambda turn: (turn.at, turn.session_id))


def _answer_of(response: Response) -> str:
    """The answer without its numbers and the list they point to: in another answer they would name others."""
    answer = response.answer
    if any(source.number for source in response.sources) and (end := answer.rfind(_SOURCES)) >= 0:
        answer = answer[:end]
    # Code keeps its brackets. A little more than is kept, since what is taken out counts too.
    pieces = _CODE.split(answer[: 2 * ANSWER_CHARACTERS])
    pieces[::2] = [_MARKS.sub("", piece) for piece in pieces[::2]]
    return _cut("".join(pieces).strip(), ANSWER_CHARACTERS)


def _cut(text: str, characters: int) -> str:
    """The text, or its beginning up to the end of a sentence, else of a word, and an ellipsis."""
    if len(text) <= characters:
        return text
    kept = text[:characters]
    end = max(kept.rfind(mark) + 1 for mark in _SENTENCE_ENDS)
    return f"{kept[:end].rstrip()} …" if end > characters // 2 else shorten(text, characters)
