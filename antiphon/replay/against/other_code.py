"""The code that today's is compared with: a git ref of this repository, or a released version."""

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from antiphon_shared.process.errors import ConfigurationError

from antiphon.replay.against.cache import kept
from antiphon.replay.against.trees import NotInHistory, commit_of, extract, import_path

_VERSION = re.compile(r"v?(\d+(?:\.\d+){0,4}(?:(?:a|b|rc)\d+)?(?:\.post\d+)?(?:\.dev\d+)?)")
_INSTALL_LIMIT_S = 600.0
_SAID_LINES_MAX = 5
"""The number of lines quoted from a failed installer."""


@dataclass(frozen=True, slots=True)
class OtherCode:
    """A version of the code that can run next to today's."""

    name: str
    """The name that the user gave."""
    label: str
    """The name as shown: `main (1a2b3c4)`, `antiphon 0.1.0`."""
    root: Path
    """The folder of its packages."""
    python: str
    """Its interpreter."""
    import_path: str = ""
    """Its PYTHONPATH; empty where it is installed for that interpreter."""
    commit: str = ""


def other_code(name: str) -> OtherCode:
    """Return the code at a git ref; where there is no such ref, the released version of that name.

    Raises ConfigurationError, which says what is missing: git, the ref, the version, or its installation.
    """
    version = _VERSION.fullmatch(name)
    try:
        commit = commit_of(name)
    except NotInHistory:
        if version is None:
            raise
        return _released(name, version[1])
    tree = kept("sources", commit, partial(extract, commit))
    return OtherCode(name, f"{name} ({commit[:7]})", tree, sys.executable, import_path(tree), commit)


def _released(name: str, version: str) -> OtherCode:
    """Return the release, installed in an environment of its own with its dependencies."""
    interpreter = f"python{sys.version_info.major}.{sys.version_info.minor}"
    place = kept("releases", f"{version}-{interpreter}", partial(_install, version))
    packages = next(place.glob("lib/python*/site-packages"), place)
    return OtherCode(name, f"antiphon {version}", packages, str(place / "bin" / "python"))


def _install(version: str, place: Path) -> None:
    python, wanted = str(place / "bin" / "python"), f"antiphon=={version}"
    if uv := shutil.which("uv"):
        _run(version, [uv, "venv", "--quiet", "--allow-existing", "--python", sys.executable, str(place)])
        _run(version, [uv, "pip", "install", "--quiet", "--python", python, wanted])
    else:
        _run(version, [sys.executable, "-m", "venv", "--without-pip", str(place)])
        pip = [sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check"]
        _run(version, [*pip, "install", "--quiet", wanted])


def _run(version: str, command: list[str]) -> None:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_INSTALL_LIMIT_S, check=False, errors="replace"
        )
        if done.returncode == 0:
            return
        said = " ".join(done.stderr.split("\n")[-_SAID_LINES_MAX:]).strip() or f"exit code {done.returncode}"
    except (OSError, subprocess.TimeoutExpired) as error:
        said = str(error)
    raise ConfigurationError(
        f"{version} is not a git ref, and antiphon {version} cannot be installed: {said}",
        hint="Name a ref of this repository, or a published version.",
    )
