"""A wanted row of a table of hundreds is found in a briefing of 500 tokens."""

import random
from dataclasses import replace

import pytest

from tests.context_synthesizer.builders import Round, a_session
from tests.shared.memory.filing.test_tables import FORMS, Rows

_NAMES = (
    "Vardby", "Tarn", "Osel", "Lund", "Pell", "Brenta", "Kell", "Arden", "Holm", "Sunde", "Marl", "Quenby",
    "Dunmore", "Halden", "Ordby", "Lenna",
)  # fmt: skip  # a text, not a column
_WORKS = (
    "weaver", "pilot", "baker", "surgeon", "painter", "cooper", "miller", "teacher", "judge", "sailor", "brewer",
    "smith", "potter", "mason",
)  # fmt: skip  # a text, not a column
_COLUMNS = ("town", "people", "mayor", "trade", "founded", "station")


def a_table(draw: random.Random, count: int) -> Rows:
    names = draw.sample([f"{one}{other.lower()}" for one in _NAMES for other in _NAMES], count)
    mayors = draw.sample([f"{one} {other}son" for one in _WORKS for other in _NAMES for _ in (1, 2)], count)
    return [
        dict(zip(_COLUMNS, (name, draw.randint(900, 99_000), mayor.title(), draw.choice(_WORKS),
                            draw.randint(1100, 1950), f"{draw.choice(_NAMES)} {draw.randint(1, 99)}"), strict=True))
        for name, mayor in zip(names, mayors, strict=True)
    ]  # fmt: skip  # a table


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_row_is_found_by_its_key_and_by_its_content(form: str, seed: int) -> None:
    draw = random.Random(f"{form} {seed}")
    rows = a_table(draw, draw.randint(120, 220))
    filed = a_session(Round([("list_towns", {}, FORMS[form](rows))]))
    for _ in range(4):
        wanted = draw.choice(rows)
        for query in (
            f"How many people live in {wanted['town']}?",
            f"Of which town is {wanted['mayor']} the mayor?",
        ):
            text = replace(filed, query=query).briefing(500).text
            assert wanted["town"] in text.replace(query, "")
            assert str(wanted["people"]) in text
            assert wanted["mayor"] in text.replace(query, "")
