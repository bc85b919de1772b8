"""The other version of the code: a git ref of this repository, or a released version."""

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
_REASON_LINES_MAX = 5
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
    """Return the code at a git ref, or, if the ref does not exist, the released version of that name.

    Raises ConfigurationError if git, the ref or the version is missing, or cannot be installed.
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
    folder = cached_folder("releases", f"{version}-{interpreter}", partial(_install, version))
    packages = next(folder.glob("lib/python*/site-packages"), folder)
    return OtherCode(name, f"antiphon {version}", packages, str(folder / "bin" / "python"))


def _install(version: str, folder: Path) -> None:
    python, requirement = str(folder / "bin" / "python"), f"antiphon=={version}"
    if uv := shutil.which("uv"):
        _run(version, [uv, "venv", "--quiet", "--allow-existing", "--python", sys.executable, str(folder)])
        _run(version, [uv, "pip", "install", "--quiet", "--python", python, requirement])
    else:
        _run(version, [sys.executable, "-m", "venv", "--without-pip", str(folder)])
        pip = [sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check"]
        _run(version, [*pip, "install", "--quiet", requirement])


def _run(version: str, command: list[str]) -> None:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_INSTALL_LIMIT_S, check=False, errors="replace"
        )
        if done.returncode == 0:
            return
        reason = (
            " ".join(done.stderr.split("\n")[-_REASON_LINES_MAX:]).strip() or f"exit code {done.returncode}"
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        reason = str(error)
    raise ConfigurationError(
        f"{version} is not a git ref, and antiphon {version} cannot be installed: {reason}",
        hint="Name a ref of this repository, or a published version.",
    )


CACHED_MAX = 8
"""The number of folders of each kind; the oldest are deleted when another one is made."""
_IN_USE_S = 24 * 3600
"""A folder requested within this time may be in use by another process."""


def cached_folder(kind: str, name: str, make: Callable[[Path], object]) -> Path:
    """Return the cached folder `name`; if it does not exist, `make` fills it, atomically.

    Raises the errors of `make`, and ConfigurationError if the cache cannot be written.
    """
    try:
        parent = _folder() / kind
        parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder = parent / name
        if folder.is_dir():
            os.utime(folder)
            return folder
        part = Path(tempfile.mkdtemp(prefix=".", dir=parent))
    except (OSError, RuntimeError) as error:
        raise ConfigurationError(
            f"The cache cannot be written: {error}.", hint="Set XDG_CACHE_HOME to a writable folder."
        ) from None
    try:
        make(part)
        with contextlib.suppress(OSError):  # another process was quicker
            part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    _delete_oldest(parent, folder)
    return folder


def _folder() -> Path:
    configured = load_environment("XDG_CACHE_HOME")
    base = Path(configured) if configured and Path(configured).is_absolute() else Path.home() / ".cache"
    return base / "antiphon"


def _delete_oldest(parent: Path, newest: Path) -> None:
    now_s = utc_now().timestamp()
    aged = sorted(((now_s - one.stat().st_mtime, one) for one in parent.iterdir()), key=lambda pair: pair[0])
    for age_s, one in aged[CACHED_MAX:]:
        if age_s > _IN_USE_S and one != newest:
            shutil.rmtree(one, ignore_errors=True)
