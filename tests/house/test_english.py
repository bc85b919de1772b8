"""Plain English in docstrings and comments: ruff checks that a docstring begins with its verb, this file the words.

Rooms that are not rewritten yet are those for which pyproject.toml switches ruff's docstring rules off.
"""

import ast
import re
import tokenize
from collections.abc import Iterator
from fnmatch import fnmatchcase
from io import StringIO
from typing import NamedTuple

import pytest

from tests.house.test_tidiness import PACKAGES, PROJECT, ROOT, ours

RIDDLES = re.compile(
    r"\b(?:nobody|whoever|somebody|anybody|(?:what|which) is none|what came of|come of (?:it|them)"
    r"|in hand|under way|gone on with|goes on with|out of order|(?:is|are|be) let go|(?:is|are) told)\b",
    re.IGNORECASE,
)
"""Riddles, and metaphors for which the field has a word: in flight, resume, unavailable, dropped, reported."""
OPENINGS = re.compile(r"(?:What|Whether|How|Those|Of|Who|Whose|Nothing|None|That|As|To)\b")
"""First words of the docstring of a module, class or function that has neither a noun nor a verb first."""
FIELD_OPENINGS = re.compile(r"(?:What|Those|Of|Who|Whose)\b")
"""The same for the docstring below a field or constant, which may be an indirect question, such as `Whether ...`."""


class Text(NamedTuple):
    """A docstring or comment, and the line on which it begins."""

    line: int
    words: str
    openings: re.Pattern[str] | None = None


def texts_of(source: str) -> Iterator[Text]:
    """Yield the docstrings and comments of a Python file."""
    for node in ast.walk(ast.parse(source)):
        body = getattr(node, "body", None)
        for index, statement in enumerate(body if isinstance(body, list) else ()):
            match statement:
                case ast.Expr(value=ast.Constant(value=str(words))):
                    yield Text(statement.lineno, words, FIELD_OPENINGS if index else OPENINGS)
    for token in tokenize.generate_tokens(StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield Text(token.start[0], token.string)


def faults_of(source: str) -> list[str]:
    """Return the phrases of a Python file that a reader would have to read twice, each with its line."""
    return [
        f"{text.line}: {found[0]}"
        for text in texts_of(source)
        for found in (RIDDLES.search(text.words), text.openings and text.openings.match(text.words))
        if found
    ]


def is_unfinished(name: str) -> bool:
    """Return whether pyproject.toml switches the docstring rules off for a file."""
    ignores = PROJECT["tool"]["ruff"]["lint"]["per-file-ignores"]
    return any("D" in rules and fnmatchcase(name, pattern) for pattern, rules in ignores.items())


FINISHED = [
    name
    for name in ours()
    if name.startswith(tuple(f"{package}/" for package in PACKAGES)) and not is_unfinished(name)
]


def test_finished_rooms_are_written_in_plain_english() -> None:
    faults = {
        name: found
        for name in FINISHED
        if name.endswith(".py") and (found := faults_of((ROOT / name).read_text(encoding="utf-8")))
    }
    assert faults == {}


def test_scripts_for_redis_are_written_in_plain_english() -> None:
    comments = {
        name: re.findall(r"--(.*)$", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
        for name in FINISHED
        if name.endswith(".lua")
    }
    assert len(comments) > 20
    assert {
        name: found for name, lines in comments.items() if (found := RIDDLES.findall(" ".join(lines)))
    } == {}


@pytest.mark.parametrize(
    ("source", "is_found"),
    [
        ('"""What stands in the way."""', True),
        ('def f():\n    """Whether it is there."""', True),
        ('class C:\n    """A call."""\n\n    a: bool\n    """Whether it is there."""', False),
        ('class C:\n    """A call."""\n\n    a: int\n    """Of the call."""', True),
        ("x = 1  # nobody waits for it", True),
        ('x = "nobody"', False),
        ('def f():\n    """Return the delay, in seconds."""', False),
    ],
)
def test_the_search_finds_riddles_in_docstrings_and_comments_alone(source: str, is_found: bool) -> None:
    assert bool(faults_of(source)) is is_found


@pytest.mark.parametrize(
    ("name", "unfinished"),
    [
        ("coordinator/decide.py", False),
        ("coordinator/workflows/decide.py", False),
        ("shared/antiphon_shared/memory/filing/records.py", False),
        ("shared/antiphon_shared/bus/consumer.py", False),
        ("antiphon/cli/sessions.py", True),
        ("reasoning_engine/engine.py", False),
    ],
)
def test_rooms_are_unfinished_where_the_docstring_rules_are_off(name: str, unfinished: bool) -> None:
    assert is_unfinished(name) is unfinished
