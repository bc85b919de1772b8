"""The services of the examples run on this machine: no proxy stands between, and a slow one is waited for."""

import httpx2
import pytest

from examples.weather import client
from examples.webhooks import delivery


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (client, delivery):
        monkeypatch.setattr(module, "_TIMEOUT", httpx2.Timeout(60))
