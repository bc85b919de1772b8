"""A session that continues a conversation: earlier questions are shown, earlier answers are filed."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from antiphon_shared.bus.handling import BRIEFING
from antiphon_shared.events.session import Status, Turn
from antiphon_shared.memory.filing import file_conversation
from antiphon_shared.memory.layers import MemoryDelta
from antiphon_shared.memory.session_memory import Memory
from antiphon_shared.text.tokens import estimate_tokens
from hypothesis import given
from hypothesis import strategies as st

from context_synthesizer.session_index import SessionIndex
from tests.context_synthesizer.builders import a_search, index_of
from tests.context_synthesizer.test_handlers import (
    a_course,
    a_session,
    a_synthesizer,
    committed,
    filed,
    handle,
    log_round,
    ready,
    the_briefing,
)
from tests.envelopes import START
from tests.injections.strict_reader import read_strictly
from tests.memories import a_round, hostile_text

QUESTION = "And how long is it?"


def a_turn(
    question: str, answer: str, number: int = 1, status: Status = "complete", has_untrusted: bool = False
) -> Turn:
    return Turn(
        session_id=f"s{number}",
        at=START + timedelta(minutes=number),
        question=question,
        answer=answer,
        status=status,
        has_untrusted=has_untrusted,
    )


TURNS = (
    a_turn(
        "Which course teaches MCP?",
        "The course Rich Context teaches MCP. It is held in Oslo and in Bergen, on six evenings in May.",
    ),
    a_turn("Who teaches it?", "Ann Lee teaches it, as a forum says.", 2, "partial", has_untrusted=True),
    a_turn("What does it cost?", "", 3, "failed"),
)


def an_index(turns: Iterable[Turn] = TURNS, tokens_max: int = 8_000) -> SessionIndex:
    session_index = SessionIndex(QUESTION, tokens_max)
    session_index.add(file_conversation(session_index.memory, turns))
    return session_index


async def test_the_first_briefing_shows_the_earlier_turns() -> None:
    outcome = await handle(a_synthesizer(), a_session(QUESTION), round=1, conversation=TURNS)
    assert the_briefing(outcome) == "\n".join(
        [
            "# Question",
            QUESTION,
            "",
            "# Earlier in this conversation",
            "- turn_1: Which course teaches MCP?",
            "- turn_2 (answered in part): Who teaches it?",
            "- turn_3 (not answered): What does it cost?",
            "",
            "# Facts",
            '<result call="turn_1" tool="this conversation" round="1" trust="tool">',
            "## Earlier answer: Which course teaches MCP?",
            "F1 The course Rich Context teaches MCP.",
            "F2 It is held in Oslo and in Bergen, on six evenings in May.",
            "</result>",
            '<result call="turn_2" tool="this conversation" round="1" trust="untrusted">',
            "## Earlier answer: Who teaches it?",
            "F3 Ann Lee teaches it, as a forum says.",
            "</result>",
            "",
            "# Now",
            "Round 1 of at most 40.",
        ]
    )


async def test_a_conversation_requested_again_is_not_filed_twice() -> None:
    session, synthesizer = a_session(QUESTION), a_synthesizer()
    first = await committed(synthesizer, session, round=1, conversation=TURNS)
    again = await committed(a_synthesizer(), session, round=1, conversation=TURNS)
    assert len(filed(first)) == 1
    assert filed(again) == []
    assert again.events == first.events


async def test_another_worker_composes_the_same_briefing() -> None:
    session, synthesizer = a_session(QUESTION), a_synthesizer()
    await committed(synthesizer, session, round=1, conversation=TURNS)
    for number in range(1, 4):
        asked = log_round(session, number, a_course(number))
        kept = await committed(synthesizer, session, **asked)
        new = await handle(a_synthesizer(), session, **asked)
        assert ready(kept) == ready(new)
    texts = {write.content for one in (kept, new) for write in one.writes if write.document == BRIEFING}  # type: ignore[union-attr]  # briefings are put
    assert len(texts) == 1
    assert b"# Earlier in this conversation" in texts.pop()


@given(
    st.lists(st.tuples(hostile_text, hostile_text, st.booleans()), min_size=1, max_size=6),
    st.sampled_from([500, 900, 4_100, 8_000]),
    st.sampled_from(["full", "simplified", "minimal"]),
)
def test_a_briefing_keeps_its_form_and_budget_for_any_conversation(
    history: list[tuple[str, str, bool]], tokens_max: int, level: Any
) -> None:
    turns = [
        a_turn(asked.strip() or "?", answer, n, has_untrusted=bad)
        for n, (asked, answer, bad) in enumerate(history, 1)
    ]
    session_index = an_index(turns, tokens_max)
    briefing = session_index.briefing(1, 4, level)
    shares = {"full": 1, "simplified": 2, "minimal": 4}
    assert estimate_tokens(briefing.text) <= tokens_max // shares[level] + 1
    assert briefing.text == index_of(QUESTION, [a_delta(turns)], tokens_max).briefing(1, 4, level).text
    if tokens_max > 4_000 and level == "full":
        read_strictly(briefing.text, QUESTION)


def a_delta(turns: Iterable[Turn]) -> MemoryDelta:
    """Return the delta of a conversation as it is read from Redis."""
    delta = file_conversation(Memory(QUESTION), turns)
    return MemoryDelta.model_validate_json(delta.model_dump_json(exclude_defaults=True))


def test_the_newest_turns_are_kept_within_a_small_budget() -> None:
    turns = [
        a_turn(f"What is the {n}th harbour?", f"The {n}th harbour is Holm {n}. " + "It has a pier. " * n, n)
        for n in range(1, 7)
    ]
    text = an_index(turns, 500).briefing(1, 4, "simplified").text
    assert "What is the 6th harbour?" in text
    assert "- turn_1:" not in text


def test_the_question_decides_which_earlier_answer_comes_first() -> None:
    turns = [
        a_turn("Which harbour has a lighthouse?", "Holm 1 has a lighthouse of its own.", 1),
        *(a_turn(f"Who owns boat {n}?", f"The owner of boat {n} is Ann {n}. " * 20, n) for n in range(2, 7)),
    ]
    session_index = SessionIndex("Since when has the lighthouse stood there?", 500)
    session_index.add(file_conversation(session_index.memory, turns))
    assert "Holm 1 has a lighthouse of its own." in session_index.briefing(1, 4).text


def test_a_tool_result_that_repeats_an_earlier_answer_is_filed_separately() -> None:
    """Otherwise a new result would be cited as an earlier answer."""
    text = "Rich Context teaches forty engineers a year how to write MCP servers in Oslo."
    turns = [a_turn("Which course teaches MCP?", f"{text} It is held on six evenings in May, by Ann Lee.")]
    session_index = an_index(turns)
    session_index.file(*a_round(a_search("MCP", ("Rich Context", text)), round=1))
    sources = [
        session_index.memory.document_of(fact).tool
        for fact in session_index.memory.facts.values()
        if fact.statement == text
    ]
    assert sources == ["this conversation", "search"]
    again = index_of(QUESTION, [a_delta(turns)])
    again.file(*a_round(a_search("MCP", ("Rich Context", text)), round=1))
    assert again.memory == session_index.memory


def test_a_recalled_earlier_answer_keeps_its_source() -> None:
    session_index = an_index()
    before = session_index.memory.facts
    part = {"tool": "this conversation", "call_id": "turn_2", "round": 1, "position": "$"}
    recalled = {"id": "F3", "parts": [{**part, "content": "Ann Lee teaches it, as a forum says."}]}
    session_index.file(*a_round(("recall", {"id": "F3"}, recalled), round=1))
    assert session_index.memory.facts == before
    assert session_index.memory.tool_usage[-1].facts == ("F3",)
    assert session_index.memory.document_of(session_index.memory.facts["F3"]).is_untrusted
