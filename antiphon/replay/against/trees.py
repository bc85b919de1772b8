"""The source of this program at another commit of its git repository."""

import os
import shutil
import subprocess
import tarfile
from io import BytesIO
from pathlib import Path

from antiphon_shared.process.errors import ConfigurationError

ROOT = Path(__file__).resolve().parents[3]
"""The folder of today's packages: the working tree, or the installation."""


class NotInHistory(ConfigurationError):
    """The commit is missing, as in an installed program, an archive of the source or a shallow clone."""

    code = "not_in_history"


def extract(ref: str, folder: Path) -> str:
    """Extract the source at `ref` into `folder`; return the commit's full hash. Raises NotInHistory."""
    commit = commit_of(ref)
    archive = _git("archive", "--format=tar", commit)
    if archive.returncode:
        raise NotInHistory(f"git cannot read the source at {ref}: {_last_line(archive.stderr)}")
    with tarfile.open(fileobj=BytesIO(archive.stdout)) as files:
        files.extractall(folder, filter="data")
    return commit


def commit_of(ref: str) -> str:
    """Return the full hash of the commit that `ref` names. Raises NotInHistory, which says what is missing."""
    tracked = _git("ls-files", "--error-unmatch", "antiphon/__init__.py")
    if tracked.returncode:
        raise NotInHistory(
            f"The running code, in {ROOT}, is not in a git repository.",
            hint="Run it from a git working tree, or name a released version.",
        )
    commit = _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    if commit.returncode:
        is_shallow = _git("rev-parse", "--is-shallow-repository").stdout.strip() == b"true"
        raise NotInHistory(
            f"The git history in {ROOT} does not contain {ref}.",
            hint="It is a shallow clone: run `git fetch --unshallow`."
            if is_shallow
            else "Name a commit, a branch, a tag, or a released version.",
        )
    return commit.stdout.decode().strip()


def import_path(tree: Path) -> str:
    """Return the PYTHONPATH with which a tree's own packages are found before the installed ones."""
    ground_floor = tree / "shared"
    is_packaged = (ground_floor / "antiphon_shared").is_dir()
    return os.pathsep.join(map(str, [tree, ground_floor] if is_packaged else [tree]))


def _git(*arguments: str) -> "subprocess.CompletedProcess[bytes]":
    git = shutil.which("git")
    if git is None:
        raise NotInHistory("git is not on PATH.", hint="Install it, or name a released version.")
    return subprocess.run([git, *arguments], cwd=ROOT, capture_output=True, check=False)


def _last_line(output: bytes) -> str:
    return (output.decode(errors="replace").strip() or "no reason given").splitlines()[-1]
