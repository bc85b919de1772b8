"""One recording that all tests of this folder may read."""

import asyncio
from pathlib import Path

import pytest

from antiphon.recording.files import write_lines
from antiphon.recording.lines import Line
from tests.antiphon.recording.recorded import recorded


@pytest.fixture(scope="session")
def courses_lines() -> list[Line]:
    """A session of three rounds over the example courses."""
    return asyncio.run(recorded())


@pytest.fixture
def courses_path(courses_lines: list[Line], tmp_path: Path) -> Path:
    """The same as a file."""
    path = tmp_path / "courses.jsonl"
    write_lines(path, courses_lines)
    return path
