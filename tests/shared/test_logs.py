"""Log lines: whatever is logged, a line comes of it."""

from typing import Any

import orjson
import pytest

from shared import logs


@pytest.mark.parametrize(
    "value", ["\ud800", 2**70, float("nan"), object(), b"\xff", {1, 2}, ValueError("\udcff")]
)
def test_whatever_is_logged_is_one_line_of_json(value: Any) -> None:
    line = logs.as_line({"event": "tool failed", "value": value})
    assert "\n" not in line
    assert orjson.loads(line.encode("utf-8", "replace").replace(b"\\ud800", b"?"))["event"] == "tool failed"
