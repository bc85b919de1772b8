"""The work of the two tools, as plain functions."""

from typing import TypedDict

from .corpus import Course, all_courses
from .index import passage_index
from .names import match_title, nearest_titles

RESULTS_MAX = 5


class FoundLesson(TypedDict):
    """One lesson that fits a search."""

    course: str
    lesson: int
    lesson_title: str
    excerpt: str
    score: float


class LessonTitle(TypedDict):
    number: int
    title: str


class Outline(TypedDict):
    """One course: what it is about, and its lessons in order."""

    course: str
    description: str
    lessons: list[LessonTitle]


class UnknownCourse(LookupError):
    """A name matches no course, or several equally well. `nearest` are the titles most like it."""

    def __init__(self, name: str, nearest: tuple[str, ...]) -> None:
        super().__init__(f"There is no course called {name!r}.")
        self.nearest = nearest


def search(query: str, course_name: str | None = None, lesson_number: int | None = None) -> list[FoundLesson]:
    """Return the lessons about `query`, the best first. Raises UnknownCourse."""
    course = find_course(course_name).title if course_name else None
    return [
        FoundLesson(
            course=passage.course,
            lesson=passage.lesson,
            lesson_title=passage.lesson_title,
            excerpt=passage.excerpt,
            score=passage.score,
        )
        for passage in passage_index().search(query, course, lesson_number, RESULTS_MAX)
    ]


def outline(course: str) -> Outline:
    """Return a course's description and the titles of its lessons. Raises UnknownCourse."""
    found = find_course(course)
    lessons = [LessonTitle(number=lesson.number, title=lesson.title) for lesson in found.lessons]
    return Outline(course=found.title, description=found.description, lessons=lessons)


def find_course(name: str) -> Course:
    """Return the course with a name, which may be incomplete or misspelt. Raises UnknownCourse."""
    by_title = {course.title: course for course in all_courses()}
    title = match_title(name, tuple(by_title))
    if title is None:
        raise UnknownCourse(name, nearest_titles(name, tuple(by_title)))
    return by_title[title]
