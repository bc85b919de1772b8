"""Two ways to start a program as a process: as a new interpreter, or as a fork of a server with its imports.

Five interpreters that import the same packages for each test took half of the suite's time. A fork server imports
them once; its forks then run the code of `python -m NAME` in processes that can be stopped and killed like any other.
Tests of the start, and tests that change the loading of a process, start new interpreters.
"""

import contextlib
import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
import tempfile
from _thread import start_new_thread
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from antiphon_shared.bus import group_member
from antiphon_shared.events import COMPONENTS

from antiphon.cli import COMMANDS

FAREWELL_S = 60.0
"""The time in which a stopping process requeues its entries, also on a busy machine."""
ROOT = Path(__file__).parents[2]

_FORK_SERVER = multiprocessing.get_context("forkserver")
_FORK_SERVER.set_forkserver_preload(
    [
        "antiphon_shared.process.runner",
        *(f"{component}.component" for component in COMPONENTS),
        *sorted({target.partition(":")[0] for target, _ in COMMANDS.values()}),
        "reasoning_engine.model",  # the SDKs, which an engine imports when it needs them
        "reasoning_engine.chat.model",
        "reasoning_engine.offline_model",
        "tests.flows.frozen",
    ]
)


class Started(Protocol):
    """A process, as `subprocess` knows it."""

    @property
    def pid(self) -> int: ...
    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def terminate(self) -> None: ...
    def kill(self) -> None: ...
    def send_signal(self, sig: int, /) -> None: ...


def started(module: str, environment: Mapping[str, str], log: Path, is_forked: bool) -> Started:
    """Start a component, or all of them in one process, in an environment; append its output to a file."""
    log.touch()
    if is_forked:
        return Forked(Program(module, dict(environment), ROOT, log, log))
    with log.open("ab") as file:
        command = [sys.executable, "-m", module]
        return subprocess.Popen(command, env=environment, stdout=file, stderr=file, cwd=ROOT)


def command_line(
    *arguments: str,
    environment: Mapping[str, str],
    folder: Path = ROOT,
    stdin: str = "",
    limit_s: float = 60.0,
) -> "subprocess.CompletedProcess[str]":
    """Run `antiphon ARGUMENTS` off the fork server to its end."""
    with tempfile.TemporaryDirectory(prefix="antiphon-command-") as name:
        given, output, errors = (Path(name) / stream for stream in ("stdin", "stdout", "stderr"))
        given.write_text(stdin)
        process = Forked(
            Program("antiphon", dict(environment), folder, output, errors, given, arguments=arguments)
        )
        try:
            code = process.wait(limit_s)
        finally:
            process.kill()
        return subprocess.CompletedProcess(arguments, code, output.read_text(), errors.read_text())


def is_stopped(process: Started) -> bool:
    """Return whether every thread of it is stopped, or it has ended, as Linux also reports to other processes."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        tasks = Path(f"/proc/{process.pid}/task").iterdir()
        return process.poll() is not None or all(
            (task / "stat").read_text().rpartition(")")[2].split()[0] == "T" for task in tasks
        )
    return True


@dataclass(frozen=True, slots=True)
class Program:
    """The command `python -m MODULE ARGUMENTS`, and its files; its output is appended."""

    module: str
    environment: dict[str, str]
    folder: Path
    output: Path
    errors: Path
    given: Path = Path(os.devnull)
    arguments: tuple[str, ...] = ()


class Forked:
    """A process off the fork server."""

    def __init__(self, program: Program) -> None:
        self._process = _FORK_SERVER.Process(target=_run, args=(program,), daemon=True)
        self._process.start()

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code. Raises subprocess.TimeoutExpired."""
        self._process.join(timeout)
        code = self.poll()
        if code is None:
            raise subprocess.TimeoutExpired(self._process.name, timeout or 0.0)
        return code

    def terminate(self) -> None:
        self._process.terminate()

    def kill(self) -> None:
        self._process.kill()

    def send_signal(self, sig: int, /) -> None:
        if self.poll() is None:
            os.kill(self.pid, sig)


def _run(program: Program) -> None:
    """Make the new process like a fresh interpreter for this command, except that it ends with the tests."""
    start_new_thread(_end_with_the_tests, ())
    _open(program.given, os.O_RDONLY, sys.stdin.fileno())
    _open(program.output, os.O_WRONLY | os.O_APPEND | os.O_CREAT, sys.stdout.fileno())
    _open(program.errors, os.O_WRONLY | os.O_APPEND | os.O_CREAT, sys.stderr.fileno())
    os.chdir(program.folder)
    os.environ.clear()
    os.environ.update(program.environment)
    sys.path[:0] = [str(program.folder), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    sys.argv = [program.module, *program.arguments]
    group_member._LEAVE_TIMEOUT_S = FAREWELL_S
    runpy.run_module(program.module, run_name="__main__", alter_sys=True)


def _open(path: Path, how: int, descriptor: int) -> None:
    """Redirect a descriptor to a file."""
    file = os.open(path, how)
    os.dup2(file, descriptor)
    os.close(file)


def _end_with_the_tests() -> None:
    """End with pytest, also if that is killed. The runner counts threads: `threading` does not know this one."""
    tests = multiprocessing.parent_process()
    assert tests is not None
    tests.join()
    os.kill(os.getpid(), signal.SIGKILL)
