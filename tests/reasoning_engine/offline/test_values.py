"""Values looked up by name."""

from typing import Any

import pytest

from reasoning_engine.offline.records import Record
from reasoning_engine.offline.values import closeness, counts_of, is_verdict, values_under
from tests.reasoning_engine.offline.briefings import values_in


@pytest.mark.parametrize(
    ("name", "key", "kinds", "closer"),
    [
        ("partId", "part_id", "", 2),
        ("part_id", "id", "part", 1),
        ("name", "part_name", "part", 1),
        ("part_id", "id", "boat", 0),
        ("name", "length", "", 0),
        ("", "name", "", 0),
    ],
)
def test_a_key_is_rated_by_its_closeness_to_a_name(name: str, key: str, kinds: str, closer: int) -> None:
    assert closeness(name, key, frozenset(kinds.split())) == closer


def test_an_ordinal_is_not_a_count() -> None:
    node = Record({"lesson": 4})
    assert (
        list(values_under(node, "lessons", is_count=True)),
        list(values_under(node, "lesson", is_count=True)),
    ) == (
        [],
        [4],
    )


def test_numbers_of_a_counted_noun_are_found() -> None:
    assert list(counts_of(Record({"text": "It has 12 lessons, or two lessons a day."}), "lessons")) == [12, 2]
    assert list(counts_of(Record({"text": "It has some lessons."}), "lessons")) == []


def test_verdicts_and_descriptions_of_settings_are_no_values() -> None:
    setting = {"name": "limit", "type": "number", "required": True}
    values = values_in(
        "Which?",
        ("validate", {"plan": {}}, {"valid": False, "errors": [{"property": "a", "message": "b"}]}),
        ("get_details", {"part": "gauge"}, [setting, {**setting, "name": "side"}]),
        ("count_boats", {}, 3),
    )
    assert values.records == ()
    assert [(call, one["name"]) for call, one in values.described] == [
        ({"part": "gauge"}, "limit"),
        ({"part": "gauge"}, "side"),
    ]


@pytest.mark.parametrize("content", [{"valid": "yes"}, {"errors": []}, [True], None])
def test_only_a_truth_value_is_a_verdict(content: Any) -> None:
    assert not is_verdict(content)
