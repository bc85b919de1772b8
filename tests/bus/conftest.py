"""What the tests of the bus may ask for besides what every test may."""

import pytest
from antiphon_shared.bus import consumer


@pytest.fixture
def unhurried_farewell(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that stops hands back, however busy the machine is."""
    monkeypatch.setattr(consumer, "_FAREWELL_S", 60.0)
