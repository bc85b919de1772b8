"""The estimate of tokens: additive for any text, and close to the tokenizer it was fitted to."""

import pytest
from antiphon_shared.text.tokens import UNITS_PER_TOKEN, estimate_tokens, token_units
from hypothesis import given
from hypothesis import strategies as st

from tests.rows import each_row

ANY_TEXT = st.text(st.characters(exclude_categories=()))
COUNTED = {
    "The committee met twice in March and decided, after a long debate, to close the old bridge.": 20,
    "Der Ausschuss tagte zweimal im März und beschloss, die alte Brücke zu schließen.": 28,
    "Комитет собрался дважды в марте и решил закрыть старый мост.": 32,
    "委员会在三月开了两次会，决定关闭旧桥。": 21,
    '{"id":48213,"name":"Clara Weiss","price_eur":129.5,"tags":["bridge","steel"],"active":true}': 30,
    "def total(prices: list[float]) -> float:\n    return sum(price * 1.19 for price in prices)\n": 27,
    "2024-03-17,48213,129.50,17.4%\n2024-03-18,48291,131.05,17.9%\n": 38,
}
"""Text -> what Claude's published tokenizer counts."""


@given(ANY_TEXT, ANY_TEXT)
def test_the_estimate_of_two_joined_texts_is_the_sum_of_their_estimates(one: str, other: str) -> None:
    assert token_units(one + other) == token_units(one) + token_units(other)


@each_row("length", [0, 1, 255, 256, 257, 512, 513, 100_000])
def test_the_token_estimate_grows_linearly_with_the_length(length: int) -> None:
    dearest = max(map(chr, range(128)), key=token_units)

    assert token_units(dearest * length) == length * token_units(dearest)


@given(st.characters(exclude_categories=()))
def test_every_character_costs_something_and_none_more_than_three_tokens(character: str) -> None:
    assert 0 < token_units(character) <= 3 * UNITS_PER_TOKEN


def test_every_ascii_character_has_a_cost() -> None:
    assert all(token_units(chr(code)) > 0 for code in range(128))


@given(ANY_TEXT)
def test_the_estimate_in_tokens_is_the_one_in_units_rounded_up(text: str) -> None:
    tokens = estimate_tokens(text)

    assert (tokens - 1) * UNITS_PER_TOKEN < token_units(text) <= tokens * UNITS_PER_TOKEN


def test_an_empty_text_has_no_tokens() -> None:
    assert estimate_tokens("") == 0


@pytest.mark.parametrize(("text", "tokens"), COUNTED.items(), ids=lambda value: str(value)[:20])
def test_one_line_is_estimated_within_a_quarter(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == pytest.approx(tokens, rel=0.25)


def test_lines_of_every_kind_together_are_estimated_within_a_tenth() -> None:
    assert sum(map(estimate_tokens, COUNTED)) == pytest.approx(sum(COUNTED.values()), rel=0.1)


def test_an_identifier_costs_more_than_a_word_of_its_length() -> None:
    assert token_units("4fK9xQz7Wd0b") > 2 * token_units("organisation")
