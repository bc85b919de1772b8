"""A cache for results that are slow to make and never change: source trees and installed releases."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from antiphon_shared.process.clock import utc_now
from antiphon_shared.process.environment import load_environment
from antiphon_shared.process.errors import ConfigurationError

KEPT_MAX = 8
"""The limit for each kind; older entries are deleted when one more is made."""
_IN_USE_S = 24 * 3600
"""An entry requested within this time may be in use by another process."""


def kept(kind: str, name: str, make: Callable[[Path], object]) -> Path:
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
