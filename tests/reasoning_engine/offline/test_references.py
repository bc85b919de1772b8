"""The reference of a question, among results for several things."""

from typing import Any

import pytest

from reasoning_engine.offline.language import stem_set
from reasoning_engine.offline.question import read_question
from reasoning_engine.offline.records import records_of
from reasoning_engine.offline.references import resolve
from tests.reasoning_engine.offline.briefings import notes_of

QUESTION = 'Find a course on the same topic as lesson 4 of course "Salt"'
LESSONS = [
    {"course": "Pepper", "lesson": 4, "title": "Storage"},
    {"course": "Salt", "lesson": 4, "title": "Mines"},
]
UNNAMED = [{"lesson": 3, "title": "Seas"}, {"lesson": 4, "title": "Mines"}]


@pytest.mark.parametrize(
    ("arguments", "results", "title"),
    [
        ({"query": "Salt"}, LESSONS, "Mines"),
        ({"query": "Salt"}, LESSONS[:1], None),
        ({"course": "Salt"}, UNNAMED, "Mines"),
        ({"course": "Pepper"}, UNNAMED, None),
        ({"query": "Mines"}, [{"course": "Salt", "lessons": UNNAMED}], "Mines"),
    ],
)
def test_the_same_number_of_another_thing_is_not_meant(
    arguments: dict[str, Any], results: Any, title: str | None
) -> None:
    notes = notes_of(QUESTION, ("search", arguments, results))
    reference = read_question(QUESTION, stem_set("course lesson")).reference
    assert reference is not None
    found = resolve(reference, records_of(notes.facts), notes.tried)
    assert (found and found.title) == title
