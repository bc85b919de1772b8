"""The estimated usage of a call."""

from antiphon_shared.values import Usage
from hypothesis import given
from hypothesis import strategies as st

from reasoning_engine.limits.meters import Guess, Spending

TOKENS = st.integers(min_value=0, max_value=2**53)


def test_tokens_read_from_the_prompt_cache_do_not_count() -> None:
    usage = Usage(input_tokens=10, cache_write_tokens=5, cache_read_tokens=900, output_tokens=7)
    assert Spending.of(usage) == Spending(15, 7)
    assert Spending.of(usage).by_meter == (1, 22, 15, 7)


def test_no_more_output_is_expected_than_may_be_written() -> None:
    assert Guess().of(1_000, 16) == Spending(1_000, 16)


def test_replies_calibrate_the_expected_usage() -> None:
    """A prompt of which a cache holds nine tenths, and replies of 2,000 tokens."""
    guess = Guess()
    for _ in range(30):
        guess = guess.updated(10_000, Spending(1_000, 2_000))
    expected = guess.of(20_000, 4_096)
    assert abs(expected.input_tokens - 2_000) < 100
    assert abs(expected.output_tokens - 2_000) < 100


@given(st.lists(st.tuples(TOKENS, TOKENS, TOKENS), max_size=20), TOKENS)
def test_any_history_gives_a_positive_estimate(
    replies: list[tuple[int, int, int]], prompt_tokens: int
) -> None:
    guess = Guess()
    for prompt, given_, got in replies:
        guess = guess.updated(prompt, Spending(given_, got))
    expected = guess.of(prompt_tokens, 4_096)
    assert 1 <= expected.output_tokens <= 4_096
    assert 1 <= expected.input_tokens <= max(1, 4 * prompt_tokens)
