"""Engines that wait for a Redis that is there."""

import pytest

from reasoning_engine.limits import limiter


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the limiter wait longer for Redis, so that no call is made without limits on a busy machine."""
    monkeypatch.setattr(limiter, "_ANSWER_S", 60.0)
