"""A travel service of the test's own, in which nothing fails unless the test says so."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "travel.sqlite3"
    monkeypatch.setenv("TRAVEL_DATABASE", str(path))
    monkeypatch.delenv("TRAVEL_FAILURES", raising=False)
    return path
