"""The source of an earlier release, and its processes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from antiphon.replay.against.trees import NotInHistory, extract, import_path
from tests.flows.processes import component_of
from tests.flows.starting import Started

EARLIER_REF = "ANTIPHON_EARLIER_REF"
"""The environment variable that names another commit to run next to this tree."""
LAST_OF_FORMAT = {1: "56c0a8b", 2: "4dfe47e", 3: "fca46c4", 4: "a906ccf", 5: "af87664"}
"""The last commit that wrote each earlier format."""


def earlier_tree(folder: Path) -> Path:
    """Put the source of the earlier release into `folder`. Skips where the history is not there."""
    ref = os.environ.get(EARLIER_REF) or LAST_OF_FORMAT[max(LAST_OF_FORMAT)]
    try:
        extract(ref, folder)
    except NotInHistory as error:
        pytest.skip(str(error))
    return folder


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
