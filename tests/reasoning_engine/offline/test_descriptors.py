"""Settings that results describe, as a schema."""

from typing import Any

from reasoning_engine.offline.descriptors import schema_of
from tests.rows import each_row


def test_settings_in_a_list_or_by_name_are_the_properties_of_an_object() -> None:
    limit = {"type": "number", "required": True, "min": 1, "max": None, "choices": []}
    side = {"type": "str", "default": "above", "options": ["above", "below"]}
    schema = {
        "type": "object",
        "properties": {
            "limit": {"type": "number", "minimum": 1},
            "side": {"type": "string", "default": "above", "enum": ["above", "below"]},
        },
        "required": ["limit"],
        "additionalProperties": False,
    }
    assert schema_of([{"name": "limit", **limit}, {"key": "side", **side}]) == schema
    assert schema_of({"limit": limit, "side": side}) == schema
    assert schema_of(schema) == schema


@each_row(
    "value",
    [
        None,
        3,
        [],
        {},
        ["limit"],
        [{"name": "Signe", "type": "boat"}],
        [{"name": "Signe"}],
        {"a": 1},
        [{"type": "str"}],
    ],
)
def test_other_values_describe_nothing(value: Any) -> None:
    assert schema_of(value) is None
