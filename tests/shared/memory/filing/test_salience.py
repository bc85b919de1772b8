"""Statements of low salience."""

import pytest
from antiphon_shared.memory.filing.salience import salience_of


@pytest.mark.parametrize(
    "text",
    ["We use cookies to improve your visit.", "Click here to read more.", "© 2024 Tessin Harbour Ltd.",
     "Copyright 2019 by Ilsa Brandt", "https://example.org/a?b=c", "Page 3 of 12", "17", "Home | About | Contact us",
     "Skip to main content", "All rights reserved."],
)  # fmt: skip  # a text, not a column
def test_boilerplate_has_low_salience(text: str) -> None:
    assert salience_of(text, is_json=False) <= 0.3


@pytest.mark.parametrize(
    "text",
    ["The harbour sells cookies to sailors.", "Copyright law was changed in 1998 by the Sonny Bono Act.",
     "See https://example.org for the figures of 2024.", "The page has 3 of 12 pictures.",
     "Home rule began in 1905 and ended in 1914.", "The privacy of sailors is kept by law.", "😀"],
)  # fmt: skip  # a text, not a column
def test_text_that_only_resembles_boilerplate_keeps_its_salience(text: str) -> None:
    assert salience_of(text, is_json=False) == 0.5


def test_a_ranking_has_low_salience_and_a_record_does_not() -> None:
    assert salience_of('{"title":"Tea","score":0.93}', is_json=True) == 0.3
    assert salience_of('{"title":"Tea","score":0.93,"price":3}', is_json=True) == 0.5
