"""One search for many words."""

import re

import pytest
from antiphon_shared.text.native_search import NativeSearch
from hypothesis import given
from hypothesis import strategies as st


@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), min_size=1), st.text(), st.data()
)
def test_words_are_found_in_any_position(words: list[str], around: str, data: st.DataObject) -> None:
    search = NativeSearch("|".join(map(re.escape, words)))
    text = around + data.draw(st.sampled_from(words)) + around
    assert search.may_match(text)
    assert search.may_match(text.encode("utf-8", "surrogatepass"))


def test_text_without_any_word_of_the_pattern_cannot_match() -> None:
    search = NativeSearch("one|two")
    assert not search.may_match("three é " * 1_000)
    assert not search.may_match("three é ".encode() * 1_000)


@pytest.mark.parametrize("text", ["\ud800", b"\xff", "a" * 1_000 + "\udfff"])
def test_text_that_cannot_be_decoded_may_always_match(text: str | bytes) -> None:
    assert NativeSearch("one").may_match(text)


@pytest.mark.parametrize("expression", ["(", "\ud800", "(?:a{1000}){1000}"])
def test_an_unsupported_expression_rules_nothing_out(expression: str) -> None:
    assert NativeSearch(expression).may_match("three")


def test_a_combined_search_finds_the_matches_of_each_with_its_own_flags() -> None:
    search = NativeSearch.of_any((NativeSearch("(?i)one|two"), NativeSearch("three")))
    assert all(map(search.may_match, ("ONE", "Two", "three")))
    assert not search.may_match("THREE")
