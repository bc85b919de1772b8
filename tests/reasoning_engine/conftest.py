"""Engines that wait for a Redis that is there."""

import pytest

from reasoning_engine.limits import limiter


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy the machine is: no call is made without its limits because a process stood still."""
    monkeypatch.setattr(limiter, "_ANSWER_S", 60.0)
