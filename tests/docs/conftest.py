"""The wheel of this tree, and folders in which nothing of it lies."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the wheel of this tree."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    return next(folder.glob("*.whl"))


def environment(folder: Path, **more: str) -> dict[str, str]:
    """Return a new user's environment: no setting of ours, no path into the checkout."""
    ours = ("ANTIPHON", "ANTHROPIC", "OPENAI", "PYTHON", "VIRTUAL_ENV", "PYTEST")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return {**kept, "HOME": str(folder), "PIP_DISABLE_PIP_VERSION_CHECK": "1", **more}


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "stranger"
    folder.mkdir()
    yield folder
    shutil.rmtree(folder, ignore_errors=True)  # an environment is large
