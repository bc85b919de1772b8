"""Paths: their targets, and the invalid ones."""

from typing import Any

import pytest

from antiphon.recording.redaction.json_paths import Path, UnreadablePath, remaining_paths
from tests.rows import each_row

VALUE = {"data": {"results": [{"data": {"email": 1}}, {"data": {"e-mail": 2}}], "email": 3}}


def found(paths: tuple[Path, ...], value: Any) -> list[Any]:
    if any(path.is_reached for path in paths):
        return [value]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [one for key, item in items for one in found(remaining_paths(paths, key), item)]


@each_row(
    ("path", "values"),
    [
        ("$.data.email", [3]),
        ("$..email", [1, 3]),
        ("$.data.results[*].data.email", [1]),
        ("$.data.results[1].data['e-mail']", [2]),
        ('$..["e-mail"]', [2]),
        ("$.data.results[0].data.*", [1]),
        ("$.*.email", [3]),
        ("$..results..email", [1]),
        ("$.email", []),
    ],
)
def test_a_path_leads_to_its_values(path: str, values: list[int]) -> None:
    assert found((Path.of(path),), VALUE) == values


@each_row("path", ["", "data", "$", "$.", "$[?(@.a)]", "$[1:2]", "$.a[", "$.a b", "$...a", "$.a" * 60])
def test_an_invalid_path_is_refused(path: str) -> None:
    with pytest.raises(UnreadablePath, match=r"begins with|invalid at|everything"):
        Path.of(path)
