"""Processes of the tests' own, ended by their id."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIMIT_S = 60.0


@contextmanager
def running(*arguments: str, environment: Mapping[str, str] | None = None) -> Iterator[subprocess.Popen[str]]:
    """Run `python ARGUMENTS` in the checkout; kill it at the end if it still runs."""
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, **(environment or {})},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=LIMIT_S)


def first_line(process: subprocess.Popen[str]) -> str:
    """Return its first line of output; empty when it ends without one."""
    assert process.stdout is not None
    return process.stdout.readline().strip()


def ended(process: subprocess.Popen[str]) -> int:
    """End it by SIGTERM and return its exit code."""
    process.send_signal(signal.SIGTERM)
    return process.wait(timeout=LIMIT_S)
