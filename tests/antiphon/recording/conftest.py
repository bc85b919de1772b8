"""One recording that all tests of this folder may read, and a model that none of them may call."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from antiphon.recording.files import write_lines
from antiphon.recording.lines import Line
from tests.antiphon.recording.recorded import recorded
from tests.messages_server import MessagesServer, Scripted, serving


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


@pytest.fixture
async def the_real_model(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[MessagesServer]:
    """The model, and proxy, that the environment names, and gives a key for; a rerun must not call it."""
    async with serving(Scripted(text="I was called.", repeat=True)) as server:
        monkeypatch.setenv("HTTP_PROXY", server.url)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "a-real-key")
        yield server
