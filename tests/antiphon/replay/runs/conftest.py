"""Recorded runs that all tests of this folder may read."""

import asyncio

import pytest

from antiphon.recording.lines import Line
from tests.antiphon.replay.runs.travel import recorded_runs, recorded_sessions


@pytest.fixture(scope="session")
def runs() -> dict[str, list[Line]]:
    """Return recordings of runs by name."""
    return asyncio.run(recorded_runs())


@pytest.fixture(scope="session")
def around() -> dict[str, list[Line]]:
    """Return recordings of sessions that begin others, and of those that they begin."""
    return asyncio.run(recorded_sessions())
