"""A briefing keeps its setting in the tokens that the model counts, for every kind of text."""

from antiphon_shared.text.tokens import estimate_tokens
from hypothesis import given, settings
from hypothesis import strategies as st

from context_synthesizer.turn import tokens_max
from tests.context_synthesizer.builders import Session
from tests.context_synthesizer.drawn import sessions

_SYSTEM_TOKENS = 400
_KINDS = st.sampled_from([0.85, 0.94, 1.0, 1.07, 1.11, 1.4, 2.2])
"""Tokens that a model counts for each estimated one: prose, dialogue, another maker's model, another script."""


@settings(max_examples=60, deadline=None)
@given(sessions(rounds_min=2), st.sampled_from([500, 2_000, 8_000]), _KINDS, st.floats(0, 0.04))
def test_no_briefing_exceeds_its_setting_after_the_first_token_count(
    session: Session, setting: int, rate: float, drift: float
) -> None:
    least = estimate_tokens(session.query) + 40
    counted = estimated = 0.0
    for number in range(len(session.deltas)):
        now = rate * (1 + drift * (number % 2))
        known = round(counted / estimated, 3) if estimated else 1.0
        before = Session(session.query, session.deltas[: number + 1], session.results)
        tokens = before.session_index(tokens_max(setting, known)).briefing(number + 2, 99).outline.tokens
        if estimated or now <= 1.2:
            assert tokens <= least or tokens * now <= setting
        counted += (tokens + _SYSTEM_TOKENS) * now
        estimated += tokens + _SYSTEM_TOKENS


def test_the_safety_margin_shrinks_with_the_counted_tokens() -> None:
    assert tokens_max(8_000, 1.0) == 6_666
    assert tokens_max(8_000, 1.07) == 6_666
    assert tokens_max(8_000, 1.04) == 7_272
    assert tokens_max(8_000, 0.94) == 8_000
