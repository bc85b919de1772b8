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
    """`python ARGUMENTS` in the checkout; killed at the end, if it is still there."""
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
    """Its exit code, when asked to end by SIGTERM."""
    process.send_signal(signal.SIGTERM)
    return process.wait(timeout=LIMIT_S)
