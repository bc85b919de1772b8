"""The tools are published as described, and an unknown course is an error the model can act on."""

import jsonschema
import pytest

from examples.courses import get_course_outline, search_course_content
from tool_dispatcher.authoring.tool import ToolFailed
from tool_dispatcher.catalogue import load_tools


def test_the_package_contributes_both_tools() -> None:
    tools = load_tools("examples.courses")
    assert set(tools) == {"search_course_content", "get_course_outline"}
    assert {tool.effect for tool in tools.values()} == {"read"}


def test_only_the_query_is_required() -> None:
    schema = search_course_content.definition.input_schema
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["required"] == ["query"]
    assert set(schema["properties"]) == {"query", "course_name", "lesson_number"}


def test_the_decorated_functions_answer() -> None:
    assert search_course_content("vector clocks", course_name="distributed")[0]["lesson"] == 2
    assert get_course_outline("bread")["course"] == "Bread from Scratch"


def test_an_unknown_course_is_not_found_with_the_nearest_titles() -> None:
    for call in (
        lambda: get_course_outline("Quantum Knitting"),
        lambda: search_course_content("x", "Quantum Knitting"),
    ):
        with pytest.raises(ToolFailed, match="Quantum Knitting") as failed:
            call()
        assert failed.value.error_type == "not_found"
        assert '"Payments Engineering"' in (failed.value.suggested_action or "")
