"""An index of texts that grows text by text."""

from math import log

import pytest
from antiphon_shared.text.word_index import WordIndex
from hypothesis import given
from hypothesis import strategies as st

texts = st.lists(st.lists(st.sampled_from("abcdef"), max_size=8), max_size=12)


def an_index(*texts: list[str]) -> WordIndex:
    index = WordIndex()
    for text in texts:
        index.add(text)
    return index


def test_scores_equal_those_of_the_published_formula() -> None:
    """Two texts, `aa bb` and `cc`: the word `bb` is in one of two, and the mean length is 1.5 words."""
    index = an_index(["aa", "bb"], ["cc"])
    assert index.worth("bb") == log(1 + (2 - 1 + 0.5) / (1 + 0.5))
    expected = log(2) * 1 * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 2 / 1.5))
    ((place, score),) = index.scores_of("bb")
    assert place == 0
    assert score == pytest.approx(expected)


def test_a_word_in_no_text_has_no_weight() -> None:
    assert an_index(["aa"]).worth("zz") == 0
    assert list(an_index().scores_of("zz")) == []


def test_a_word_counts_more_in_fewer_texts_and_with_more_occurrences() -> None:
    index = an_index(["aa", "bb"], ["aa", "cc"], ["cc", "cc"])
    assert index.worth("bb") > index.worth("aa")
    assert dict(index.scores_of("cc"))[2] > dict(index.scores_of("cc"))[1]


def test_a_word_is_before_a_text_if_an_earlier_text_contains_it() -> None:
    index = an_index(["aa"], ["bb"], ["aa", "bb"])
    assert [index.is_before(place, "bb") for place in range(4)] == [False, False, True, True]
    assert not index.is_before(3, "zz")


@given(texts)
def test_a_text_scores_only_for_the_words_it_contains(given_texts: list[list[str]]) -> None:
    index = an_index(*given_texts)
    assert len(index) == len(given_texts)
    for word in "abcdef":
        scores = dict(index.scores_of(word))
        assert set(scores) == {place for place, text in enumerate(given_texts) if word in text}
        assert all(score > 0 for score in scores.values())
