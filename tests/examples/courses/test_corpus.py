"""The courses are well-formed, and each fourth lesson has its counterpart elsewhere."""

import pytest

from examples.courses.corpus import all_courses, parse_course
from examples.courses.lookup import search
from tests.examples.courses.answer_key import SAME_TOPIC_AS_LESSON_4
from tests.rows import each_row


def test_the_corpus_has_a_dozen_courses_with_numbered_lessons() -> None:
    assert len(all_courses()) >= 12
    for course in all_courses():
        assert 5 <= len(course.lessons) <= 8
        assert [lesson.number for lesson in course.lessons] == list(range(1, len(course.lessons) + 1))
        assert all(len(lesson.paragraphs) >= 2 for lesson in course.lessons)
        assert course.description


def test_titles_of_lessons_are_unique() -> None:
    titles = [lesson.title for course in all_courses() for lesson in course.lessons]
    assert len(titles) == len(set(titles))


def test_the_answer_key_covers_every_course() -> None:
    assert set(SAME_TOPIC_AS_LESSON_4) == {course.title for course in all_courses()}


@each_row("course", SAME_TOPIC_AS_LESSON_4)
def test_a_search_for_the_fourth_lesson_finds_its_counterpart_first_elsewhere(course: str) -> None:
    title = next(c for c in all_courses() if c.title == course).lessons[3].title
    elsewhere = [found for found in search(title) if found["course"] != course]
    assert (elsewhere[0]["course"], elsewhere[0]["lesson"]) == SAME_TOPIC_AS_LESSON_4[course]


def test_a_text_without_a_title_is_not_a_course() -> None:
    with pytest.raises(ValueError, match="# Title"):
        parse_course("Just some words.\n\n## 1. Lesson\n\nText.")
