"""A database of the test's own."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "assembly.sqlite3"
    monkeypatch.setenv("ASSEMBLY_DATABASE", str(path))
    return path
