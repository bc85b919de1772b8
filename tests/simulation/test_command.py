"""`python -m tests.simulation` as a program."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize("words", [("--seeds", "0"), ("--seeds", "-3"), ("--sessions", "0")])
def test_a_run_of_nothing_is_refused_and_reports_no_promise_kept(words: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.simulation", *words], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "1 or more" in done.stderr
