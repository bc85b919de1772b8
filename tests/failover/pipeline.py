"""The five as processes over servers that fail over, and what their writes have done."""

import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import redis

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
        self, url: str, client: Any, model: Model, folder: Path, partitions: int = 1, **environment: str
    ) -> None:
        self.model, self._file = model, folder / "effects"
        super().__init__(
            url,
            partitions,
            client=cast(redis.Redis, client),
            ANTHROPIC_BASE_URL=model.url,
            ANTIPHON_BUS_LEASE_S="2",
            ANTIPHON_BUS_MAX_DELIVERIES="100",
            ANTIPHON_LOG_LEVEL="warning",
            ANTIPHON_TOOLS="tests.failover.tools",
            ANTIPHON_TOOL_DISPATCHER_DEFAULT_SCOPES="read,write",
            EFFECTS_FILE=str(self._file),
            **environment,
        )

    def effects(self) -> "Counter[str]":
        """How often each key's write took effect, by tool and key."""
        lines = self._file.read_text().splitlines() if self._file.exists() else []
        return Counter(" ".join(line.split()[:2]) for line in lines)


@contextmanager
def writing(
    url: str, client: Any, script: Sequence[Scripted] = SCRIPT, partitions: int = 1, **environment: str
) -> Iterator[Writing]:
    folder = Path(tempfile.mkdtemp(prefix="antiphon-failover-"))
    try:
        with scripted_model(script) as model:
            five = Writing(url, client, model, folder, partitions, **environment)
            try:
                five.start()
                five.wait_until_ready()
                yield five
            finally:
                five.stop()
    finally:
        shutil.rmtree(folder)
