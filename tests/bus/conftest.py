"""Fixtures of the tests of the bus."""

import pytest
from antiphon_shared.bus import consumer


@pytest.fixture
def unhurried_farewell(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a stopping worker requeue its entries without a time limit, also on a busy machine."""
    monkeypatch.setattr(consumer, "_FAREWELL_S", 60.0)
