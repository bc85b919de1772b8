"""Folders of a user's own project never replace our packages, or the error names the folder."""

import subprocess
import sys
from pathlib import Path

import pytest

from antiphon.own_packages import shadowing_message
from tests.antiphon.conftest import ROOT, TOOLS, clean_environment

OWN_FOLDERS = ("shared", "coordinator", "reasoning_engine", "tool_dispatcher", "tests", "examples")
OWN_FILES = ("types", "redis", "structlog", "typer")
NOT_OURS = 'raise SystemExit("a module of the user\'s own was imported")\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a directory with packages and modules of the user's own, and a module of tools."""
    for name in OWN_FOLDERS:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(NOT_OURS)
    for name in OWN_FILES:
        (tmp_path / f"{name}.py").write_text(NOT_OURS)
    (tmp_path / "my_tools.py").write_text(TOOLS)
    return tmp_path


def command(project: Path, *arguments: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Run `antiphon` as the installed program is started: its own folder is first on the path, not this one."""
    program = [sys.executable, "-P", "-c", "from antiphon.cli import app; app()"]
    return subprocess.run(
        [*program, *arguments],
        cwd=project,
        env=clean_environment(**variables),
        capture_output=True,
        text=True,
        timeout=180,
    )


def test_the_command_line_works_in_a_directory_full_of_namesakes(project: Path) -> None:
    """And finds the tools there."""
    done = command(project, "ask", "Which recipes have lentils?", "--tools", "my_tools", "--model", "offline")
    assert done.returncode == 0, done.stderr
    assert "Lentil soup" in done.stdout


def test_a_component_is_run_in_a_directory_full_of_namesakes(project: Path) -> None:
    """It gets as far as its settings."""
    for name in ("coordinator", "tool_dispatcher"):
        done = command(project, "run", name, ANTIPHON_BUS_LEASE_S="soon")
        assert done.returncode == 2, done.stderr
        assert "ANTIPHON_BUS_LEASE_S" in done.stderr


def test_run_and_up_find_modules_of_the_current_directory_last(project: Path) -> None:
    """A module that cannot be imported ends the dispatcher, so that this needs no Redis."""
    (project / "my_tools.py").write_text("1 / 0")
    for arguments in (("run", "tool_dispatcher", "--tools", "my_tools"), ("ask", "?", "--tools", "my_tools")):
        done = command(project, *arguments)
        assert done.returncode == 2, done.stderr
        assert "my_tools.py:1: ZeroDivisionError: division by zero" in done.stderr


@pytest.mark.parametrize("arguments", [("up",), ("run", "response_assembler"), ("ask", "Why?")])
def test_a_package_that_shadows_a_component_is_named_before_anything_starts(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    shadow = tmp_path / "own" / "response_assembler"
    shadow.mkdir(parents=True)
    (shadow / "__init__.py").write_text(NOT_OURS)
    done = command(tmp_path, *arguments, PYTHONPATH=f"{tmp_path / 'own'}:{ROOT}")
    assert done.returncode == 2, done.stderr
    assert f"{shadow} would be imported in place of Antiphon's own package" in done.stderr
    assert "Rename it" in done.stderr


def test_a_script_next_to_a_folder_named_as_a_component_names_the_folder(tmp_path: Path) -> None:
    (tmp_path / "coordinator").mkdir()
    (tmp_path / "coordinator" / "__init__.py").touch()
    (tmp_path / "script.py").write_text("from antiphon import Antiphon\nAntiphon.embedded()\n")
    done = subprocess.run(
        [sys.executable, "script.py"], cwd=tmp_path, env=clean_environment(), capture_output=True, text=True
    )
    assert done.stderr.count("Traceback") == 1
    assert f"ConfigurationError: {tmp_path / 'coordinator'} would be imported in place of" in done.stderr


def test_a_scope_that_no_tool_asks_for_is_refused_with_those_that_exist(project: Path) -> None:
    done = command(project, "ask", "?", "--tools", "my_tools", "--scope", "raed", "--scope", "write")
    assert done.returncode == 2, done.stderr
    assert "no tool requires 'raed'. Did you mean read? There are: read, write." in done.stderr


def test_our_own_packages_are_not_reported_as_shadowed() -> None:
    assert [shadowing_message(name) for name in ("coordinator", "tool_dispatcher", "response_assembler")] == [
        None
    ] * 3
    assert shadowing_message("json") is not None


def test_the_version_is_printed() -> None:
    done = command(ROOT, "--version")
    assert done.returncode == 0
    assert done.stdout.startswith("antiphon")
