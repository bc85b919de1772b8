"""The five components as processes over servers that fail over, and the effects of their writes."""

import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import redis

from tests.failover.servers import Cluster, Watched
from tests.flows.pipeline import Model, scripted_model
from tests.flows.processes import Processes
from tests.messages_server import Scripted, Use

ANSWER = "It is done [F1]."
BOTH = (Use(name="book", input={"what": "it"}), Use(name="post", input={"what": "it"}))
SCRIPT = [
    Scripted(when="Round 1 of", uses=BOTH, repeat=True),
    Scripted(text=ANSWER, repeat=True),
]
WRITES_OF_A_SESSION = len(BOTH)


class Writing(Processes):
    """Five processes whose model books and posts, and then answers."""

    def __init__(
        self, servers: Watched | Cluster, model: Model, folder: Path, environment: Mapping[str, str]
    ) -> None:
        self.model, self.folder_of_test, self._servers = model, folder, servers
        self._file = folder / "effects"
        super().__init__(
            servers.url,
            3 if isinstance(servers, Cluster) else 1,
            None,
            True,
            5,
            ANTHROPIC_BASE_URL=model.url,
            ANTIPHON_BUS_LEASE_S="2",
            ANTIPHON_BUS_MAX_DELIVERIES="100",
            ANTIPHON_LOG_LEVEL="warning",
            ANTIPHON_TOOLS="tests.failover.tools",
            ANTIPHON_TOOL_DISPATCHER_DEFAULT_SCOPES="read,write",
            EFFECTS_FILE=str(self._file),
            **environment,
        )

    def client_of(self, url: str) -> redis.Redis:
        return cast(redis.Redis, self._servers.client())

    def effects(self) -> "Counter[str]":
        """Return how often each key's write took effect, by tool and key."""
        lines = self._file.read_text().splitlines() if self._file.exists() else []
        return Counter(" ".join(line.split()[:2]) for line in lines)


@contextmanager
def writing(
    servers: Watched | Cluster, environment: Mapping[str, str], script: Sequence[Scripted] = SCRIPT
) -> Iterator[Writing]:
    folder = Path(tempfile.mkdtemp(prefix="antiphon-failover-"))
    try:
        with scripted_model(script) as model:
            five = Writing(servers, model, folder, environment)
            try:
                five.start()
                five.wait_until_ready()
                yield five
            finally:
                five.stop()
    finally:
        shutil.rmtree(folder)
