"""A rerun does not depend on the speed of the machine: each component in turn is slower than all others."""

import asyncio
import random
from pathlib import Path

import pytest
from antiphon_shared.bus.handling import Delivery, Outcome, SessionStore
from antiphon_shared.events import COMPONENTS, Component, SummaryRequested

from antiphon.recording.files import read_lines
from antiphon.recording.lines import EventLine
from antiphon.replay.rerun import is_independent, rerun
from antiphon.replay.serving.components.coordinator import CoordinatorPart
from antiphon.replay.serving.components.part import Part

RECORDINGS = Path(__file__).parents[2] / "recordings"
WITH_SUMMARIES, OTHERS = 6, 4
DELAY_S = 0.15
"""Longer than all steps of a round together take."""


def _drawn(seed: str) -> list[Path]:
    """Return some recordings with work outside the rounds, and some others."""
    paths = [path for path in sorted(RECORDINGS.glob("*.jsonl*")) if not _is_run(path)]
    random.Random(seed).shuffle(paths)
    with_summary: list[Path] = []
    others: list[Path] = []
    for path in filter(is_independent, paths):  # no more are read than are needed
        (with_summary if _has_summary(path) else others).append(path)
        if len(with_summary) >= WITH_SUMMARIES and len(others) >= OTHERS:
            break
    return with_summary[:WITH_SUMMARIES] + others[:OTHERS]


def _is_run(path: Path) -> bool:
    """Return whether a workflow decides the session's steps: a run has a clock of its own."""
    return path.name.startswith("a_run_")


def _has_summary(path: Path) -> bool:
    return any(
        isinstance(line, EventLine) and isinstance(line.event.data, SummaryRequested)
        for line in read_lines(path)
    )


@pytest.mark.parametrize("slow", COMPONENTS)
async def test_a_slow_component_changes_nothing(slow: Component, monkeypatch: pytest.MonkeyPatch) -> None:
    generator = random.Random(slow)

    def delayed(part: type[Part]) -> None:
        play = part.play

        async def late(self: Part, delivery: Delivery, session: SessionStore) -> Outcome:
            if self.name == slow:
                await asyncio.sleep(generator.random() * DELAY_S)
            return await play(self, delivery, session)

        monkeypatch.setattr(part, "play", late)

    delayed(CoordinatorPart if slow == "coordinator" else Part)  # type: ignore[type-abstract]  # it is only patched
    for report in await rerun(_drawn(slow)):
        assert report.is_same, report
        assert report.first is None, report
