"""Ctrl-C while a rerun reads its recordings."""

import asyncio
from pathlib import Path

import pytest

from antiphon.replay import rerun as module


async def test_reading_ends_when_the_rerun_is_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Path] = []

    def interrupted(path: Path) -> None:
        read.append(path)
        task.cancel()

    monkeypatch.setattr(module, "_read", interrupted)
    task = asyncio.create_task(module.rerun([Path("a.jsonl"), Path("b.jsonl")]))
    with pytest.raises(asyncio.CancelledError):
        await task
    assert read == [Path("a.jsonl")]
