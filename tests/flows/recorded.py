"""Sessions of a pipeline of processes, as recordings: exported, and verified by the code that made them."""

import asyncio
import tempfile
from collections.abc import Iterable
from pathlib import Path

from antiphon import Antiphon
from antiphon.recording.export import export
from antiphon.replay.verify import verify
from tests.flows.processes import Processes


def assert_recordings_verify(processes: Processes, session_ids: Iterable[str]) -> None:
    """Check that each ended session has every step recorded, and decided the same by a replay."""
    with tempfile.TemporaryDirectory(prefix="antiphon-recordings-") as folder:
        for path in asyncio.run(_exported(processes, session_ids, Path(folder))):
            report = verify(path)
            assert report.is_same, (path.name, report.first)
            assert not report.unchecked, (path.name, report.unchecked)
            assert report.answer == "same", path.name


async def _exported(processes: Processes, session_ids: Iterable[str], folder: Path) -> list[Path]:
    url = processes.environment["ANTIPHON_REDIS_URL"]
    async with Antiphon(url, partitions=processes.keys.partitions) as antiphon:
        return [await export(antiphon.open_bus(), one, folder) for one in session_ids]
