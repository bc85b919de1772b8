"""The stored part of an answer, and the turns that a follow-up gets."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from antiphon_shared.events.session import Response, Source, Status, Turn
from antiphon_shared.memory.conversation import (
    ANSWER_CHARACTERS,
    CHARACTERS_INCLUDED_MAX,
    CONVERSATION,
    QUESTION_CHARACTERS,
    TURNS_INCLUDED_MAX,
    earlier,
    open_turn,
    turn_of,
)
from antiphon_shared.tools.calls import ToolDefinition
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
SOURCE = Source(id="F3", number=1, tool="search", call_id="toolu_1", title="A page", excerpt="It is 6 hours.")


def a_response(answer: str, status: Status = "complete", *sources: Source) -> Response:
    return Response(
        session_id="s1",
        status=status,
        answer=answer,
        termination_reason="natural_completion",
        sources=sources,
        rounds_used=1,
        tool_calls_used=0,
        duration_ms=1,
    )


def kept(answer: str, status: Status = "complete", *sources: Source) -> str:
    return turn_of(open_turn("s1", NOON, "How long?"), a_response(answer, status, *sources), False).answer


def a_turn(minute: int, answer: str = "Six hours.", session_id: str = "") -> Turn:
    at = NOON + timedelta(minutes=minute)
    return Turn(session_id=session_id or f"s{minute}", at=at, question="?", answer=answer, status="complete")


def test_citation_numbers_are_removed_with_their_list() -> None:
    answer = "Six hours [1][2], or so [1]–[4]. Ada [F99?] says so […], and Bo [no source]."
    listed = f"{answer}\n\n**Sources**\n\n1. **A page**"
    assert kept(listed, "complete", SOURCE) == "Six hours, or so. Ada says so, and Bo."


def test_a_list_of_sources_written_by_the_model_stays() -> None:
    answer = "See below.\n\n**Sources**\n\n1. A book"
    assert kept(answer) == answer
    both = f"{answer}\n\n**Sources**\n\n1. **A page** — “It is 6 hours.” (`search`)"
    assert kept(both, "complete", SOURCE) == answer


def test_code_keeps_its_brackets() -> None:
    answer = "Write `a[1]` or\n\n```\nb[2] = c[3]\n```\n\nas the manual says [1]."
    assert kept(answer) == answer.replace(" [1].", ".")


def test_a_long_answer_ends_with_a_sentence() -> None:
    answer = kept("It takes six hours. " * 1_000)
    assert len(answer) <= ANSWER_CHARACTERS + 2
    assert answer.endswith("It takes six hours. …")


def test_only_the_question_of_a_failed_session_is_kept() -> None:
    turn = turn_of(open_turn("s1", NOON, " How long? "), a_response("It broke.", "failed"), True)
    assert (turn.question, turn.answer, turn.has_untrusted) == ("How long?", "", True)


@given(st.text(), st.integers(1, 400), st.sampled_from([(), (SOURCE,)]))
def test_any_turn_is_kept_within_its_bounds(piece: str, times: int, sources: tuple[Source, ...]) -> None:
    text = piece * times
    turn = turn_of(open_turn("s1", NOON, text), a_response(text, "partial", *sources), False)
    assert len(turn.question) <= QUESTION_CHARACTERS + 2
    assert len(turn.answer) <= ANSWER_CHARACTERS + 2


def test_a_hostile_answer_is_read_in_linear_time() -> None:
    """Minutes, if any of it were quadratic."""
    for piece in ("`", "``", "```\n", "[1", " [1]–", "[F1-", "\n\n**Sources**\n\n1. "):
        assert len(kept(piece * 500_000, "complete", SOURCE)) <= ANSWER_CHARACTERS + 2


def test_a_follow_up_gets_the_newest_turns_in_chronological_order() -> None:
    turns = [a_turn(minute) for minute in (7, 3, 9, 1, 5, 2, 8, 4, 6)]
    given_turns = earlier(turns, "new", NOON + timedelta(minutes=8))
    assert [turn.session_id for turn in given_turns] == ["s3", "s4", "s5", "s6", "s7", "s8"]


def test_a_session_sees_neither_itself_nor_later_turns() -> None:
    turns = [a_turn(1), a_turn(2, session_id="new"), a_turn(3)]
    assert earlier(turns, "new", NOON + timedelta(minutes=2)) == (turns[0],)


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 8_000)), max_size=20))
def test_the_turns_given_to_a_follow_up_are_bounded_and_in_order(turns: list[tuple[int, int]]) -> None:
    kept_turns = [a_turn(minute, "x" * length, f"s{n}") for n, (minute, length) in enumerate(turns)]
    given_turns = earlier(kept_turns, "new", NOON + timedelta(minutes=30))
    assert len(given_turns) <= TURNS_INCLUDED_MAX
    assert sum(len(turn.question) + len(turn.answer) for turn in given_turns) <= CHARACTERS_INCLUDED_MAX
    assert all(one.at <= other.at for one, other in pairwise(given_turns))
    assert not turns or given_turns, "one turn always fits"


def test_a_tool_cannot_have_the_name_reserved_for_earlier_answers() -> None:
    with pytest.raises(ValidationError):
        ToolDefinition(name=CONVERSATION, description="", input_schema={}, effect="read")
