"""Setting up says what it cannot do, and what to do then."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BASH = shutil.which("bash") or "/bin/bash"


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """Return a folder that is the whole PATH."""
    for name in ("env", "dirname"):
        found = shutil.which(name)
        assert found is not None
        (tmp_path / name).symlink_to(found)
    return tmp_path


def has(machine: Path, name: str, body: str) -> None:
    program = machine / name
    program.write_text(f"#!{BASH}\n{body}\n")
    program.chmod(0o755)


def run(machine: Path, script: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [BASH, str(ROOT / "scripts" / script), *arguments],
        env={"PATH": str(machine), **environment},
        capture_output=True,
        text=True,
        timeout=30,
    )


def test_root_installs_a_missing_program(machine: Path) -> None:
    has(machine, "id", "echo 0")
    has(machine, "apt-get", f'echo "$@" >> {machine}/calls')
    assert run(machine, "install_command.sh", "redis-server").returncode == 0
    calls = (machine / "calls").read_text().splitlines()
    assert calls == ["update -qq", "install -y -qq redis-server"]


def test_a_user_without_root_rights_is_shown_the_command(machine: Path) -> None:
    has(machine, "id", "echo 1000")
    has(machine, "apt-get", "exit 99")
    done = run(machine, "install_command.sh", "redis-server")
    assert done.returncode == 1
    assert "sudo apt-get install redis-server" in done.stderr


@pytest.mark.parametrize("manager", ["apt-get", None])
def test_a_failed_installation_is_left_to_the_user(machine: Path, manager: str | None) -> None:
    has(machine, "id", "echo 0")
    if manager:
        has(machine, manager, "exit 1")
    done = run(machine, "install_command.sh", "redis-server")
    assert done.returncode == 1
    assert "by hand" in done.stderr


def test_setup_without_a_recent_python_shows_the_fix(machine: Path) -> None:
    done = run(machine, "setup.sh")
    assert done.returncode == 1
    assert "make setup PYTHON=" in done.stderr


def test_a_chosen_python_that_is_too_old_is_refused(machine: Path) -> None:
    has(machine, "python2", "exit 1")
    done = run(machine, "setup.sh", PYTHON="python2")
    assert done.returncode == 1
    assert "PYTHON=python2 is no Python 3.11 or newer" in done.stderr
