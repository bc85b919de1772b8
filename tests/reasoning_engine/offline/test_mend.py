"""Values mended by what validating tools say of them."""

from typing import Any

from reasoning_engine.offline.mend import mended
from reasoning_engine.offline.verdicts import Complaint
from tests.reasoning_engine.offline.briefings import values_in
from tests.rows import each_row

SCHEMA = {
    "type": "object",
    "properties": {
        "harbour": {"type": "string"},
        "berths": {"type": "integer", "minimum": 1},
        "parts": {"type": "array", "items": {"type": "object"}},
    },
    "required": ["harbour"],
}
VALUES = values_in(
    "Book berths in Skagen.", ("get_harbour", {"name": "Skagen"}, {"harbour": "Skagen", "berths": 14})
)


@each_row(
    ("draft", "at", "message", "after"),
    [
        (
            {"harbour": "Skagen"},
            "berths",
            "Required field 'berths' is missing",
            {"harbour": "Skagen", "berths": 14},
        ),
        ({"berths": 20}, "berths", "20 is more than 12", {"berths": 12}),
        ({"berths": 20}, "/berths", "There are 14 of them", {"berths": 14}),
        ({"berths": 20}, "berths", "It must be between 2 and 8", {"berths": 8}),
        ({"berths": 1}, "plan.berths", "It must be at least 2, not 1", {"berths": 2}),
        (
            {"harbour": "Skagn"},
            "harbour",
            "There is no 'Skagn'; did you mean 'Skagen'?",
            {"harbour": "Skagen"},
        ),
        ({"harbour": "x"}, "harbour", "'x' is none of Grenaa, Skagen", {"harbour": "Skagen"}),
        (
            {"harbour": "x", "y": 1},
            "y",
            "Additional properties are not allowed ('y' was unexpected)",
            {"harbour": "x"},
        ),
        ({"parts": [{"n": 9}]}, "parts.0.n", "9 is more than 5", {"parts": [{"n": 5}]}),
        ({"parts": [{"n": 9}]}, "parts[0].n", "9 is more than 5", {"parts": [{"n": 5}]}),
        ({"parts": [{"n": "9"}]}, "parts/0/n", "'9' is not a whole number", {"parts": [{"n": 9}]}),
    ],
)
def test_a_fault_is_mended_where_its_message_says_how(draft: Any, at: str, message: str, after: Any) -> None:
    assert mended(draft, [Complaint(at, message)], SCHEMA, VALUES) == after


@each_row(
    ("at", "message"),
    [
        ("harbour", "It is closed in winter"),
        ("berths", "It must be more than 0"),
        ("berths", "Not 1, 2 or 3"),
        ("berths", "The maximum is 20"),
        ("", "Something is wrong"),
        ("a.b.c", "Required field 'c' is missing"),
        ("parts.7", "It is too long"),
        ("captain", "Required field 'captain' is missing"),
    ],
)
def test_what_a_message_does_not_say_is_left_as_it_is(at: str, message: str) -> None:
    draft = {"harbour": "Skagen", "berths": 14, "parts": []}
    assert mended(draft, [Complaint(at, message)], SCHEMA, VALUES) == draft


def test_a_number_that_the_question_names_is_not_changed() -> None:
    values = values_in("Book 20 berths in Skagen.")
    assert mended({"berths": 20}, [Complaint("berths", "At most 14 fit")], SCHEMA, values) == {"berths": 20}


def test_a_property_that_the_schema_does_not_know_is_not_added() -> None:
    closed = {**SCHEMA, "additionalProperties": False}
    complaint = Complaint("pier", "Required field 'pier' is missing; it must be one of: A")
    assert mended({"harbour": "Skagen"}, [complaint], closed, VALUES) == {"harbour": "Skagen"}
