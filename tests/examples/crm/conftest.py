"""A register of the test's own."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "crm.sqlite3"
    monkeypatch.setenv("CRM_DATABASE", str(path))
    return path
