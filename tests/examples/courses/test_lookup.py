"""Searches take any text, names may be misspelt, and unknown names are recognized."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from examples.courses.lookup import UnknownCourse, find_course, outline, search


def test_a_search_names_the_lesson_and_quotes_it() -> None:
    best = search("vector clocks")[0]
    assert best["course"] == "Operating Distributed Systems"
    assert best["lesson"] == 2
    assert "Vector clocks" in best["excerpt"]


def test_a_search_keeps_to_the_course_and_lesson_it_was_given() -> None:
    found = search("bacteria", course_name="home dairy", lesson_number=2)
    assert [(lesson["course"], lesson["lesson"]) for lesson in found] == [("The Home Dairy", 2)]
    assert search("bacteria", lesson_number=99) == []


@settings(max_examples=200, deadline=None)
@given(
    query=st.text(max_size=60)
    | st.sampled_from(['"', "a AND", "NEAR(", "x*", "col:y", "^", "-", "'; DROP TABLE passages"])
)
def test_any_text_is_a_query(query: str) -> None:
    assert isinstance(search(query), list)


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("The Home Dairy", "The Home Dairy"),
        ("home dairy", "The Home Dairy"),
        ("Databses from Frist Principels", "Databases from First Principles"),
        ("databases", "Databases from First Principles"),
        ("course on machine learning", "Machine Learning without Mystique"),
        ("statistcs", "Statistics for Curious People"),
    ],
)
def test_a_name_may_be_partial_or_misspelt(name: str, title: str) -> None:
    assert find_course(name).title == title


@pytest.mark.parametrize("name", ["Quantum Knitting", "", "   ", "!!!", "x" * 1000, "the"])
def test_an_unknown_name_comes_back_with_the_nearest_titles(name: str) -> None:
    with pytest.raises(UnknownCourse, match="no course called") as unknown:
        find_course(name)
    assert len(unknown.value.nearest) == 3


def test_an_outline_lists_the_lessons_in_order() -> None:
    found = outline("bread")
    assert found["course"] == "Bread from Scratch"
    assert found["lessons"][3] == {"number": 4, "title": "Keeping a Sourdough Starter Alive"}


def test_many_threads_may_search_at_once() -> None:
    with ThreadPoolExecutor(8) as threads:
        results = list(threads.map(lambda _: search("sourdough starter"), range(64)))
    assert all(result == results[0] for result in results)
    assert results[0][0]["course"] == "Bread from Scratch"
