"""Full-text search over the transcripts: SQLite FTS5 in memory, ranked by BM25."""

import re
import sqlite3
from dataclasses import dataclass
from functools import cache
from threading import Lock

from .corpus import Course, all_courses

_WORD = re.compile(r"\w+")
_SMALL_WORDS = frozenset(
    """a about an and are as at be by do does for from how in into is it its of on or that the their them
    this to what when where which who why with without""".split()  # noqa: SIM905  # words read best as text
)
_SEARCH = """
    SELECT course, lesson, lesson_title, paragraph, bm25(passages, 0, 0, 0, 2.0, 1.0) AS rank
    FROM passages
    WHERE passages MATCH ? AND (? IS NULL OR course = ?) AND (? IS NULL OR lesson = ?)
    ORDER BY rank, course, lesson LIMIT 200
"""
_building = Lock()


@dataclass(frozen=True)
class Passage:
    """The best paragraph of one lesson for a search."""

    course: str
    lesson: int
    lesson_title: str
    excerpt: str
    score: float
    """Higher is better; comparable within one search only."""


class PassageIndex:
    """The passages of some courses, searchable from any thread."""

    def __init__(self, courses: tuple[Course, ...]) -> None:
        self._lock = Lock()
        # One connection serves all threads; the lock allows one at a time.
        self._database = sqlite3.connect(":memory:", check_same_thread=False)
        self._database.execute(
            "CREATE VIRTUAL TABLE passages USING fts5(course UNINDEXED, lesson UNINDEXED, position UNINDEXED,"
            " lesson_title, paragraph, tokenize = 'porter unicode61')"
        )
        rows = [
            (course.title, lesson.number, position, lesson.title, paragraph)
            for course in courses
            for lesson in course.lessons
            for position, paragraph in enumerate(lesson.paragraphs)
        ]
        self._database.executemany("INSERT INTO passages VALUES (?, ?, ?, ?, ?)", rows)

    def search(self, query: str, course: str | None, lesson: int | None, limit: int) -> list[Passage]:
        """Return the lessons that fit best, each with its best paragraph. Any text is a valid query."""
        match = as_match(query)
        if not match:
            return []
        with self._lock:
            rows = self._database.execute(_SEARCH, (match, course, course, lesson, lesson)).fetchall()
        best: dict[tuple[str, int], Passage] = {}
        for title, number, lesson_title, paragraph, rank in rows:
            passage = Passage(title, number, lesson_title, paragraph, round(-rank, 4))
            best.setdefault((title, number), passage)
        return list(best.values())[:limit]

    def close(self) -> None:
        """Close the database, which frees its memory."""
        self._database.close()


def as_match(query: str) -> str:
    """Return a query in FTS5's own language: its words, each quoted, joined by OR. Empty without words."""
    found = _WORD.findall(query.lower())[:50]
    kept = [word for word in found if word not in _SMALL_WORDS] or found
    return " OR ".join(f'"{word}"' for word in dict.fromkeys(kept))


def passage_index() -> PassageIndex:
    """Return the index of all courses, built at first use."""
    with _building:
        return _built()


@cache
def _built() -> PassageIndex:
    return PassageIndex(all_courses())
