"""Our own set keeps its stated properties and is the same for the same seed."""

from collections import Counter

import pytest

from benchmarks.memory.dialogues import HALVES
from benchmarks.memory.form import Question
from benchmarks.memory.generate import COUNTS, generate
from benchmarks.memory.measure import missing
from benchmarks.memory.sentences import squeeze

_ROUNDS_MIN, _ROUNDS_MAX = 4, 12


@pytest.fixture(scope="module")
def questions() -> list[Question]:
    return generate()


def test_every_kind_has_many_questions(questions: list[Question]) -> None:
    kinds = Counter(question.kind for question in questions)
    assert {*kinds} == {*COUNTS, *HALVES}
    assert min(kinds.values()) >= 16
    assert kinds.total() >= 60
    assert len({question.id for question in questions}) == len(questions)


def test_every_gold_sentence_appears_in_a_result(questions: list[Question]) -> None:
    assert [question.unreachable for question in questions if question.unreachable] == []


def test_a_hop_has_its_gold_sentence(questions: list[Question]) -> None:
    hops = {"two-hop": 2, "four-hop": 4}
    for question in questions:
        assert len(question.gold) == hops.get(question.kind, len(question.gold))
        assert _ROUNDS_MIN <= len(question.rounds) <= _ROUNDS_MAX


def test_most_gold_sentences_do_not_name_their_subject(questions: list[Question]) -> None:
    """The title names the subject, as in an encyclopedia."""
    stated = [
        (passage.title, gold)
        for question in questions
        if question.kind == "four-hop"
        for gold in question.gold
        for passage in question.passages[:40]
        if gold in passage.sentences
    ]
    assert sum(title not in gold for title, gold in stated) > len(stated) / 2


def test_most_passages_have_no_gold(questions: list[Question]) -> None:
    for question in questions:
        texts = [squeeze(passage.text) for passage in question.passages]
        with_gold = sum(any(squeeze(gold) in text for gold in question.gold) for text in texts)
        assert with_gold < len(texts) / 2


def test_no_unfilled_slot_appears_in_a_text(questions: list[Question]) -> None:
    for question in questions:
        texts = [question.question, *(passage.text for passage in question.passages)]
        texts += [call.query for round in question.rounds for call in round.calls]
        assert not any(mark in text for text in texts for mark in "{}[]|")


def test_the_same_seed_gives_the_same_set(questions: list[Question]) -> None:
    assert generate() == questions


def test_a_gold_text_is_found_only_with_all_its_sentences() -> None:
    gold = ("Ann: I was there. It rained.",)
    assert missing(gold, "Ann: I was there.\nsomething else\nIt  rained.") == ()
    assert missing(gold, "Ann: I was there. It snowed.") == gold
