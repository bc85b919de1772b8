"""A pipeline of real processes under `antiphon up`, tools of the tests' own, the command line, and a recording."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import orjson
import pytest
import structlog
from antiphon_shared.events import COMPONENTS
from typer.testing import CliRunner, Result

from antiphon.cli import app
from antiphon.recording.files import write_lines
from antiphon.recording.lines import Line
from tests.antiphon.recording.recorded import recorded
from tests.flows.starting import command_line, started
from tests.messages_server import MessagesServer, Scripted, serving
from tests.redis_server import RedisServer

ROOT = Path(__file__).parents[2]
LIMIT_S = 60.0

TOOLS = '''
import asyncio

from antiphon import tool


@tool(effect="read")
def find_recipe(query: str) -> list[dict[str, str]]:
    """Find recipes by what is in them."""
    return [{"title": "Lentil soup", "text": "Lentils, carrots and cumin, cooked for 40 minutes."}]
'''
SLOW_TOOLS = TOOLS.replace("def find_recipe", "async def find_recipe").replace(
    "    return", "    await asyncio.sleep(60)\n    return"
)
QUESTION = "How long does lentil soup take to cook?"


@pytest.fixture(autouse=True)
def _logging_as_it_was() -> Iterator[None]:
    """Restore the logging, which the command line and the client set up: later tests write to their own stderr."""
    yield
    structlog.reset_defaults()


def clean_environment(**variables: str) -> dict[str, str]:
    """Return this process's environment without settings, with our packages importable, and `variables`."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("ANTIPHON", "ANTHROPIC", "OPENAI"))
    }
    return {**inherited, "PYTHONPATH": str(ROOT), **variables}


def until(condition: Callable[[], object], what: str) -> None:
    """Wait for a condition, bounded."""
    deadline = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < deadline, f"waited {LIMIT_S:.0f} s for {what}"
        time.sleep(0.02)


def is_alive(pid: int) -> bool:
    """Return whether a process exists and is not a zombie."""
    state = Path(f"/proc/{pid}/stat")
    if state.parent.parent.joinpath("self").exists():
        with contextlib.suppress(OSError):
            return state.read_text().rpartition(")")[2].split()[0] != "Z"
        return False
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, 0)
        return True
    return False


def antiphon(
    *arguments: str, cwd: Path, stdin: str = "", **variables: str
) -> "subprocess.CompletedProcess[str]":
    """Run the command line as a process to its end."""
    environment = clean_environment(**variables)
    return command_line(*arguments, environment=environment, folder=cwd, stdin=stdin, limit_s=LIMIT_S)


class InProcess:
    """The command line within this process: quick, for what needs no process of its own."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(folder)
        for name in [name for name in os.environ if name.startswith(("ANTIPHON", "ANTHROPIC", "OPENAI"))]:
            monkeypatch.delenv(name)
        self._path = list(sys.path)

    def __call__(self, *arguments: str, **variables: str) -> Result:
        before = structlog.get_config() if structlog.is_configured() else None
        try:
            return CliRunner().invoke(app, arguments, env=variables, catch_exceptions=False)
        finally:  # what else runs in this process must not write to a stderr that is closed behind the command
            structlog.reset_defaults() if before is None else structlog.configure(**before)

    def json(self, *arguments: str, **variables: str) -> Any:
        """Return what a command prints with `--json`."""
        return orjson.loads(self(*arguments, "--json", **variables).stdout)

    def refused(self, *arguments: str, **variables: str) -> str:
        """Return the errors of a command that ends with a usage error and prints nothing else."""
        done = self(*arguments, **variables)
        assert (done.exit_code, done.stdout) == (2, ""), done.output
        return done.stderr

    def forget(self) -> None:
        """Undo the changes that the command line made to this process."""
        sys.path[:] = self._path
        for name in ("recipes", "slow_recipes"):
            sys.modules.pop(name, None)


@pytest.fixture
def run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[InProcess]:
    """Run `antiphon ARGUMENTS` in a folder with tools, with no settings except the given ones."""
    runner = InProcess(folder, monkeypatch)
    yield runner
    runner.forget()


@pytest.fixture
def empty(redis_server: RedisServer, namespace: str) -> dict[str, str]:
    """Return the environment of a namespace in which no component has ever run."""
    return {"ANTIPHON_REDIS_URL": redis_server.url, "ANTIPHON_NAMESPACE": namespace}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a working directory with two modules of tools."""
    (tmp_path / "recipes.py").write_text(TOOLS)
    (tmp_path / "slow_recipes.py").write_text(SLOW_TOOLS)
    return tmp_path


@pytest.fixture(scope="module")
def pipeline(redis_server: RedisServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Yield the environment of the five components as processes."""
    folder = tmp_path_factory.mktemp("pipeline")
    settings, variables = _pipeline_environment(redis_server, folder)
    log = folder / "log"
    five = [started(component, variables, log, is_forked=True) for component in COMPONENTS]
    try:
        _wait_until_ready(log)
        yield settings
    finally:
        for process in five:
            process.terminate()
        codes = [process.wait(timeout=LIMIT_S) for process in five]
        assert codes == [0] * len(COMPONENTS), log.read_text()


@pytest.fixture(params=["5", "1"], ids=["five processes", "one process"])
def pipeline_under_up(
    redis_server: RedisServer, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[dict[str, str]]:
    """Yield the same as a user has it: children of `antiphon up`, each an interpreter of its own."""
    folder = tmp_path_factory.mktemp("pipeline")
    settings, variables = _pipeline_environment(redis_server, folder)
    log = folder / "log"
    with log.open("w") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "antiphon", "up", "--processes", request.param],
            env=variables,
            stdout=file,
            stderr=file,
        )
    try:
        _wait_until_ready(log)
        yield settings
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=LIMIT_S) == 0, log.read_text()


@pytest.fixture(scope="session")
def courses_lines() -> list[Line]:
    """Return a session of three rounds over the example courses."""
    return asyncio.run(recorded())


@pytest.fixture
def courses_path(courses_lines: list[Line], tmp_path: Path) -> Path:
    """Return the same as a file."""
    path = tmp_path / "courses.jsonl"
    write_lines(path, courses_lines)
    return path


@pytest.fixture
async def the_real_model(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[MessagesServer]:
    """Serve as the model and proxy that the environment names, with a key: a rerun must not call it."""
    async with serving(Scripted(text="I was called.", repeat=True)) as server:
        monkeypatch.setenv("HTTP_PROXY", server.url)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "a-real-key")
        yield server


def _pipeline_environment(redis_server: RedisServer, folder: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Return the environment for a pipeline and its clients; write its tools into the folder."""
    (folder / "recipes.py").write_text(TOOLS)
    settings = {"ANTIPHON_REDIS_URL": redis_server.url, "ANTIPHON_NAMESPACE": f"t{uuid4().hex[:12]}"}
    variables = clean_environment(
        **settings, ANTIPHON_TOOLS="recipes", ANTIPHON_REASONING_ENGINE_PROVIDER="offline"
    )
    variables["PYTHONPATH"] += f":{folder}"
    return settings, variables


def _wait_until_ready(log: Path) -> None:
    until(
        lambda: log.read_text().count('"event":"ready"') == len(COMPONENTS),
        "five components to be ready",
    )
