"""The number of contradicting pairs of results that filing marks, and the other pairs that it marks."""

import pytest
from antiphon_shared.memory.session_memory import Memory

from tests.memories import a_memory, a_round
from tests.shared.memory.filing.contradictions import Half, pairs


@pytest.mark.parametrize("half", ["development", "report"])
def test_four_in_five_contradictions_are_marked(half: Half) -> None:
    examples = pairs(half, contradicts=True)
    missed = [(pair.one, pair.other) for pair in examples if not pair.is_marked]
    assert len(examples) > 30
    assert 5 * len(missed) <= len(examples), missed


@pytest.mark.parametrize("half", ["development", "report"])
def test_statements_that_only_seem_to_contradict_are_not_marked(half: Half) -> None:
    examples = pairs(half, contradicts=False)
    assert len(examples) > 60
    assert [(pair.one, pair.other) for pair in examples if pair.is_marked] == []


def filed(*texts: str) -> Memory:
    return a_memory(*(a_round(("search", {}, text), round=n) for n, text in enumerate(texts, 1)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Aker employs 1,204 people.", "Aker employs 1,300 people."),
        ("The Aker Inn has 12 rooms. It is old.", "The Aker Inn has 15 rooms. It is new."),
        ("The Aker Inn is open.", "The Aker Inn is not open."),
        ("The Aker Inn is open.", "The Aker Inn is closed."),
        ("The Aker Inn was founded in 1894.", "The Aker Inn was founded in May 1902."),
        ("The owner of the Aker Inn is Ada Holm.", "Olaf Berg is the owner of the Aker Inn."),
        ("The Aker Inn has a height of 21 m.", "The Aker Inn is 31 metres high."),
        ("Smoking is allowed at the Aker Inn.", "Smoking is forbidden at the Aker Inn."),
    ],
)
def test_each_rule_finds_its_kind_whichever_comes_first(one: str, other: str) -> None:
    assert filed(one, other).facts["F2"].contradicts == ("F1",)
    assert filed(other, one).facts["F2"].contradicts == ("F1",)


def test_a_record_is_compared_with_sentences_and_with_records_of_other_shapes() -> None:
    inn = {"name": "Aker Inn", "rooms": 12, "founded": 1894, "in_stock": True}
    for text in (
        "The Aker Inn has 15 rooms.",
        "The Aker Inn was founded in 1902.",
        "The Aker Inn is sold out.",
    ):
        rounds = [a_round(("search", {}, one), round=n) for n, one in enumerate((inn, text), 1)]
        assert a_memory(*rounds).contradicted == {"F1": ("F2",), "F2": ("F1",)}
        assert a_memory(*reversed(rounds)).contradicted
    other = {"title": "Aker Inn", "yearFounded": 1902}
    rounds = [a_round(("search", {}, one), round=n) for n, one in enumerate((inn, other), 1)]
    assert a_memory(*rounds).contradicted


def test_one_fact_is_compared_with_the_newest_of_very_many_equal_ones() -> None:
    texts = [f"The Aker Inn is {number} metres high." for number in range(100, 140)]
    assert len(filed(*texts).facts["F40"].contradicts) == 8


@pytest.mark.parametrize(
    ("one", "other", "relations"),
    [
        pytest.param(
            {"id": "AB1234", "": 10, "name": "x"},
            {"id": "AB1234", "": 20, "name": "x"},
            ((), ("F1",)),
            id="an unnamed column holds a value like any other",
        ),
        pytest.param(
            {"id": "AB1234", "Date": "2020-01-01", "date": "n/a", "price": 10},
            {"id": "AB1234", "Date": "2021-01-01", "date": "n/a", "price": 20},
            (("F1",), ()),
            id="of two fields of one name the one with a date decides",
        ),
        pytest.param(
            {"id": "AB1234", "date": "n/a", "Date": "2020-01-01", "price": 10},
            {"id": "AB1234", "date": "n/a", "Date": "2021-01-01", "price": 20},
            (("F1",), ()),
            id="in either order",
        ),
        pytest.param(
            {"id": "AB1234", "Date": "2020-01-01", "date": "2020-06-01", "price": 10},
            {"id": "AB1234", "Date": "2021-01-01", "date": "2019-06-01", "price": 20},
            (("F1",), ()),
            id="of two dates of one name the first decides",
        ),
    ],
)
def test_two_records_of_one_thing_are_compared_by_their_fields(
    one: dict[str, object], other: dict[str, object], relations: tuple[tuple[str, ...], tuple[str, ...]]
) -> None:
    memory = a_memory(
        *(a_round(("search", {}, [record]), round=n) for n, record in enumerate((one, other), 1))
    )
    newest = memory.facts["F2"]
    assert (newest.supersedes, newest.contradicts) == relations
