"""A bus whose leases last, and a Redis that is waited for: the tests of dispatchers end either by hand."""

import pytest
from antiphon_shared.process.settings import BusSettings

from tests.tool_dispatcher.builders import LEASE_S
from tool_dispatcher.bounds import rate
from tool_dispatcher.running import cache


@pytest.fixture
def bus_settings() -> BusSettings:
    return BusSettings(lease_s=LEASE_S)


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the cache and the rate limiter wait longer for Redis, on a busy machine."""
    monkeypatch.setattr(cache, "PATIENCE_S", 60.0)
    monkeypatch.setattr(rate, "_ANSWER_S", 60.0)
