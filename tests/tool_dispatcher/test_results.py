"""What tools return, as JSON."""

from collections import namedtuple
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum, IntEnum
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from pydantic_core import from_json, to_json

from shared.tools import Effect, ToolError
from tool_dispatcher.results import NotJson, as_json, fitted, unusable

Point = namedtuple("Point", "x y")  # what an untyped library would return


class Colour(Enum):
    RED = "red"


class Level(IntEnum):
    LOW = 1


@dataclass
class Lesson:
    number: int
    day: date


class Course(BaseModel):
    title: str
    lessons: list[Lesson]


class Opaque:
    pass


GOOD: list[tuple[Any, Any]] = [
    (None, None),
    ("text", "text"),
    (1.5, 1.5),
    (float("nan"), None),
    ({"a": [float("inf")]}, {"a": [None]}),
    ((1, 2), [1, 2]),
    (Point(1, 2), [1, 2]),
    ({1: "a", Colour.RED: "b"}, {"1": "a", "red": "b"}),
    (Level.LOW, 1),
    (Decimal("1.50"), "1.50"),
    (datetime(2026, 1, 31, tzinfo=UTC), "2026-01-31T00:00:00Z"),
    (UUID(int=0), "00000000-0000-0000-0000-000000000000"),
    (Path("a/b"), "a/b"),
    (
        Course(title="t", lessons=[Lesson(1, date(2026, 1, 31))]),
        {"title": "t", "lessons": [{"number": 1, "day": "2026-01-31"}]},
    ),
]


@pytest.mark.parametrize(("value", "expected"), GOOD)
def test_what_can_be_json_becomes_json(value: Any, expected: Any) -> None:
    assert as_json(value) == expected
    assert from_json(to_json(as_json(value))) == expected


def _circle() -> list[Any]:
    circle: list[Any] = []
    circle.append(circle)
    return circle


BAD: list[tuple[Any, str]] = [
    (b"bytes", "bytes; return text"),
    ({"a": [b"bytes"]}, "bytes; return text"),
    (Opaque(), "Opaque, which is not JSON"),
    ([Opaque()], "Opaque, which is not JSON"),
    (Opaque, "which is not JSON"),
    ((n for n in (1, 2)), "generator; return a list"),
    ({(1, 2): 3}, "mapping with tuple as a key"),
    ({None: 3}, "mapping with NoneType as a key"),
    (_circle(), "in a circle"),
    (print, "which is not JSON"),
    ({"a": 10**5_000}, "an integer that no reader of JSON takes"),
]


@pytest.mark.parametrize(("value", "why"), BAD)
def test_what_cannot_be_json_is_refused_by_its_type(value: Any, why: str) -> None:
    with pytest.raises(NotJson, match=why):
        as_json(value)


def test_text_that_is_too_long_is_cut_with_a_note() -> None:
    cut = fitted("é" * 10_000, 1_000, "read")
    assert isinstance(cut, str)
    assert cut.startswith("ééé")
    assert cut.endswith("of 10000 characters; ask for less to see the rest.]")
    assert len(cut.encode()) < 1_200


@pytest.mark.parametrize(
    ("effect", "error_type", "advice"),
    [("read", "validation_error", "narrow the query"), ("write", "internal_error", "do not repeat it")],
)
def test_a_structure_that_is_too_large_is_an_error(effect: Effect, error_type: str, advice: str) -> None:
    """A write must not look as if it had not happened."""
    error = fitted(["x" * 100] * 100, 1_000, effect)
    assert isinstance(error, ToolError)
    assert error.error_type == error_type
    assert "1000 are allowed" in error.message
    assert advice in error.suggested_action


def test_text_that_cannot_be_encoded_is_an_error() -> None:
    error = fitted("\ud800", 1_000, "write")
    assert isinstance(error, ToolError)
    assert error.error_type == "internal_error"
    assert "do not repeat it" in error.suggested_action
    assert unusable("x", "read").suggested_action != error.suggested_action


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text() | st.binary() | st.floats() | st.dates(),
        lambda inner: st.lists(inner) | st.dictionaries(st.integers() | st.text() | st.none(), inner),
        max_leaves=10,
    )
)
def test_a_result_is_json_or_refused_and_nothing_else(value: Any) -> None:
    try:
        data = fitted(as_json(value), 1_000, "read")
    except NotJson:
        return
    to_json(data)
