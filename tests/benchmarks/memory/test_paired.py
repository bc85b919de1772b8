"""Ours is compared with the peer question by question, and every text is charged whole."""

from benchmarks.memory.charged import fitted
from benchmarks.memory.form import Question, read
from benchmarks.memory.measure import OURS, measure
from benchmarks.memory.paired import PEER, differences
from benchmarks.memory.prose import DATA

SAMPLE = read(DATA / "sample.jsonl")


def by_words(text: str) -> int:
    """Count a token for each word and each line: far from what the estimate says."""
    return len(text.split()) + text.count("\n")


def test_each_question_is_compared_with_itself() -> None:
    outcomes = [measure(question, 40, method) for question in SAMPLE for method in (OURS, PEER)]
    pairs = differences(outcomes)
    assert {one.kind for one in pairs} == {question.kind for question in SAMPLE}
    assert all(one.low <= one.recall <= one.high and one.answers is None for one in pairs)
    assert differences([one for one in outcomes if one.method == OURS]) == []


def test_the_final_answer_is_searched_for_when_the_set_names_it() -> None:
    asked = {"query": "x", "results": [{"title": "T", "text": "The harbour opened in 1931."}]}
    question = Question.model_validate(
        {"question": "When?", "rounds": [asked], "gold": ["The harbour opened in 1931."], "answer": "1931"}
    )
    assert measure(question, 300, OURS).has_answer
    assert measure(question.model_copy(update={"answers": ("1932",)}), 300, OURS).has_answer is False


def test_the_question_and_the_text_around_the_facts_count_towards_our_tokens() -> None:
    outcome = measure(SAMPLE[0], 100, OURS)
    assert outcome.tokens <= outcome.tokens_max
    assert outcome.tokens > len(SAMPLE[0].question) / 6


def test_with_another_count_no_method_is_over_its_budget() -> None:
    for question in SAMPLE:
        for method in (OURS, PEER):
            assert not measure(question, 30, method, by_words).is_over
    assert fitted(lambda tokens: "word " * tokens, str, 10, by_words).split() == ["word"] * 10
