"""An answer is judged by its text, not by its markup, its citations or its list of sources."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from antiphon.replay.compare.matchers import Expected, answer_text, matched, numbers_in, plain
from tests.antiphon.replay.compare.builders import a_response
from tests.rows import each_row

SOURCES = "\n\n**Sources**\n\n1. **Prague** — 7 minutes (`look_up`)"
texts = st.text(max_size=200)
words = st.text(st.characters(categories=("L", "Nd")), min_size=1, max_size=12)


@each_row(
    ("answer", "expected", "is_right"),
    [
        ("It is **Prague** [1].", {"contains": ["prague"]}, True),
        ("It is Prague or Brno.", {"contains": ["Prague", "Brno"]}, True),
        ("It is Prague.", {"contains": ["Prague", "Brno"]}, False),
        ("It is Brno." + SOURCES, {"contains": "Prague"}, False),
        ("**Prague** [1][2].", {"exact": "prague"}, True),
        ("Prague, I think", {"exact": "Prague"}, False),
        ("It takes 42 min [1].", {"numeric": 42}, True),
        ("It takes 42min.", {"numeric": 42}, True),
        ("It costs $1,234.50 in all.", {"numeric": 1234.5}, True),
        ("Down to −3.5 °C", {"numeric": -3.5}, True),
        ("About 41 minutes", {"numeric": {"value": 42, "tolerance": 1}}, True),
        ("About 40 minutes", {"numeric": {"value": 42, "tolerance": 1}}, False),
        ("As F42 says, v42 [42].", {"numeric": 42}, False),
        ("Nothing." + SOURCES, {"numeric": 7}, False),
    ],
)
def test_an_answer_is_compared_with_the_expectation(answer: str, expected: object, is_right: bool) -> None:
    found = matched(Expected.model_validate(expected), a_response(answer))
    assert list(found.values()) == [is_right]


def test_sources_count_when_they_are_cited() -> None:
    listed = a_response(sources=2)
    uncited = listed.model_copy(
        update={"sources": tuple(one.model_copy(update={"number": 0}) for one in listed.sources)}
    )
    assert matched(Expected(sources=2), listed) == {"sources": True}
    assert matched(Expected(sources=3), listed) == {"sources": False}
    assert matched(Expected(sources=1), uncited) == {"sources": False}


def test_an_empty_expectation_expects_nothing() -> None:
    assert matched(Expected(), a_response()) == {}


@pytest.mark.parametrize(
    "wrong", [{"contains": [""]}, {"numeric": "many"}, {"numeric": True}, {"exactly": "x"}]
)
def test_an_empty_or_invalid_expectation_is_refused(wrong: object) -> None:
    with pytest.raises(ValidationError):
        Expected.model_validate(wrong)


@given(texts, words, texts)
def test_a_word_in_the_answer_is_found_in_any_surrounding_text(before: str, word: str, after: str) -> None:
    answer = f"{before} {word} {after}"
    if plain(word) in plain(answer_text(answer)):  # text around it may pass for a list of sources
        assert matched(Expected(contains=(word,)), a_response(answer)) == {"contains": True}
    assert matched(Expected(contains=(word,)), a_response(f"So: {word}")) == {"contains": True}


@given(st.integers(-(10**12), 10**12), st.sampled_from(["", " kg", "%", " °C", "."]))
def test_a_whole_number_is_found_written_plainly_or_with_separators(number: int, unit: str) -> None:
    for written in (f"{number}", f"{number:,}"):
        assert numbers_in(f"about {written}{unit}") == [number]
        assert matched(Expected.model_validate({"numeric": number}), a_response(f"= {written}{unit}"))[
            "numeric"
        ]


@given(st.floats(-1e9, 1e9).map(lambda value: round(value, 4)), st.floats(0.001, 1e3))
def test_a_number_counts_up_to_its_tolerance_and_not_beyond(value: float, tolerance: float) -> None:
    def is_right(number: float) -> bool:
        expected = {"numeric": {"value": value, "tolerance": tolerance}}
        return matched(Expected.model_validate(expected), a_response(f"It is {number:.6f} km."))["numeric"]

    assert is_right(value + tolerance / 2)
    off = value + 2 * tolerance + abs(value) * 1e-6
    assert not is_right(off)


@given(texts)
def test_no_text_is_too_strange_and_plain_is_plain(text: str) -> None:
    assert plain(plain(text)) == plain(text)
    assert all(math.isfinite(number) for number in numbers_in(text))
    assert len(answer_text(text)) <= len(text)


def test_a_long_answer_is_read_in_passing() -> None:
    assert len(numbers_in("1," * 200_000)) == 1
    assert numbers_in("9" * 300_000)
    assert answer_text("\n\n**Sources**\n\n" * 20_000)
