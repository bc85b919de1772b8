"""Recorded runs that all tests of this folder may read."""

import asyncio

import pytest

from antiphon.recording.lines import Line
from tests.antiphon.recording.runs.travel import recorded_runs


@pytest.fixture(scope="session")
def runs() -> dict[str, list[Line]]:
    """Recordings by what happens in them."""
    return asyncio.run(recorded_runs())
