"""The source of this repository at another commit, beside this one."""

import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]


class NotInHistory(Exception):
    """The commit asked for is not there, as in an archive of the source or a shallow clone."""


def extract(ref: str, folder: Path) -> str:
    """Put the source at `ref` into `folder`; returns the commit's whole name. Raises NotInHistory."""
    git = shutil.which("git")
    if git is None:
        raise NotInHistory("git is not on PATH")
    command = [git, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if found.returncode:
        raise NotInHistory(f"the history here does not hold {ref}: it is an archive, or a shallow clone")
    commit = found.stdout.strip()
    archive = subprocess.run([git, "archive", commit], cwd=ROOT, capture_output=True, check=True).stdout
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive, check=True)
    return commit


def import_path(tree: Path) -> str:
    """Return what PYTHONPATH has to be for a tree's own packages to be found, before those installed."""
    ground_floor = tree / "shared"
    is_packaged = (ground_floor / "antiphon_shared").is_dir()
    return os.pathsep.join(map(str, [tree, ground_floor] if is_packaged else [tree]))
