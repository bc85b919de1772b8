"""The courses as values, read from the Markdown files beside this one."""

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_LESSON = re.compile(r"^## (\d+)\. (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Lesson:
    """One lesson and its transcript, paragraph by paragraph."""

    number: int
    title: str
    paragraphs: tuple[str, ...]


@dataclass(frozen=True)
class Course:
    """One course with its lessons in order."""

    title: str
    description: str
    lessons: tuple[Lesson, ...]


@cache
def all_courses() -> tuple[Course, ...]:
    """Return every course, by title. Read once, at first use."""
    folder = files(__package__) / "transcripts"
    texts = (file.read_text(encoding="utf-8") for file in folder.iterdir() if file.name.endswith(".md"))
    return tuple(sorted((parse_course(text) for text in texts), key=lambda course: course.title))


def parse_course(text: str) -> Course:
    """Parse `# Title`, a description, then `## 1. Lesson` sections. Raises ValueError without a title."""
    opening, *parts = _LESSON.split(text)
    title, _, description = opening.strip().partition("\n")
    if not title.startswith("# "):
        raise ValueError(f"A course begins with `# Title`, not with {title[:40]!r}.")
    lessons = []
    for number, name, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        paragraphs = tuple(" ".join(block.split()) for block in body.strip().split("\n\n"))
        lessons.append(Lesson(int(number), name.strip(), paragraphs))
    return Course(title.removeprefix("# ").strip(), " ".join(description.split()), tuple(lessons))
