"""`antiphon up` without a Redis: it says so at once, where it looked, and waits or not."""

import os
import pty
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.antiphon.conftest import antiphon, clean_environment
from tests.redis_server import RedisServer

LIMIT_S = 180.0
NOBODY = "redis://user:geheim@127.0.0.1:1/3"


class OnATerminal:
    """`antiphon up` with a terminal of its own as stdout and stderr."""

    def __init__(self, folder: Path, **variables: str) -> None:
        self._ours, theirs = pty.openpty()
        self.shown = ""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "antiphon", "up", "--tools", "recipes"],
            env=clean_environment(**variables),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)

    def until(self, text: str, times: int = 1) -> None:
        deadline = time.monotonic() + LIMIT_S
        while self.shown.count(text) < times:
            assert time.monotonic() < deadline, f"no {text!r} in:\n{self.shown}"
            if select.select([self._ours], [], [], 0.2)[0]:
                with suppress(OSError):  # nobody holds the other end any more
                    self.shown += os.read(self._ours, 65_536).decode()

    def __enter__(self) -> "OnATerminal":
        return self

    def __exit__(self, *_: object) -> None:
        """However the test ends, nothing of it stays."""
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(timeout=LIMIT_S)

    def end(self) -> int:
        self.process.send_signal(signal.SIGINT)
        try:
            return self.process.wait(timeout=LIMIT_S)
        finally:
            os.close(self._ours)


def test_no_wait_ends_with_3_and_the_address_without_its_password(folder: Path) -> None:
    done = antiphon("up", "--no-wait", "--tools", "recipes", cwd=folder, ANTIPHON_REDIS_URL=NOBODY)
    assert done.returncode == 3
    assert done.stderr == (
        "antiphon: Cannot connect to Redis at redis://127.0.0.1:1/3: connection refused. "
        "Start Redis, or set ANTIPHON_REDIS_URL.\n"
    )


def test_on_a_terminal_one_line_says_what_is_waited_for_until_ctrl_c(folder: Path) -> None:
    with OnATerminal(folder, ANTIPHON_REDIS_URL=NOBODY) as up:
        up.until("Waiting: ", times=3)
        assert "Cannot connect to Redis at redis://127.0.0.1:1/3: connection refused." in up.shown
        assert "\n" not in up.shown.strip(), "each status takes the place of the one before"
        assert "geheim" not in up.shown
        assert up.end() == 0


def test_logs_are_text_on_a_terminal(folder: Path, redis_server: RedisServer, namespace: str) -> None:
    with OnATerminal(folder, ANTIPHON_REDIS_URL=redis_server.url, ANTIPHON_NAMESPACE=namespace) as up:
        up.until("] ready ", times=5)
        assert "component=coordinator" in up.shown
        assert "{" not in up.shown
        assert up.end() == 0


@pytest.mark.parametrize("form", ["json", "text"])
def test_either_form_of_logs_can_be_forced(folder: Path, form: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "antiphon", "up", "--tools", "recipes"],
        env=clean_environment(ANTIPHON_REDIS_URL=NOBODY, ANTIPHON_LOG_FORMAT=form),
        cwd=folder,
        stderr=subprocess.PIPE,
        text=True,
    ) as up:
        assert up.stderr is not None
        line = up.stderr.readline()
        up.terminate()
    assert line.startswith("{") == (form == "json")
    assert "redis_unavailable" in line
