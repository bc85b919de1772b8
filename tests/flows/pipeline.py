"""A whole pipeline for a test: Redis, a scripted model, the ledger's tools, and the five as processes.

The model asks for two tools in each of the first two rounds and then answers, whatever the question is. Some
questions make it behave otherwise: see `script`.
"""

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

import pytest
from antiphon_shared.events import Component
from antiphon_shared.events.base import COMPONENTS
from pydantic_core import to_json

from tests.flows.ledger import Ledger
from tests.flows.processes import ROOT, Processes
from tests.flows.starting import Forked, Program
from tests.messages_server import Scripted, Use
from tests.redis_server import RedisServer, running

ANSWER = "It is as high as it is wide [F1]."
LAST_WORDS = "This is what there is [F1]."
ANSWERED, LAST_WORDS_SHOWN = ANSWER.replace("[F1]", "[1]"), LAST_WORDS.replace("[F1]", "[1]")
"""The answers as the user reads them, above the sources."""
HANGS = "a question that hangs the model in round 2"
SLOW_AT_FIRST = "a question that the model is slow to answer at first"
PONDERS = "a question that takes a tool long"
FALLS_OVER = "a question whose tool ends its process"
LONG_S = 600.0
"""The time of the slow ones: longer than any test waits."""


def script(wait_s: float = 0.0) -> list[Scripted]:
    """Return the model's part; it waits `wait_s` before each reply."""
    both = (Use(name="look_up", input={"what": "height"}), Use(name="write_down", input={"what": "width"}))

    def always(when: str, text: str, uses: tuple[Use, ...] = ()) -> Scripted:
        return Scripted(when=when, text=text, uses=uses, wait_s=wait_s, repeat=True)

    return [
        Scripted(when=PONDERS, uses=(*both, Use(name="ponder", input={"seconds": LONG_S}))),
        Scripted(when=FALLS_OVER, uses=(Use(name="fall_over"),)),
        Scripted(when=SLOW_AT_FIRST, text=ANSWER, wait_s=LONG_S),
        Scripted(when=SLOW_AT_FIRST, text=ANSWER, repeat=True),
        always("This is the last round", LAST_WORDS),
        always("Round 1 of", "First the height.", both),
        Scripted(when=HANGS, text=ANSWER, wait_s=LONG_S, repeat=True),
        always("Round 2 of", "Once more.", both),
        always("Round 3 of", ANSWER),
    ]


FORMS = pytest.mark.parametrize("processes", [len(COMPONENTS), 1], ids=["five processes", "one process"])
"""A mark for tests of both distributions of the components over processes."""


@dataclass
class Model:
    """A scripted model in a process of its own."""

    url: str

    def under_way(self) -> int:
        """Return the calls that it has not answered yet."""
        with urlopen(f"{self.url}/under-way", timeout=60) as reply:
            return int(reply.read())

    def hung_up(self) -> int:
        """Return the calls whose caller closed the connection before the end of the reply."""
        with urlopen(f"{self.url}/hung-up", timeout=60) as reply:
            return int(reply.read())


@contextlib.contextmanager
def scripted_model(scripted: Sequence[Scripted]) -> Iterator[Model]:
    with tempfile.TemporaryDirectory(prefix="antiphon-model-") as name:
        script, port, errors = (Path(name) / file for file in ("script.json", "port", "errors"))
        script.write_bytes(to_json(list(scripted)))
        port.touch()
        arguments = ("--script", str(script))
        process = Forked(
            Program("tests.messages_server", dict(os.environ), ROOT, port, errors, arguments=arguments)
        )
        try:
            while not port.read_text().endswith("\n"):
                assert process.poll() is None, errors.read_text()
                time.sleep(0.01)
            yield Model(f"http://127.0.0.1:{int(port.read_text())}")
        finally:
            process.kill()
            process.wait()


class Pipeline(Processes):
    """The five components and their surroundings."""

    def __init__(
        self,
        redis_server: RedisServer,
        model: Model,
        partitions: int,
        environment: dict[str, str],
        logins: Mapping[Component, str] | None = None,
        is_forked: bool = True,
        processes: int = len(COMPONENTS),
    ) -> None:
        self.redis, self.model = redis_server, model
        file = Path(tempfile.mkdtemp(prefix="antiphon-ledger-")) / "ledger"
        self.ledger = Ledger(file)
        super().__init__(
            redis_server.url,
            partitions,
            logins,
            is_forked,
            processes,
            ANTHROPIC_BASE_URL=model.url,
            OPENAI_BASE_URL=f"{model.url}/v1",
            ANTIPHON_TOOL_DISPATCHER_DEFAULT_SCOPES="read,write",
            LEDGER_FILE=str(file),
            **{"ANTIPHON_TOOLS": "tests.flows.ledger_tools,tests.flows.archive_tools", **environment},
        )

    def stop(self) -> None:
        super().stop()
        shutil.rmtree(self.ledger.path.parent)


@contextlib.contextmanager
def pipeline(
    *,
    wait_s: float = 0.0,
    partitions: int = 1,
    copies: int = 1,
    redis_options: Sequence[str] = (),
    login: str = "",
    logins: Mapping[Component, str] | None = None,
    is_started: bool = True,
    is_forked: bool = True,
    processes: int = len(COMPONENTS),
    scripted: Sequence[Scripted] | None = None,
    **environment: str,
) -> Iterator[Pipeline]:
    """Run a pipeline for the length of a block; the five are started and ready unless the test starts them.

    With one of `processes`, the components share it.
    """
    names = [name if n == 1 else f"{name}-{n}" for n in range(1, copies + 1) for name in COMPONENTS]
    with running(*redis_options, login=login) as server, scripted_model(scripted or script(wait_s)) as model:
        five = Pipeline(server, model, partitions, environment, logins, is_forked, processes)
        try:
            if is_started:
                five.start(*names)
                five.wait_until_ready()
            yield five
        finally:
            five.stop()
