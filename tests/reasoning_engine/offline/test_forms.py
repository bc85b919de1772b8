"""Plain values in the form that a schema wants."""

from typing import Any

from reasoning_engine.offline.forms import as_type, in_text
from tests.rows import each_row


@each_row(
    ("kind", "value", "forms"),
    [
        ("integer", "14", [14]),
        ("integer", 14.0, [14]),
        ("integer", 14.5, []),
        ("integer", "14 kg", []),
        ("integer", True, []),
        ("number", "2.5", [2.5]),
        ("string", 7, ["7"]),
        ("string", True, []),
        ("boolean", False, [False]),
        ("boolean", "no", []),
        ("any", [1], [[1]]),
    ],
)
def test_a_value_has_the_forms_of_a_type(kind: str, value: Any, forms: list[Any]) -> None:
    assert list(as_type(kind, value, {})) == forms


def test_a_format_is_found_in_a_text() -> None:
    text = "Write to a@b.example by 2026-01-02, see https://b.example/x."
    found = {
        name: list(in_text([text, 3], {"format": name})) for name in ("email", "date", "uuid", "nothing")
    }
    assert found == {"email": ["a@b.example"], "date": ["2026-01-02"], "uuid": [], "nothing": []}
