"""The source of another release, taken from the history of this repository, and its processes."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.flows.processes import component_of
from tests.flows.starting import ROOT, Started

EARLIER_REF = "ANTIPHON_EARLIER_REF"
"""The environment variable that names another commit to be run beside this tree."""
LAST_OF_FORMAT = {1: "56c0a8b"}
"""The last commit that wrote each earlier format."""


def earlier_tree(folder: Path, ref: str = "") -> Path:
    """Put the source at `ref` into `folder`. Skips where the history is not there, as in a shallow clone."""
    ref = ref or os.environ.get(EARLIER_REF) or LAST_OF_FORMAT[max(LAST_OF_FORMAT)]
    git = shutil.which("git")
    if git is None:
        pytest.skip("git is not on PATH")
    if subprocess.run([git, "cat-file", "-e", f"{ref}^{{commit}}"], cwd=ROOT, capture_output=True).returncode:
        pytest.skip(f"the history does not hold {ref}: this is an archive, or a shallow clone")
    archive = subprocess.run([git, "archive", ref], cwd=ROOT, capture_output=True, check=True).stdout
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive, check=True)
    return folder


def import_path(tree: Path) -> str:
    """Return what PYTHONPATH has to be for a tree's own packages to be found, before those installed."""
    ground_floor = tree / "shared"
    is_packaged = (ground_floor / "antiphon_shared").is_dir()
    return os.pathsep.join(map(str, [tree, ground_floor] if is_packaged else [tree]))


def started_from(tree: Path, name: str, environment: dict[str, str], log: Path, tools: Path) -> Started:
    """Start a component of a tree; `tools` is the folder of its tools."""
    path = os.pathsep.join((import_path(tree), str(tools)))
    with log.open("ab") as file:
        return subprocess.Popen(
            [sys.executable, "-P", "-m", component_of(name)],
            env={**environment, "PYTHONPATH": path},
            stdout=file,
            stderr=file,
            cwd=tools,
        )
