"""The command line of the programs that run components."""

import subprocess
import sys


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *arguments], capture_output=True, text=True, check=False, timeout=60
    )


def test_the_help_of_a_component_explains_its_configuration() -> None:
    helped = run("coordinator", "--help")
    assert helped.returncode == 0
    assert "usage: python -m coordinator" in helped.stdout
    assert "ANTIPHON_REDIS_URL" in helped.stdout


def test_a_component_refuses_arguments() -> None:
    refused = run("antiphon.one_process", "6380")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "unrecognized arguments: 6380" in refused.stderr
