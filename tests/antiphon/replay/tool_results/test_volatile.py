"""Fields of results that may differ."""

from typing import Any

import pytest
from antiphon_shared.process.errors import ConfigurationError

from antiphon.replay.tool_results.volatile import Volatile, differing


def paths(expected: Any, got: Any, *fields: str) -> list[str]:
    return [one.path for one in differing(expected, got, [Volatile.of(field) for field in fields])]


def test_without_volatile_fields_every_differing_path_is_named() -> None:
    assert paths({"a": [1, {"b": 2}], "c": 3}, {"a": [1, {"b": 4}], "d": 3}) == ["a[1].b", "c", "d"]


@pytest.mark.parametrize(
    ("expected", "got", "field", "is_same"),
    [
        ({"at": "10:00"}, {"at": 3}, "$.at", True),
        ({"x": [{"at": 1}, {"at": 2}]}, {"x": [{"at": 3}, {"at": 4}]}, "$..at", True),
        ({"x": [{"at": 1}]}, {"x": [{"at": 1}, {"at": 4}]}, "$.x[*].at", False),
        ({"id": "a"}, {"id": "b"}, "$.id=type", True),
        ({"id": "a"}, {"id": 1}, "$.id=type", False),
        ({"id": "a"}, {}, "$.id=type", False),
        ({"t": "**Sea** view."}, {"t": "sea  view"}, "$.t=text", True),
        ({"t": "Sea view"}, {"t": "Lake view"}, "$.t=text", False),
        ({"t": [1, 2]}, {"t": [2, 1]}, "$.t=unordered", True),
        ({"t": [1, 2]}, {"t": [2, 2]}, "$.t=unordered", False),
        ({"n": 21}, {"n": 21.4}, "$.n=numeric:0.5", True),
        ({"n": 21}, {"n": 21.6}, "$.n=numeric:0.5", False),
        ({"n": True}, {"n": 1}, "$.n=numeric:0.5", False),
        ({"n": "21 degrees"}, {"n": "21.3 degrees"}, "$.n=numeric:0.5", True),
        ({"n": "21 degrees"}, {"n": "21.3 knots"}, "$.n=numeric:0.5", False),
        ({"n": "no number"}, {"n": "no number"}, "$.n=numeric:0.5", True),
    ],
)
def test_a_matcher_bounds_the_difference_of_a_field(
    expected: Any, got: Any, field: str, is_same: bool
) -> None:
    assert (paths(expected, got, field) == []) is is_same


@pytest.mark.parametrize(
    "field",
    [
        "",
        "read_at",
        "$",
        "$.a[",
        "$.a=near",
        "$.a=numeric",
        "$.a=numeric:x",
        "$.a=numeric:-1",
        "$.a=any:3",
        "a b:$.c",
    ],
)
def test_an_invalid_field_is_refused(field: str) -> None:
    with pytest.raises(ConfigurationError, match="Use PATH"):
        Volatile.of(field)
