"""Vectors take one byte a number, and are compared alike with numpy and without."""

from math import sqrt
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from context_synthesizer import vectors
from context_synthesizer.vectors import Vectors, digest_of, row_of

LISTS = st.lists(st.floats(-9, 9, width=32), min_size=5, max_size=5).filter(
    lambda one: max(map(abs, one)) > 0.01
)


def cosine(one: list[float], other: list[float]) -> float:
    product = sum(a * b for a, b in zip(one, other, strict=True))
    return product / sqrt(sum(a * a for a in one) * sum(b * b for b in other))


@given(LISTS, LISTS, LISTS)
def test_closeness_is_the_share_of_the_closest_above_the_mean(
    fact: list[float], other: list[float], asked: list[float]
) -> None:
    facts = {"F1": fact, "F2": asked, "F3": other}
    one = Vectors("m")
    one.add({id: row_of(vector) for id, vector in facts.items()}, {digest_of("q"): row_of(asked)})
    closeness = one.closeness("q", [])
    cosines = [cosine(vector, asked) for vector in facts.values()]
    usual = sum(cosines) / 3
    assume(1 - usual > 0.3)
    for id, its in zip(facts, cosines, strict=True):
        assert closeness[id] == pytest.approx(max(0.0, (its - usual) / (1 - usual)), abs=0.12)
    assert closeness["F2"] == 1.0


def test_the_closeness_of_a_fact_is_that_of_its_closest_search() -> None:
    one = Vectors("m")
    asked = {"q": [1.0, 1.0, 1.0], "s": [1.0, 0.0, 0.0], "t": [0.0, 0.0, 1.0]}
    facts = {"F1": [1.0, 0.0, 0.1], "F2": [0.0, 1.0, 0.0], "F3": [0.0, 0.2, 0.2]}
    one.add(
        {id: row_of(vector) for id, vector in facts.items()},
        {digest_of(text): row_of(vector) for text, vector in asked.items()},
    )
    closeness = one.closeness("q", ["s", "t"])
    assert closeness["F1"] >= 0.5, "the closest to s"
    assert closeness["F3"] == pytest.approx(1.0, abs=0.02), (
        "the closest to t, though less close to it than F1 to s"
    )
    assert closeness["F2"] == 0.0, "below the mean of each"
    assert one.closeness("other", ["s"]) == {}, "a question without a vector has no closeness"


@given(st.lists(LISTS, min_size=1, max_size=4), st.lists(LISTS, min_size=1, max_size=3))
def test_closeness_is_the_same_without_numpy(facts: list[list[float]], asked: list[list[float]]) -> None:
    def closeness() -> dict[str, float]:
        one = Vectors("m")
        rows = {f"F{n}": row_of(fact) for n, fact in enumerate(facts)}
        one.add(rows, {digest_of(f"q{n}"): row_of(text) for n, text in enumerate(asked)})
        return one.closeness("q0", ["q1", "q2"])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vectors, "_numpy", lambda: None)
        plain = closeness()
    assert closeness() == plain


def test_vectors_added_later_are_compared_with_all_questions() -> None:
    at_once, by_and_by = Vectors("m"), Vectors("m")
    a, b = row_of([1.0, 0.2]), row_of([0.1, 1.0])
    at_once.add({"F1": a, "F2": b}, {digest_of("q"): a, digest_of("s"): b})
    by_and_by.add({"F1": a}, {digest_of("q"): a})
    assert by_and_by.closeness("q", ["s"]) == {"F1": 1.0}, "a search without a vector does not count"
    by_and_by.add({"F2": b}, {digest_of("s"): b})
    assert by_and_by.closeness("q", ["s"]) == at_once.closeness("q", ["s"])


def test_a_new_fact_is_compared_with_all_and_a_new_search_with_all_facts() -> None:
    """Between two measurements of the means, closeness differs only by the change of the means."""
    random = Random(7)
    vectors_of = {f"F{n}": row_of([random.gauss(0, 1) for _ in range(16)]) for n in range(45)}
    asked = {text: row_of([random.gauss(0, 1) for _ in range(16)]) for text in ("q", "s", "t")}
    rows = {digest_of(text): row for text, row in asked.items()}
    first, later = dict([*vectors_of.items()][:40]), dict([*vectors_of.items()][40:])
    at_once, by_and_by = Vectors("m"), Vectors("m")
    at_once.add(vectors_of, rows)
    by_and_by.add(first, {name: rows[name] for name in (digest_of("q"), digest_of("s"))})
    by_and_by.closeness("q", ["s"])
    by_and_by.add(later, {digest_of("t"): rows[digest_of("t")]})
    closeness = by_and_by.closeness("q", ["s", "t"])
    assert closeness == pytest.approx(at_once.closeness("q", ["s", "t"]), abs=0.08)


@pytest.mark.parametrize("seed", range(20))
def test_a_process_that_takes_over_has_the_same_closeness(seed: int) -> None:
    random = Random(seed)
    one, items, count = Vectors("m"), list[bytes](), 0
    for round, new in enumerate((12, 1, 2, 0, 1, 9, 1)):
        facts = {f"F{count + n}": row_of([random.uniform(-1, 1) for _ in range(5)]) for n in range(new)}
        count += new
        text = f"s{round}" if round else "q"
        asked = {digest_of(text): row_of([random.uniform(-1, 1) for _ in range(5)])}
        items.append(one.add(facts, asked))
        searches = [f"s{n}" for n in range(1, round + 1)] + ["q"] * (round > 2)
        other = Vectors("m")
        other.read(items)
        assert other.closeness("q", searches) == one.closeness("q", searches)


def test_a_fact_far_from_a_search_is_not_close_though_all_others_are_equally_close() -> None:
    one = Vectors("m")
    one.add({f"F{n}": row_of([1.0, 1.0]) for n in range(8)}, {digest_of("q"): row_of([1.0, 0.5])})
    assert set(one.closeness("q", []).values()) == {1.0}
    one.add({"F8": row_of([-1.0, 1.0])}, {})
    assert one.closeness("q", [])["F8"] == 0.0


def test_an_added_item_is_read_back_unchanged() -> None:
    one, other = Vectors("m"), Vectors("m")
    item = one.add(
        {"F1": row_of([1.0, -0.5]), "F2": row_of([0.0, 1.0])}, {digest_of("q"): row_of([1.0, 1.0])}
    )
    assert len(item) == len(item.partition(b"\n")[0]) + 1 + 3 * 2
    other.read([item])
    assert other.closeness("q", []) == one.closeness("q", [])
    assert other.items == one.items == 1


def test_items_of_another_model_or_length_are_passed_over() -> None:
    one = Vectors("m")
    one.add({"F1": row_of([1.0, 0.0])}, {digest_of("q"): row_of([1.0, 0.0])})
    other = Vectors("other").add({"F2": row_of([1.0, 0.0])}, {})
    longer = Vectors("m").add({"F3": row_of([1.0, 0.0, 0.0])}, {})
    one.read([other, longer])
    assert one.closeness("q", []) == {"F1": 1.0}
    assert one.items == 3


@pytest.mark.parametrize("vector", [[0.0, 0.0], [], [float("nan"), 1.0], [float("inf"), 1.0], [1.0]])
def test_a_vector_of_the_wrong_form_is_refused(vector: list[float]) -> None:
    with pytest.raises(ValueError, match="a vector"):
        row_of(vector, 2)
