"""Fixtures that give each test of the examples its own databases and local services.

No proxy is used, and tests wait for slow services.
"""

from pathlib import Path

import httpx2
import pytest

from examples.weather import client
from examples.webhooks import delivery


@pytest.fixture(autouse=True)
def _own_databases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("assembly", "crm", "travel"):
        monkeypatch.setenv(f"{name.upper()}_DATABASE", str(tmp_path / f"{name}.sqlite3"))
    monkeypatch.delenv("TRAVEL_FAILURES", raising=False)


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (client, delivery):
        monkeypatch.setattr(module, "_TIMEOUT", httpx2.Timeout(60))
