"""A pipeline whose processes are of two releases."""

import contextlib
import json
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import cast
from urllib.parse import unquote

from antiphon_shared.events.base import COMPONENTS

from tests.flows.pipeline import Model, Pipeline, scripted_model
from tests.messages_server import Scripted, Use
from tests.redis_server import RedisServer, running
from tests.releases.trees import started_from

WAIT_S = 0.4
LEASE_S = 3.0
TOOLS = Path(__file__).with_name("release_tools.py")


def script() -> list[Scripted]:
    """Script two rounds with a write each, whose arguments differ, then the answer."""

    def always(when: str, text: str, *uses: Use) -> Scripted:
        return Scripted(when=when, text=text, uses=uses, wait_s=WAIT_S, repeat=True)

    look_up = Use(name="look_up", input={"what": "height"})
    return [
        always("Round 1 of", "First.", look_up, Use(name="charge", input={"amount": 1})),
        always("Round 2 of", "Once more.", look_up, Use(name="charge", input={"amount": 2})),
        always("Round 3 of", "Both were charged [F1]."),
    ]


class MixedPipeline(Pipeline):
    """The five, each of the tree it is started from."""

    def __init__(self, server: RedisServer, model: Model, folder: Path) -> None:
        self.tools = folder / "tools"
        self.tools.mkdir()
        shutil.copy(TOOLS, self.tools)
        self.sessions: list[str] = []
        super().__init__(
            server,
            model,
            1,
            {
                "ANTIPHON_TOOLS": "release_tools",
                "ANTIPHON_BUS_LEASE_S": str(LEASE_S),
                "LEDGER_WAIT_S": str(WAIT_S),
            },
        )

    def start_from(self, tree: Path) -> None:
        """Start one process of each component of a tree, and wait until they are ready."""
        for name in COMPONENTS:
            log = self.folder / f"{name}.log"
            self.running[name] = started_from(tree, name, self.environment, log, self.tools)
        self.wait_until_ready()

    def start_ours(self, name: str) -> None:
        """Start a process of this tree, and wait until it is ready."""
        self.start(name, ANTIPHON_TOOLS="tests.releases.release_tools")
        self.wait_until_ready(name)

    def ask(self, count: int) -> None:
        """Submit a number of new sessions."""
        for _ in range(count):
            self.sessions.append(f"s{len(self.sessions)}")
            self.submit("What is to be charged?", session_id=self.sessions[-1])

    def kill_at_work(self, name: str) -> None:
        """Kill a process that has deliveries in flight."""

        def is_at_work() -> bool:
            if len(self.sessions) < self.response_count() + 30:
                self.ask(10)
            return self.in_flight(name) > 0

        self.hold_when(is_at_work, f"{name} to have a delivery in flight", name)
        self.kill(name)

    def forget_the_dead(self) -> None:
        """Drop the heartbeats of processes that were killed, as happens by itself within a minute."""
        alive = {process.pid for process in self.running.values() if process.poll() is None}
        for component in COMPONENTS:
            key = self.keys.workers(component)
            beats = cast("dict[bytes, bytes]", self.client.hgetall(key))
            for worker, beat in beats.items():
                if json.loads(beat.partition(b" ")[2])["pid"] not in alive:
                    self.client.hdel(key, worker.decode())

    def formats(self, session_id: str) -> set[int]:
        """Return the formats that the events of a session name."""
        return {event.get("format", 1) for event in self.log(session_id)}

    def charges(self) -> Counter[tuple[str, int]]:
        """Return how often each session was charged each amount."""
        effects = (
            json.loads(unquote(file.name.partition(".")[2])) for file in self.ledger.path.parent.glob("*.*")
        )
        return Counter((session, amount) for session, amount, _ in effects)


@contextlib.contextmanager
def mixed_pipeline(folder: Path) -> Iterator[MixedPipeline]:
    """Run Redis and the scripted model, without processes, for the length of a block."""
    with running() as server, scripted_model(script()) as model:
        five = MixedPipeline(server, model, folder)
        try:
            yield five
        finally:
            five.stop()
