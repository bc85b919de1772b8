"""The command line as a process that is watched while it runs."""

import subprocess
import sys
from pathlib import Path

from tests.antiphon.conftest import LIMIT_S, clean_environment


def launched(*arguments: str, cwd: Path, **variables: str) -> "subprocess.Popen[str]":
    """Start a command, with an empty standard input."""
    return launched_python("-m", "antiphon", *arguments, cwd=cwd, **variables)


def launched_python(*arguments: str, cwd: Path, **variables: str) -> "subprocess.Popen[str]":
    """Start a program of Python."""
    return subprocess.Popen(
        [sys.executable, *arguments],
        env=clean_environment(**variables),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def read_until(process: "subprocess.Popen[str]", words: str) -> list[str]:
    """Return its output up to the line with those words."""
    assert process.stderr is not None
    lines = [""]
    while words not in lines[-1]:
        lines.append(process.stderr.readline())
        assert lines[-1], f"it ended before it said {words!r}: {lines}"
    return lines


def the_rest(process: "subprocess.Popen[str]") -> tuple[str, str]:
    """Return its remaining stdout and stderr, to its end; also data that was buffered with a line that was read."""
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout, process.stderr:
        stderr = process.stderr.read()
        stdout = process.stdout.read()
    process.wait(timeout=LIMIT_S)
    return stdout, stderr
