"""A folder with a recording for runs of pytest."""

from importlib import import_module
from pathlib import Path

import pytest

from antiphon.recording.files import write_lines
from antiphon.recording.lines import Line


@pytest.fixture(autouse=True)
def _everything_is_imported(courses_lines: list[Line]) -> None:
    """Import first what a run inside this process would import, and drop again: else it would be there twice.

    Each run would also take a second for the model's SDK.
    """
    for part in ("choices", "items", "pipelines", "recorded_question", "scripted", "strike"):
        import_module(f"antiphon.replay.testing.{part}")
    import_module("reasoning_engine.model")


@pytest.fixture
def folder(pytester: pytest.Pytester, courses_lines: list[Line]) -> Path:
    """Return a folder that holds one recording."""
    folder = pytester.mkdir("recordings")
    write_lines(folder / "courses.jsonl", courses_lines)
    return folder
