"""Plain English in docstrings, comments and texts: ruff checks a docstring's first word, this file the phrases.

Texts are string literals that users read: help, descriptions, errors, reports. RECORDED_TEXTS are left out.
"""

import ast
import re
import tokenize
from collections.abc import Iterator
from io import StringIO
from itertools import count, takewhile
from typing import NamedTuple

import pytest

from tests.house.test_tidiness import PACKAGES, ROOT, ours, statements_in
from tests.rows import each_row

RIDDLES = re.compile(
    r"\b(?:nobody|whoever|somebody|anybody|(?:what|which) is none|what came of|come of (?:it|them)"
    r"|in hand|under way|gone on with|goes on with|out of order|(?:is|are|be) let go|(?:is|are) told)\b",
    re.IGNORECASE,
)
"""Riddles, and metaphors for which the field has a word: in flight, resume, unavailable, dropped, reported."""
PROSE_RIDDLES = re.compile(
    rf"{RIDDLES.pattern}|\b(?:everybody|(?:when|where|if) there (?:is|are) none|(?:when|where) it has none"
    r"|stands? (?:for|beside)|stood|beside|lies in|held against|by lot|told apart|what (?:comes|becomes) of"
    r"|speaks? of|as (?:it|they) stands?|all the same|gives? up|for good|went on|the most telling"
    r"|when none is (?:left|given)|is none of (?:it|them|those)|wherever (?:it|they) stands?)\b",
    re.IGNORECASE,
)
"""The same for docstrings, comments and pages, whose words no prompt or recording repeats."""
OPENINGS = re.compile(r"(?:What|Whether|How|Those|Of|Who|Whose|Nothing|None|That|As|To)\b")
"""First words of the docstring of a module, class or function that has neither a noun nor a verb first."""
FIELD_OPENINGS = re.compile(r"(?:What|Those|Of|Who|Whose)\b")
"""The same for the docstring below a field or constant, which may be an indirect question, such as `Whether ...`."""

TEXT_OPENINGS = re.compile(
    r"(?:What|Whether|How|Those|Of|Who|Whose|Which|Why|Nothing|None|That|As)\b(?!.*\?$)"
)
"""The same for help and descriptions of settings, which are noun phrases or imperatives."""
TEXT_RIDDLES = re.compile(
    rf"{RIDDLES.pattern}|\b(?:h[eo]ld against|as they stand|(?:is|are) no (?!longer|more)\w+(?=[.:,;]))",
    re.IGNORECASE,
)
"""The same as RIDDLES for texts, where `is no number.` defines by negation too."""
RECORDED_TEXTS = (
    "antiphon/linear/history.py",
    "reasoning_engine/prompt.py",
    "reasoning_engine/summarize.py",
    "response_assembler/partial.py",
    "shared/antiphon_shared/memory/filing/",
    "tool_dispatcher/sql/",
)
"""Files with texts of events, prompts and answers, which recordings are compared with, and with lists of words."""


class Text(NamedTuple):
    """A docstring or comment as one line of words, and the line of the file on which it begins."""

    line: int
    words: str
    openings: re.Pattern[str] | None = None


def texts_of(source: str) -> Iterator[Text]:
    """Yield the docstrings and comments of a Python file."""
    for node in statements_in(ast.parse(source)):
        body = getattr(node, "body", None)
        for index, statement in enumerate(body if isinstance(body, list) else ()):
            match statement:
                case ast.Expr(value=ast.Constant(value=str(words))):
                    yield Text(statement.lineno, in_one_line(words), FIELD_OPENINGS if index else OPENINGS)
    yield from comments_of(source)


def comments_of(source: str) -> Iterator[Text]:
    """Yield the comments of a Python file; comments on successive lines are one text."""
    tokens = tokenize.generate_tokens(StringIO(source).readline)
    comments = {
        token.start[0]: token.string.lstrip("# ") for token in tokens if token.type == tokenize.COMMENT
    }
    for line in comments:
        if line - 1 not in comments:
            block = takewhile(lambda number: number in comments, count(line))
            yield Text(line, in_one_line(" ".join(comments[number] for number in block)))


def in_one_line(words: str) -> str:
    """Return a text with one space in place of each line break and indentation, as phrases run across lines."""
    return " ".join(words.split())


def faults_of(source: str) -> list[str]:
    """Return the phrases of a Python file that a reader would have to read twice, each with its line."""
    return [
        f"{text.line}: {found[0]}"
        for text in texts_of(source)
        for found in (PROSE_RIDDLES.search(text.words), text.openings and text.openings.match(text.words))
        if found
    ]


def literals_of(source: str) -> Iterator[Text]:
    """Yield the string literals of a Python file that may be texts, with the openings to avoid in help."""
    nodes = list(ast.walk(ast.parse(source)))
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    helps = {
        id(keyword.value)
        for node in nodes
        if isinstance(node, ast.Call)
        for keyword in node.keywords
        if keyword.arg in ("help", "description")
    }
    for node in nodes:
        match node:
            case ast.Constant(value=str(words)) if id(node) not in docstrings and words.count(" ") > 1:
                yield Text(node.lineno, words, TEXT_OPENINGS if id(node) in helps else None)


def text_faults_of(source: str) -> list[str]:
    """Return the phrases in string literals that a user would have to read twice, each with its line."""
    return [
        f"{text.line}: {found[0]}"
        for text in literals_of(source)
        for found in (TEXT_RIDDLES.search(text.words), text.openings and text.openings.match(text.words))
        if found
    ]


PAGES = [
    name for name in ours() if name.endswith(".md") and name.startswith(("README", "CHANGELOG", "docs/"))
]
PAGES.remove("docs/uncertainty.md")  # its table holds texts of answers
OURS = [name for name in ours() if name.startswith(tuple(f"{package}/" for package in PACKAGES))]


def test_texts_are_written_in_plain_english() -> None:
    faults = {
        name: found
        for name in OURS
        if name.endswith(".py") and not name.startswith(RECORDED_TEXTS)
        if (found := text_faults_of((ROOT / name).read_text(encoding="utf-8")))
    }
    assert faults == {}


@each_row("place", RECORDED_TEXTS)
def test_every_exempted_file_contains_a_fault(place: str) -> None:
    names = [name for name in OURS if name.startswith(place) and name.endswith(".py")]
    assert any(text_faults_of((ROOT / name).read_text(encoding="utf-8")) for name in names)


def test_docstrings_and_comments_are_written_in_plain_english() -> None:
    faults = {
        name: found
        for name in OURS
        if name.endswith(".py") and (found := faults_of((ROOT / name).read_text(encoding="utf-8")))
    }
    assert faults == {}


def test_docstrings_of_tests_begin_with_a_noun_or_a_verb() -> None:
    faults = {
        name: found
        for name in ours()
        if name.startswith(("tests/", "benchmarks/")) and name.endswith(".py")
        if (found := openings_of((ROOT / name).read_text(encoding="utf-8")))
    }
    assert faults == {}


def openings_of(source: str) -> list[str]:
    """Return the first lines of a file's docstrings, but for those of tests, that begin with OPENINGS."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = [node for node in statements_in(ast.parse(source)) if isinstance(node, kinds)]
    own = [node for node in nodes if not getattr(node, "name", "").startswith("test_")]
    texts = [ast.get_docstring(node) or "" for node in own]
    return [text.partition("\n")[0] for text in texts if OPENINGS.match(text)]


def prose_of(page: str) -> str:
    """Return a page without code, and without words in quotes, which are those of programs."""
    return re.sub(r"^```.*?^```|`[^`]*`|\"[^\"\n]*\"", "", page, flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("name", PAGES)
def test_pages_are_written_in_plain_english(name: str) -> None:
    text = in_one_line(prose_of((ROOT / name).read_text(encoding="utf-8")))
    assert [found[0] for found in PROSE_RIDDLES.finditer(text)] == []


def test_the_search_in_pages_leaves_out_code_and_quotations() -> None:
    page = 'It works.\n```sh\n# nobody\n```\n`whoever` asks "nobody".\nAll the same, it works.\n'
    assert [found[0] for found in PROSE_RIDDLES.finditer(prose_of(page))] == ["All the same"]


def test_scripts_for_redis_are_written_in_plain_english() -> None:
    comments = {
        name: re.findall(r"--(.*)$", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
        for name in OURS
        if name.endswith(".lua")
    }
    assert len(comments) > 20
    assert {
        name: found
        for name, lines in comments.items()
        if (found := PROSE_RIDDLES.findall(in_one_line(" ".join(lines))))
    } == {}


def test_the_header_of_a_script_lists_its_keys_and_results() -> None:
    headers = {
        name: "\n".join(
            takewhile(lambda line: line.startswith("--"), (ROOT / name).read_text("utf-8").split("\n"))
        )
        for name in OURS
        if name.endswith(".lua") and not name.endswith("/append.lua")  # functions that other scripts use
    }
    assert {
        name: missing
        for name, header in headers.items()
        if (missing := [part for part in ("KEYS[1]", "Returns") if part not in header])
    } == {}


@pytest.mark.parametrize(
    ("source", "is_found"),
    [
        ('"""What stands in the way."""', True),
        ('def f():\n    """Whether it is there."""', True),
        ('class C:\n    """A call."""\n\n    a: bool\n    """Whether it is there."""', False),
        ('class C:\n    """A call."""\n\n    a: int\n    """Of the call."""', True),
        ("x = 1  # nobody waits for it", True),
        ("# the session is gone\n# on with\nx = 1", True),
        ('def f():\n    """Return the call that is in\n    hand."""', True),
        ('x = "nobody"', False),
        ('def f():\n    """Return the delay, in seconds."""', False),
    ],
)
def test_the_search_finds_riddles_in_docstrings_and_comments_alone(source: str, is_found: bool) -> None:
    assert bool(faults_of(source)) is is_found


@pytest.mark.parametrize(
    ("source", "is_found"),
    [
        ('Error("there is nobody to ask")', True),
        ('Option(help="What the model may cost.")', True),
        ('Option(help="Which room is it?")', False),
        ('Option(help="The limit of the model\'s cost.")', False),
        ('Error(f"{path} is no file. Name another.")', True),
        ('def f():\n    """Return what nobody reads."""', False),
    ],
)
def test_the_search_finds_riddles_in_texts(source: str, is_found: bool) -> None:
    assert bool(text_faults_of(source)) is is_found
