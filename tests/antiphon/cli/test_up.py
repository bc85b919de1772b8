"""`antiphon up` without a Redis: it says so at once, where it looked, and waits or not."""

import json
import os
import signal
import subprocess
import sys
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
import redis
from antiphon_shared.bus.keys import Keys
from antiphon_shared.events import COMPONENTS

from tests.antiphon.cli.processes import launched
from tests.antiphon.cli.terminal import Terminal
from tests.antiphon.conftest import QUESTION, antiphon, clean_environment, is_alive, until
from tests.redis_server import RedisServer

LIMIT_S = 180.0
UNREACHABLE = "redis://user:geheim@127.0.0.1:1/3"


UP = ("up", "--tools", "recipes")


def test_no_wait_ends_with_3_and_the_address_without_its_password(folder: Path) -> None:
    done = antiphon("up", "--no-wait", "--tools", "recipes", cwd=folder, ANTIPHON_REDIS_URL=UNREACHABLE)
    assert done.returncode == 3
    assert done.stderr == (
        "antiphon: Cannot connect to Redis at redis://127.0.0.1:1/3: connection refused. "
        "Start Redis, or set ANTIPHON_REDIS_URL.\n"
    )


def test_on_a_terminal_one_line_shows_the_wait_until_ctrl_c(folder: Path) -> None:
    with Terminal(*UP, folder=folder, ANTIPHON_REDIS_URL=UNREACHABLE) as up:
        up.until("Waiting for ", times=3)
        assert "Cannot connect to Redis at redis://127.0.0.1:1/3: connection refused." in up.model_view
        assert "\n" not in up.model_view.strip(), "each status takes the place of the one before"
        assert "geheim" not in up.model_view
        assert up.interrupt() == 0


def test_logs_are_text_on_a_terminal(folder: Path, redis_server: RedisServer, namespace: str) -> None:
    settings = {"ANTIPHON_REDIS_URL": redis_server.url, "ANTIPHON_NAMESPACE": namespace}
    with Terminal(*UP, folder=folder, **settings) as up:
        up.until("] ready ", times=5)
        assert "component=coordinator" in up.model_view
        assert "{" not in up.model_view
        assert up.interrupt() == 0


@pytest.mark.parametrize("form", ["json", "text"])
def test_either_form_of_logs_can_be_forced(folder: Path, form: str) -> None:
    settings = {"ANTIPHON_REDIS_URL": UNREACHABLE, "ANTIPHON_LOG_FORMAT": form}
    with launched("up", "--tools", "recipes", cwd=folder, **settings) as up:
        assert up.stderr is not None
        line = up.stderr.readline()
        up.terminate()
    assert line.startswith("{") == (form == "json")
    assert "redis_unavailable" in line


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("--processes", "3"), "Use 1 for all components in one process, or 5 for a process of each."),
        (
            ("--processes", "1", "--replicas", "coordinator=2"),
            "Run further processes with `antiphon run NAME`",
        ),
    ],
)
def test_processes_that_are_not_possible_end_with_2(
    folder: Path, arguments: tuple[str, ...], hint: str
) -> None:
    done = antiphon("up", *arguments, cwd=folder, ANTIPHON_REDIS_URL=UNREACHABLE)
    assert done.returncode == 2
    assert hint in " ".join(done.stderr.split())


def test_one_process_that_is_killed_is_started_again_and_its_session_continues(
    folder: Path, redis_server: RedisServer, namespace: str
) -> None:
    settings = {
        "ANTIPHON_REDIS_URL": redis_server.url,
        "ANTIPHON_NAMESPACE": namespace,
        "ANTIPHON_BUS_LEASE_S": "1",
        "ANTIPHON_REASONING_ENGINE_PROVIDER": "offline",
    }

    client: Any = redis.Redis.from_url(redis_server.url)

    def pids() -> list[int]:
        """Return the process of each component's newest worker; fewer while not all of them are ready."""
        beats = [list(client.hvals(Keys(namespace).workers(name))) for name in COMPONENTS]
        found = [[json.loads(beat.partition(b" ")[2]) for beat in of_one] for of_one in beats if of_one]
        return [max(of_one, key=itemgetter("started"))["pid"] for of_one in found]

    command = [sys.executable, "-m", "antiphon", "up", "--processes", "1", "--tools", "recipes"]
    with subprocess.Popen(
        command, env=clean_environment(**settings), cwd=folder, stderr=subprocess.DEVNULL
    ) as up:
        try:
            until(lambda: len(pids()) == len(COMPONENTS), "all components")
            (first,) = set(pids())
            session = antiphon("submit", QUESTION, cwd=folder, **settings).stdout.strip()
            os.kill(first, signal.SIGKILL)
            until(lambda: first not in pids(), "all components again")
            (second,) = set(pids())
            watched = antiphon("sessions", "watch", session, cwd=folder, **settings)
            assert watched.returncode == 0, watched.stderr
            status = json.loads(antiphon("status", "--json", cwd=folder, **settings).stdout)
            assert [one["component"] for one in status["components"] if one["workers_alive"]] == [*COMPONENTS]
        finally:
            up.terminate()
            code = up.wait(timeout=LIMIT_S)
    client.close()
    assert code == 0
    assert not is_alive(second)
