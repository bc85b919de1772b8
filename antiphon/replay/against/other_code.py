"""The code that today's is compared with: a git ref of this repository, or a released version."""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from antiphon_shared.process.clock import utc_now
from antiphon_shared.process.environment import load_environment
from antiphon_shared.process.errors import ConfigurationError

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
    """Its PYTHONPATH; empty if it is installed for that interpreter."""
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
    tree = cached_folder("sources", commit, partial(extract, commit))
    return OtherCode(name, f"{name} ({commit[:7]})", tree, sys.executable, import_path(tree), commit)


def _released(name: str, version: str) -> OtherCode:
    """Return the release, installed in its own environment with its dependencies."""
    interpreter = f"python{sys.version_info.major}.{sys.version_info.minor}"
    place = cached_folder("releases", f"{version}-{interpreter}", partial(_install, version))
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


KEPT_MAX = 8
"""The limit for each kind; older entries are deleted when one more is made."""
_IN_USE_S = 24 * 3600
"""An entry requested within this time may be in use by another process."""


def cached_folder(kind: str, name: str, make: Callable[[Path], object]) -> Path:
    """Return the folder `name`, which `make` fills where it is not kept yet: whole, or not at all.

    Raises what `make` raises, and ConfigurationError when nothing can be kept.
    """
    try:
        shelf = _folder() / kind
        shelf.mkdir(parents=True, exist_ok=True, mode=0o700)
        place = shelf / name
        if place.is_dir():
            os.utime(place)
            return place
        part = Path(tempfile.mkdtemp(prefix=".", dir=shelf))
    except (OSError, RuntimeError) as error:
        raise ConfigurationError(
            f"The cache cannot be written: {error}.", hint="Set XDG_CACHE_HOME to a writable folder."
        ) from None
    try:
        make(part)
        with contextlib.suppress(OSError):  # another process was quicker
            part.rename(place)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    _forget_oldest(shelf, place)
    return place


def _folder() -> Path:
    given = load_environment("XDG_CACHE_HOME")
    base = Path(given) if given and Path(given).is_absolute() else Path.home() / ".cache"
    return base / "antiphon"


def _forget_oldest(shelf: Path, newest: Path) -> None:
    now_s = utc_now().timestamp()
    aged = sorted(((now_s - one.stat().st_mtime, one) for one in shelf.iterdir()), key=lambda pair: pair[0])
    for age_s, one in aged[KEPT_MAX:]:
        if age_s > _IN_USE_S and one != newest:
            shutil.rmtree(one, ignore_errors=True)
