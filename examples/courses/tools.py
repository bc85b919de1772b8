"""The two tools of the course catalogue."""

from typing import Annotated

from pydantic import Field

from antiphon import ToolFailed, tool

from . import lookup


@tool(effect="read", example={"query": "vector clocks", "course_name": "distributed systems"})
def search_course_content(
    query: Annotated[str, Field(min_length=1, max_length=1000, description="Words of the topic.")],
    course_name: Annotated[
        str | None,
        Field(max_length=200, description="Search in this course only; part of its title is enough."),
    ] = None,
    lesson_number: Annotated[
        int | None, Field(ge=1, le=100, description="Search in lessons with this number only.")
    ] = None,
) -> list[lookup.FoundLesson]:
    """Search the transcripts of all course lessons for passages that discuss a topic, best first."""
    try:
        return lookup.search(query, course_name, lesson_number)
    except lookup.UnknownCourse as unknown:
        raise _not_found(unknown) from None


@tool(effect="read", example={"course": "distributed systems"})
def get_course_outline(
    course: Annotated[
        str, Field(min_length=1, max_length=200, description="The course's title, or part of it.")
    ],
) -> lookup.Outline:
    """The outline of one course: its title, description, and the numbers and titles of its lessons."""
    try:
        return lookup.outline(course)
    except lookup.UnknownCourse as unknown:
        raise _not_found(unknown) from None


def _not_found(unknown: lookup.UnknownCourse) -> ToolFailed:
    titles = ", ".join(f'"{title}"' for title in unknown.nearest)
    return ToolFailed(
        "not_found", str(unknown), f"Call again with the exact title if one of these is meant: {titles}."
    )
