"""The similarity by embeddings counts in the ranking in addition to the words."""

import pytest

from context_synthesizer.session_index import SessionIndex
from tests.context_synthesizer.builders import Round, a_search, a_session


def three() -> SessionIndex:
    entries = [
        (letter, f"The MCP course {verb} six hours.")
        for letter, verb in zip("ABC", ("takes", "needs", "has"), strict=True)
    ]
    return a_session(Round([a_search("MCP course", *entries)])).session_index()


def gains(salience: dict[str, float]) -> dict[str, float]:
    """Return the facts' gains from these similarities."""
    session_index = three()
    by_words = session_index.scores
    session_index.weigh(salience)
    weighed = session_index._scores_in(None)
    assert session_index.scores == by_words, "the plan uses the filed scores"
    return {id: weighed[id] - score for id, score in by_words.items()}


def test_the_closer_in_meaning_the_more_a_fact_gains() -> None:
    gained = gains({"F1": 0.9, "F2": 0.6, "F3": 0.502})
    assert gained["F1"] > gained["F2"] > gained["F3"] >= 0


def test_a_fact_without_an_embedding_gains_the_average_of_the_others() -> None:
    gained = gains({"F1": 0.9, "F2": 0.6})
    assert gained["F3"] == pytest.approx((gained["F1"] + gained["F2"]) / 2)


def test_only_words_count_without_embeddings() -> None:
    assert set(gains({}).values()) == {0.0}
