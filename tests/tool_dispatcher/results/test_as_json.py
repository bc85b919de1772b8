"""Results of tools as JSON."""

from collections import namedtuple
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum, IntEnum
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import pytest
from antiphon_shared.redaction.redactor import REDACTED
from antiphon_shared.tools.calls import ToolError
from antiphon_shared.tools.contract import Effect
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, RootModel, SecretBytes, SecretStr
from pydantic_core import from_json, to_json

from tests.rows import each_row
from tool_dispatcher.authoring.secret import Secret
from tool_dispatcher.results.as_json import NotJson, as_json, fit_result, unusable
from tool_dispatcher.results.oversize import Fitted

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


@each_row(("value", "expected"), GOOD)
def test_a_convertible_value_becomes_json(value: Any, expected: Any) -> None:
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
    (_circle(), "or contains itself"),
    (print, "which is not JSON"),
    ({"a": 10**5_000}, "an integer that no reader of JSON takes"),
]


@each_row(("value", "why"), BAD)
def test_an_inconvertible_value_is_refused_by_its_type(value: Any, why: str) -> None:
    with pytest.raises(NotJson, match=why):
        as_json(value)


@dataclass
class Login:
    user: str
    password: Annotated[str, Secret]


class Device(BaseModel):
    model_config = ConfigDict(serialize_by_alias=True)

    name: str
    pin: Annotated[int, Secret] = Field(serialization_alias="code")


class Account(BaseModel):
    login: Login
    devices: list[Device]
    by_name: dict[str, Device]
    token: SecretStr
    spare: Annotated[str | None, Secret] = None


class Devices(RootModel[list[Device]]):
    pass


DEVICE = Device(name="phone", pin=1234)
SHOWN_DEVICE = {"name": "phone", "code": REDACTED}
SECRETS: list[tuple[Any, Any]] = [
    (SecretStr("s3cret"), REDACTED),
    ([{"key": SecretBytes(b"s3cret")}], [{"key": REDACTED}]),
    (Login("ann", "s3cret"), {"user": "ann", "password": REDACTED}),
    ([DEVICE], [SHOWN_DEVICE]),
    (Devices([DEVICE]), [SHOWN_DEVICE]),
    (
        Account(
            login=Login("ann", "s3cret"),
            devices=[DEVICE],
            by_name={"phone": DEVICE},
            token=SecretStr("s3cret"),
        ),
        {
            "login": {"user": "ann", "password": REDACTED},
            "devices": [SHOWN_DEVICE],
            "by_name": {"phone": SHOWN_DEVICE},
            "token": REDACTED,
            "spare": REDACTED,
        },
    ),
]


@pytest.mark.parametrize(("value", "expected"), SECRETS)
def test_a_value_marked_as_secret_is_hidden(value: Any, expected: Any) -> None:
    assert as_json(value) == expected


class TestShown:
    """The shown and the stored part of a result."""

    def test_a_result_that_fits_is_shown_whole(self) -> None:
        data: Any = [1, 2, 3]
        assert fit_result(data, "read", bytes_max=1_000, stored_bytes_max=2_000, handle="h") == Fitted(data)

    def test_an_oversized_result_is_shown_in_part_and_stored_whole(self) -> None:
        data: Any = ["x" * 100] * 15
        fitted: Any = fit_result(data, "write", bytes_max=1_000, stored_bytes_max=2_000, handle="h")
        assert fitted.whole == to_json(data)
        assert fitted.data[:-1] == data[: len(fitted.data) - 1]
        assert 'read_result(handle="h"' in fitted.data[-1]

    @pytest.mark.parametrize(
        ("effect", "error_type", "advice"),
        [
            ("read", "validation_error", "Ask for less"),
            ("write", "internal_error", "took effect; do not repeat"),
        ],
    )
    def test_a_result_too_large_to_be_stored_is_an_error(
        self, effect: Effect, error_type: str, advice: str
    ) -> None:
        error = fit_result("x" * 5_000, effect, bytes_max=1_000, stored_bytes_max=2_000, handle="h")
        assert isinstance(error, ToolError)
        assert error.error_type == error_type
        assert error.message == "The result has 5002 bytes; 2000 are allowed."
        assert advice in error.suggested_action

    def test_text_that_cannot_be_encoded_is_an_error(self) -> None:
        error = fit_result(["\ud800"], "read", bytes_max=1_000, stored_bytes_max=2_000, handle="h")
        assert isinstance(error, ToolError)
        assert error.error_type == "internal_error"
        assert "cannot be written as JSON" in error.message


def test_a_write_whose_result_cannot_travel_is_not_to_be_repeated() -> None:
    assert "do not repeat it" in unusable("x", "write").suggested_action
    assert unusable("x", "read").suggested_action != unusable("x", "write").suggested_action


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text() | st.binary() | st.floats() | st.dates(),
        lambda inner: st.lists(inner) | st.dictionaries(st.integers() | st.text() | st.none(), inner),
        max_leaves=10,
    )
)
def test_a_result_is_json_or_refused_and_nothing_else(value: Any) -> None:
    try:
        found = fit_result(as_json(value), "read", bytes_max=1_000, stored_bytes_max=2_000, handle="h")
    except NotJson:
        return
    if isinstance(found, ToolError):
        assert found.error_type in ("internal_error", "validation_error")
    else:
        assert len(to_json(found.data)) <= 1_000
