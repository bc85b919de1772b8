"""The documentation is a book: one table of contents, pages that say their purpose, links and pictures that work."""

import ast
import json
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest
from antiphon_shared.events.session import TerminationReason

from tests.docs.conftest import ROOT
from tests.house.test_tidiness import PACKAGES
from tests.rows import each_row

DOCS = ROOT / "docs"
CONTENTS = DOCS / "README.md"
PAGES = sorted({*DOCS.glob("*.md")} - {CONTENTS})
BOOK = [ROOT / "README.md", CONTENTS, *PAGES, *sorted((DOCS / "decisions").glob("*.md"))]

PICTURES = [
    (f"{page.relative_to(ROOT)}-{number}", text)
    for page in BOOK
    for number, text in enumerate(re.findall(r"^```mermaid\n(.*?)^```$", page.read_text(), re.M | re.S), 1)
]


def links_of(page: Path) -> list[str]:
    """Return the targets of a page's links to files of the repository, without those inside of code."""
    text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", page.read_text(), flags=re.M | re.S)
    return [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if not re.match(r"[a-z]+:", link)]


def anchors_of(page: Path) -> set[str]:
    """Return the anchors that GitHub gives the headings of a page."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)
    titles = re.findall(r"^#+ (.+)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_the_contents_list_every_page_once() -> None:
    listed = [link for link in links_of(CONTENTS) if re.fullmatch(r"[\w-]+\.md", link)]
    assert sorted(listed) == [page.name for page in PAGES]


@each_row("page", PAGES, ids=lambda page: page.stem)
def test_a_page_opens_with_what_its_reader_can_do_afterwards(page: Path) -> None:
    title, blank, opening = page.read_text().split("\n")[:3]
    assert (title[:2], blank) == ("# ", "")
    assert opening.startswith("After this page you ")


@each_row("page", BOOK, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    for link in links_of(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors_of(target), link


def tracked_files() -> list[str]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    return listed.stdout.split()


def ends_of_paths() -> set[str]:
    """Return every tracked path, and its ends: `a/b.py` and `b.py`."""
    return {path[at:] for path in tracked_files() for at in (0, *[m.end() for m in re.finditer("/", path)])}


def test_every_module_that_a_page_names_exists() -> None:
    ends = ends_of_paths()
    named = {
        (page.name, path)
        for page in BOOK
        for path in re.findall(r"`([\w./]+\.(?:py|lua))`", page.read_text())
    }
    assert {(page, path) for page, path in named if path not in ends} == {("README.md", "types.py")}


def test_every_file_that_the_code_names_exists() -> None:
    ends, rooms = ends_of_paths(), tuple(f"{package}/" for package in PACKAGES)
    named = {
        name
        for path in tracked_files()
        if path.startswith(rooms) and path.endswith((".py", ".lua"))
        for name in re.findall(
            r"(?<![\w./{}*-])([\w/]+\.(?:py|lua|md))\b(?![\w.(])", (ROOT / path).read_text()
        )
    }
    assert named - ends == {"redis.py", "my_tools.py"}  # files of a user


def test_the_table_of_endings_names_the_deciding_functions() -> None:
    rows = re.findall(r"^\| `\w+` \| (`.+?) \| (`.+) \|$", (DOCS / "uncertainty.md").read_text(), re.M)
    found: set[str] = set()
    for reasons, places in rows:
        named = re.findall(r"`(\w+)`", reasons)
        code = "".join(
            ast.get_source_segment(text, function) or ""
            for path, functions in re.findall(r"`(coordinator/[\w/]+\.py)` \(((?:`\w+`(?:, )?)+)\)", places)
            for text in [(ROOT / path).read_text()]
            for function in ast.walk(ast.parse(text))
            if isinstance(function, ast.FunctionDef) and f"`{function.name}`" in functions
        )
        assert [reason for reason in named if f'"{reason}"' not in code] == [], places
        found.update(named)
    assert found == set(get_args(TerminationReason))


def test_the_page_of_changes_names_existing_files_and_definitions() -> None:
    page = (DOCS / "changing.md").read_text()
    for path in re.findall(r"`([\w./]+/[\w.]*)`", page):
        assert (ROOT / path).exists(), path
    for path, names in re.findall(r"`([\w/]+\.py)` \(((?:`\w+`(?:, )?)+)\)", page):
        code = (ROOT / path).read_text()
        for name in re.findall(r"`(\w+)`", names):
            assert re.search(rf"^(?:class |(?:async )?def |){name}\b", code, re.M), f"{path}: {name}"


def test_every_picture_renders(subtests: pytest.Subtests) -> None:
    """In one process of its own: the renderer reports leaks of its bindings to stderr as its process ends."""
    command = [sys.executable, "-m", "tests.docs.rendered"]
    done = subprocess.run(
        command,
        cwd=ROOT,
        input=json.dumps(PICTURES),
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    rendered = json.loads(done.stdout)
    assert [*rendered] == [name for name, _ in PICTURES]
    for name, shown in rendered.items():
        with subtests.test(name):
            assert shown.startswith("<svg")


def test_the_page_of_commands_matches_their_help() -> None:
    markdown = runpy.run_path(str(ROOT / "scripts" / "commands_page.py"))["markdown"]
    assert (DOCS / "commands.md").read_text() == markdown(), "write it anew with `make docs`"
