"""The paths at which two JSON values differ."""

from hypothesis import given
from hypothesis import strategies as st

from antiphon.replay.differences import ABSENT, Difference, differences

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def test_every_smallest_differing_path_is_named() -> None:
    expected = {"calls": [{"name": "search", "q": 1}, {"name": "pay"}], "round": 1}
    got = {"calls": [{"name": "search", "q": 2}], "round": 1, "notice": "Hurry."}
    assert list(differences(expected, got)) == [
        Difference("calls[0].q", 1, 2),
        Difference("calls[1]", {"name": "pay"}, ABSENT),
        Difference("notice", ABSENT, "Hurry."),
    ]


def test_a_word_that_looks_like_nothing_is_something() -> None:
    assert list(differences({"a": ABSENT}, {})) == [Difference("a", ABSENT, ABSENT)]
    assert list(differences({"a": None}, {})) == [Difference("a", None, ABSENT)]
    assert list(differences([True], [1])) == [Difference("[0]", True, 1)]


@given(JSON, JSON)
def test_values_differ_exactly_where_they_are_not_the_same(one: object, other: object) -> None:
    assert not list(differences(one, one))
    assert bool(list(differences(one, other))) == bool(list(differences(other, one)))
