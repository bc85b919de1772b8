"""The order of facts by closeness."""

from hypothesis import given
from hypothesis import strategies as st

from context_synthesizer.scores import Scores

_values = st.lists(st.one_of(st.floats(0, 10), st.sampled_from([0.0, 1.0, 2.5])), max_size=40)


def scores_of(values: list[float]) -> Scores:
    ids = [f"F{number}" for number in range(1, len(values) + 1)]
    return Scores({id: place for place, id in enumerate(ids)}, ids, values)


@given(_values)
def test_facts_are_ordered_by_score_and_then_newest_first(values: list[float]) -> None:
    scores = scores_of(values)
    newest_first = list(scores)[::-1]
    assert list(scores.closest_first()) == sorted(newest_first, key=scores.__getitem__, reverse=True)


@given(_values, st.integers(0, 40), st.integers(0, 40))
def test_concurrent_readers_of_the_order_are_independent(values: list[float], one: int, other: int) -> None:
    scores, whole = scores_of(values), list(scores_of(values).closest_first())
    first, second = scores.closest_first(), scores.closest_first()
    assert [id for _, id in zip(range(one), first, strict=False)] == whole[:one]
    assert [id for _, id in zip(range(other), second, strict=False)] == whole[:other]
    assert list(first) == whole[one:]
