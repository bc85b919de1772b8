"""Fixtures of the tests of the bus."""

import pytest
from antiphon_shared.bus import group_member


@pytest.fixture
def unhurried_farewell(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a stopping worker requeue its entries without a time limit, also on a busy machine."""
    monkeypatch.setattr(group_member, "_LEAVE_TIMEOUT_S", 60.0)
