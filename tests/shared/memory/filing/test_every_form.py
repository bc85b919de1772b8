"""Filing's reading of every word of its tables, alone and in sentences: every_form.json.

After an intended change, run `python -m tests.shared.memory.filing.test_every_form`, and review the output.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from antiphon_shared.memory.filing import (
    assertions,
    attributes,
    claims,
    queries,
    reading,
    records,
    salience,
    sentences,
    subjects,
    titles,
    values,
)
from antiphon_shared.text import dates, names, numbers, subquestions, units

from tests.kept_forms import Reader, differences, write

KEPT = Path(__file__).with_name("every_form.json")
_ASSERTED = (
    "The {} of Corvane is Petr Halloran.",
    "Petr Halloran is the {} of Corvane.",
    "The Lenna Tunnel is {}.",
    "The Lenna Tunnel is {} open.",
    "The Lenna Tunnel is open {} Nordvik.",
    "The Lenna Tunnel is 14 km {}.",
    "The Lenna Tunnel was {} in June 2011.",
    "The Lenna Tunnel opened {} June 2011.",
    "The Salt Road was {} by Simon Hale.",
    "Nordvik {} 1,300 lamps.",
    "Nordvik employs 1,300 {}.",
    "{} was born in June 1911.",
)
_CLAIMED = (
    "The Aker mole {} 40 lamps in all.",
    "The Aker mole has {} 40 lamps in all.",
    "Since 2021 the Aker mole {} 40 lamps in all.",
    "The mole at Aker shows lamp {} 40 at night.",
    "The keeper {} open the gate of Aker.",
    "{} the mole at Aker has 40 lamps in all.",
)
_NUMBERED = (
    "The Aker mole has {} lamps in all.",
    "The Aker mole has 40 {} of lamps.",
    "The Aker mole has {} 40 of lamps.",
    "It rose to two {} seven lamps at Aker.",
)
_RECORDED = (
    '{"name": "Aker Mole", "{}": "Petr Halloran"}',
    '{"name": "Aker Mole", "{}": 40}',
    '{"{}": "Aker Mole", "lamps": 40}',
)
_DIVIDED = (
    "It is lit by {} Holm of Aker. The mole is long.",
    "# A heading\n\n{}\n\nThe mole is long. The ferry is late.",
    "{} The mole is long. The ferry is late.",
)
_ASKED = (
    "Who keeps the mole {} what does the lamp cost?",
    "{} the mole and the lamp of Aker",
    "{} keeps the mole, and who built it?",
)


def _filed(text: str) -> Any:
    """Return the terms by which a sentence is compared, without its own words."""
    return [(one.claim, one.denied, one.assertion) for one in claims.compared_sentences(text)]


def _recorded(text: str) -> Any:
    entry, one, prose = records.comparable_forms(text)
    return entry, one and (one.subject, one.date, dict(one.qualifiers), dict(one.fields)), prose


def _of_json(read: Callable[[Any], Any]) -> Callable[[str], Any]:
    return lambda text: read(json.loads(text))


READERS = (
    Reader("asserted", _filed, (attributes, assertions, values, names), (), 1, _ASSERTED),
    Reader("claimed", _filed, (claims,), (), 1, _CLAIMED),
    Reader("numbered", _filed, (numbers, units, dates), (), 1, _NUMBERED),
    Reader("recorded", _recorded, (records, attributes), (), 1, _RECORDED),
    Reader("titled", _of_json(titles.title_of), (titles,), (), 1, _RECORDED),
    Reader("searched", _of_json(queries.search_query), (queries,), (), 1, _RECORDED),
    Reader("divided", sentences.sentences_in, (sentences, reading), (), 2, _DIVIDED),
    Reader("named", subjects.subject_in, (subjects,), (), 2, ("The mole {} Holm", "{} of Holm")),
    Reader(
        "salient", lambda text: salience.salience_of(text, False), (salience,), (), 2, ("The mole {} Holm.",)
    ),
    Reader("subquestions", subquestions.sub_questions, (subquestions,), (), 2, _ASKED),
)


@pytest.mark.parametrize("reader", READERS, ids=str)
def test_the_reading_of_every_form_is_unchanged(reader: Reader) -> None:
    assert differences(reader, KEPT) == []


if __name__ == "__main__":
    write(READERS, KEPT)
