"""The supervisor with children of the tests' own: restarts, ends, and no process left behind."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.antiphon.conftest import LIMIT_S, clean_environment, is_alive, until

CHILD = """
import os, pathlib, signal, sys, time
name, folder = sys.argv[1], pathlib.Path(sys.argv[2])
if (folder / f"{name}.misconfigured").exists():
    sys.exit(2)
if (folder / f"{name}.deaf").exists():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
else:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
(folder / f"{name}.{os.getpid()}").touch()
while True:
    time.sleep(0.05)
"""
SUPERVISOR = """
import sys
import antiphon.supervisor as supervisor
supervisor.GRACE_S = 1
folder, (replicas, _) = sys.argv[1], supervisor.read_processes(5, sys.argv[2])
command = lambda name: [sys.executable, f"{folder}/child.py", name, folder]
sys.exit(supervisor.supervise(replicas, command))
"""


class Supervised:
    """A supervisor process and the output of its children."""

    def __init__(self, folder: Path, replicas: str = "") -> None:
        self.folder = folder
        (folder / "child.py").write_text(CHILD)
        self.process = subprocess.Popen(
            [sys.executable, "-c", SUPERVISOR, str(folder), replicas],
            env=clean_environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def ever(self, name: str = "*") -> set[int]:
        """Return the ids of all children so far."""
        found = (path.suffix.removeprefix(".") for path in self.folder.glob(f"{name}.*"))
        return {int(pid) for pid in found if pid.isdigit()}

    def alive(self, name: str = "*") -> set[int]:
        return {pid for pid in self.ever(name) if is_alive(pid)}

    def until_alive(self, count: int) -> None:
        until(lambda: len(self.alive()) == count, f"{count} children")


@pytest.fixture
def started(tmp_path: Path) -> Iterator[list[Supervised]]:
    """Yield the supervisors that a test starts; kill the remaining ones by id."""
    all_of_them: list[Supervised] = []
    yield all_of_them
    for supervised in all_of_them:
        supervised.process.kill()
        supervised.process.wait()
        for pid in supervised.alive():
            with suppress(ProcessLookupError):  # it ends with its supervisor, maybe just now
                os.kill(pid, signal.SIGKILL)


def test_a_child_that_is_killed_is_started_again(tmp_path: Path, started: list[Supervised]) -> None:
    started.append(supervised := Supervised(tmp_path))
    supervised.until_alive(5)
    (first,) = supervised.alive("coordinator")
    os.kill(first, signal.SIGKILL)
    until(lambda: supervised.alive("coordinator") - {first}, "the coordinator to be back")
    assert len(supervised.alive()) == 5


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_all_of_them_and_then_the_supervisor(
    tmp_path: Path, started: list[Supervised], number: signal.Signals
) -> None:
    started.append(supervised := Supervised(tmp_path))
    supervised.until_alive(5)
    supervised.process.send_signal(number)
    assert supervised.process.wait(timeout=LIMIT_S) == 0
    assert supervised.alive() == set()
    assert len(supervised.ever()) == 5, "no process was restarted meanwhile"


def test_a_child_that_does_not_listen_is_killed(tmp_path: Path, started: list[Supervised]) -> None:
    (tmp_path / "tool_dispatcher.deaf").touch()
    started.append(supervised := Supervised(tmp_path))
    supervised.until_alive(5)
    supervised.process.terminate()
    assert supervised.process.wait(timeout=LIMIT_S) == 0
    assert supervised.alive() == set()


def test_no_child_outlives_a_supervisor_that_was_killed(tmp_path: Path, started: list[Supervised]) -> None:
    started.append(supervised := Supervised(tmp_path))
    supervised.until_alive(5)
    supervised.process.kill()
    supervised.process.wait()
    until(lambda: not supervised.alive(), "the children to end")


def test_a_child_that_is_not_set_up_right_ends_everything_with_2(
    tmp_path: Path, started: list[Supervised]
) -> None:
    (tmp_path / "reasoning_engine.misconfigured").touch()
    started.append(supervised := Supervised(tmp_path))
    assert supervised.process.wait(timeout=LIMIT_S) == 2
    assert supervised.alive() == set()


def test_the_supervisor_starts_the_requested_number_of_each_component(
    tmp_path: Path, started: list[Supervised]
) -> None:
    started.append(supervised := Supervised(tmp_path, "coordinator=3, tool_dispatcher=0"))
    supervised.until_alive(6)
    assert len(supervised.alive("coordinator")) == 3
    assert supervised.alive("tool_dispatcher") == set()
