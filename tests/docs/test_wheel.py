"""The content of the wheel, and that `pip install` of it is enough for a new user."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.docs.conftest import ROOT, environment

PACKAGES = {
    "antiphon", "antiphon_shared", "coordinator", "reasoning_engine", "tool_dispatcher", "context_synthesizer",
    "response_assembler",
}  # fmt: skip  # a list


def test_the_wheel_holds_our_packages_and_no_other_at_its_top(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == PACKAGES
    assert {f"{package}/py.typed" for package in PACKAGES} <= set(names)


def test_the_wheel_holds_every_file_that_our_packages_read(wheel: Path) -> None:
    """Scripts in Lua, the word vectors with the licences of their sources, and the data of the examples."""
    names = {Path(name).name for name in zipfile.ZipFile(wheel).namelist()}
    for folder in (*PACKAGES - {"antiphon_shared"}, "shared", "examples"):
        files = (path for kind in ("*.lua", "*.md", "*.py", "*.z") for path in (ROOT / folder).rglob(kind))
        assert {path.name for path in files if path.name != "examples.py"} <= names
    assert {"word_vectors.z", "word_vectors.licences.md"} <= names


def test_the_examples_are_within_the_wheel(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert "antiphon/examples/courses/tools.py" in names
    assert "antiphon/examples.py" not in names, "it represents the folder of a checkout"


@pytest.mark.long
def test_pip_installs_it_with_all_that_it_needs(wheel: Path, folder: Path) -> None:
    """For real, from the registry or pip's cache: the one test that needs either."""
    home = str(Path.home())  # where pip's cache is
    subprocess.run([sys.executable, "-m", "venv", folder / "new"], check=True)
    bin = folder / "new" / "bin"
    pip: list[str | Path] = [
        bin / "pip",
        "install",
        "--quiet",
        "--no-compile",
        "-c",
        ROOT / "constraints.txt",
        f"{wheel}[embedded]",
    ]
    subprocess.run(pip, cwd=folder, env=environment(folder, HOME=home), check=True, timeout=600)
    answer = subprocess.run(
        [
            bin / "antiphon",
            "ask",
            "Which course discusses idempotency keys?",
            "--tools",
            "antiphon.examples.courses",
        ],
        cwd=folder,
        env=environment(folder, PATH=f"{bin}:{Path(shutil.which('sh') or '/bin/sh').parent}"),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert answer.returncode == 0, answer.stderr
    assert "Idempotency Keys for Safe Requests" in answer.stdout
