"""The five components of a rerun as processes that end with this one, and their plan."""

import asyncio
import contextlib
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import IO

from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import COMPONENTS, Component
from antiphon_shared.process import health
from antiphon_shared.process.environment import environment_without
from antiphon_shared.values import Value

from antiphon.child_processes import ChildProcesses, terminate
from antiphon.errors import PipelineFailed
from antiphon.leftovers import OwnFolder
from antiphon.recording.files import naming, read_lines
from antiphon.replay.serving.exchanges import Match
from antiphon.replay.serving.recording_index import RecordingIndex
from antiphon.replay.serving.surroundings import HIDDEN, variables

_START_LIMIT_S = 120.0
_STOP_LIMIT_S = 3.0
_LOOK_EVERY_S = 0.05


class Plan(Value):
    """The address of Redis, the recordings, and the comparison of requests to the model."""

    redis_url: str
    paths: tuple[Path, ...]
    match: Match

    def scores(self) -> dict[str, RecordingIndex]:
        """Return the scores by session. Raises UnreadableEvent, OSError."""
        scores = map(read_score, self.paths)
        return {recording_index.session_id: recording_index for recording_index in scores}


def read_score(path: Path) -> RecordingIndex:
    """Return the score of one recording. Raises UnreadableEvent, which names the file, and OSError."""
    with naming(path):
        return RecordingIndex(read_lines(path))


@contextlib.asynccontextmanager
async def processes(bus: Bus, plan: Plan) -> AsyncIterator[None]:
    """Run all five, ready, while the block runs. Raises PipelineFailed when one ends by itself at the start."""
    group, children = ChildProcesses(), dict[Component, Process]()
    surroundings = environment_without(*HIDDEN) | variables(plan.redis_url)
    folder = OwnFolder("rerun")
    try:
        file = folder.path / "plan.json"
        await asyncio.to_thread(file.write_text, plan.model_dump_json())
        try:
            for name in COMPONENTS:
                with _log_of(folder.path, name) as log:
                    children[name] = await group.start(
                        *(sys.executable, "-P", "-m", "antiphon.replay.serving", name, str(file)),
                        output=log,
                        environment=surroundings,
                    )
            await _ready(bus, children, folder.path)
            yield
        finally:
            await asyncio.gather(*(terminate(child, _STOP_LIMIT_S) for child in children.values()))
            await group.release()
    finally:
        folder.delete()


def _log_of(folder: Path, name: Component) -> IO[bytes]:
    return (folder / f"{name}.log").open("wb")


async def _ready(bus: Bus, children: Mapping[Component, Process], folder: Path) -> None:
    waiting = set(children)
    async with asyncio.timeout(_START_LIMIT_S):
        while waiting:
            for name in list(waiting):
                if children[name].returncode is not None:
                    said = (await asyncio.to_thread((folder / f"{name}.log").read_text, errors="replace"))[
                        -2_000:
                    ]
                    raise PipelineFailed(f"the {name} of the rerun exited immediately:\n{said}")
                if await health.workers(bus, name):
                    waiting.discard(name)
            await asyncio.sleep(_LOOK_EVERY_S)
