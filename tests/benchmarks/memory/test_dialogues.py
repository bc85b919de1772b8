"""Dialogues are long, dated and of several styles, and their questions can be answered from the turns named."""

import re
from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from benchmarks.memory.__main__ import SEEDS
from benchmarks.memory.dialogues import HALVES, SESSIONS, dialogues
from benchmarks.memory.form import Question
from benchmarks.memory.styles import NAMES, Style, style

_FURTHEST = timedelta(days=14)
_DATE = re.compile(r"\d{1,2} [A-Z][a-z]+ \d{4}")


@pytest.fixture(scope="module")
def questions() -> list[Question]:
    return dialogues(Random(1))


def test_the_default_run_asks_more_than_two_hundred_questions(questions: list[Question]) -> None:
    assert len(questions) * SEEDS > 200
    for half in HALVES:
        assert len([question for question in questions if question.kind == half]) * SEEDS > 200
        assert {question.id.split("-")[2] for question in questions if question.kind == half} == {*NAMES}


def test_a_question_needs_one_two_or_three_turns(questions: list[Question]) -> None:
    assert {len(question.gold) for question in questions} == {1, 2, 3}


def test_the_gold_evidence_is_returned_as_whole_turns(questions: list[Question]) -> None:
    for question in questions:
        turns = {turn for passage in question.passages for turn in passage.sentences}
        assert {*question.gold} <= turns


def test_a_dialogue_has_twenty_sessions_in_the_order_of_their_dates(questions: list[Question]) -> None:
    for name in NAMES:
        asked = [q for q in questions if q.id.startswith(f"{HALVES[0]}-{name}")]
        titles = {passage.title for question in asked for passage in question.passages}
        assert SESSIONS - 3 <= len(titles) <= SESSIONS, "a session may be in no result"


def test_the_answer_appears_in_a_turn_or_is_a_day_near_its_session(questions: list[Question]) -> None:
    for question in questions:
        sessions = {turn: passage.title for passage in question.passages for turn in passage.sentences}
        days = [_day(sessions[gold]) for gold in question.gold]
        for answer in question.answers:
            if _DATE.fullmatch(answer):
                assert min(abs(_day(answer) - day) for day in days) <= _FURTHEST
            else:
                assert any(answer in gold for gold in question.gold), (question.id, answer)


@pytest.mark.parametrize("name", NAMES)
def test_each_half_asks_about_different_subjects(questions: list[Question], name: str) -> None:
    """Therefore tuning on one half is measured on unseen wording."""
    asked = [
        {
            thread.name
            for thread in style(name).threads
            for ask in thread.asks
            for text in ask.questions
            for question in questions
            if question.kind == half
            and name in question.id
            and re.fullmatch(_as_pattern(text), question.question)
        }
        for half in HALVES
    ]
    assert len(asked[0]) >= 5
    assert len(asked[1]) >= 5
    assert not asked[0] & asked[1]


@pytest.mark.parametrize("name", NAMES)
def test_a_label_names_a_turn_and_a_slot_has_values(name: str) -> None:
    one: Style = style(name)
    for thread in one.threads:
        turns = {
            f"{label}{n}" for label, text in thread.says.items() for n in range(1, text.count("///") + 2)
        }
        assert all({*ask.labels} <= turns | {*thread.says} for ask in thread.asks)
        assert thread.asks, thread.name


def test_the_same_seed_gives_the_same_dialogues(questions: list[Question]) -> None:
    assert dialogues(Random(1)) == questions
    assert dialogues(Random(2)) != questions


def _as_pattern(text: str) -> str:
    return re.sub(r"\\\{\w+\\\}", ".+", re.escape(text))


def _day(text: str) -> datetime:
    found = _DATE.search(text)
    assert found
    return datetime.strptime(found[0], "%d %B %Y").replace(tzinfo=UTC)
