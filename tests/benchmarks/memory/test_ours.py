"""Our own method is the real code, and its briefings are read without what the fence adds."""

import pytest

from benchmarks.memory.form import Question, read
from benchmarks.memory.measure import OURS, measure
from benchmarks.memory.methods import METHODS
from benchmarks.memory.ours import statements
from benchmarks.memory.prose import DATA

SAMPLE = read(DATA / "sample.jsonl")


@pytest.mark.parametrize("question", SAMPLE, ids=lambda question: question.id)
@pytest.mark.parametrize("method", [OURS, *METHODS])
def test_whoever_may_show_everything_misses_nothing(question: Question, method: str) -> None:
    outcome = measure(question, share=300, method=method)
    assert outcome.missing == ()


@pytest.mark.parametrize("question", SAMPLE, ids=lambda question: question.id)
@pytest.mark.parametrize("method", [OURS, *METHODS])
@pytest.mark.parametrize("share", [1, 5, 10, 20])
def test_no_method_shows_more_than_it_may(question: Question, method: str, share: int) -> None:
    assert not measure(question, share, method).is_over


def test_a_fact_is_read_without_its_id_and_marks() -> None:
    text = '<result tool="search">\n## Title\nF1 (superseded by F2) One.\n  Two.\nF2 (1990) Three.\n</result>'
    assert statements(text).splitlines() == ["## Title", "One.", "Two.", "(1990) Three."]
