"""The courses example as the model sees it."""

from typing import Any

from examples.courses import lookup
from shared.tools import ToolError
from tests.reasoning_engine.offline.rounds import OfferedTool, Refused


def _search(**arguments: Any) -> Any:
    return _or_refusal(lookup.search, arguments)


def _outline(**arguments: Any) -> Any:
    return _or_refusal(lookup.outline, arguments)


def _or_refusal(function: Any, arguments: dict[str, Any]) -> Any:
    try:
        return function(**arguments)
    except lookup.UnknownCourse as unknown:
        titles = ", ".join(f'"{title}"' for title in unknown.nearest)
        error = ToolError(
            error_type="not_found", message=str(unknown), suggested_action=f"Use one of {titles}."
        )
        raise Refused(error) from None


def _optional(kind: str, said: str) -> dict[str, Any]:
    return {"anyOf": [{"type": kind}, {"type": "null"}], "default": None, "description": said}


COURSE_TOOLS = (
    OfferedTool(
        "search_course_content",
        "Search the transcripts of all course lessons for passages that discuss a topic, best first.",
        {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "Words of the topic."},
                "course_name": _optional("string", "Search in this course only."),
                "lesson_number": _optional("integer", "Search in lessons with this number only."),
            },
            "required": ["query"],
            "additionalProperties": False,
            "x-orchestration": {"effect": "read"},
        },
        _search,
    ),
    OfferedTool(
        "get_course_outline",
        "The outline of one course: its title, description, and the numbers and titles of its lessons.",
        {
            "type": "object",
            "properties": {"course": {"type": "string", "description": "The course's title."}},
            "required": ["course"],
            "additionalProperties": False,
            "x-orchestration": {"effect": "read"},
        },
        _outline,
    ),
)
