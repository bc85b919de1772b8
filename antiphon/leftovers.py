"""Temporary folders and files of killed processes, which a later process deletes.

They are deleted only if they are certainly abandoned: older than a day, owned by this user, and with a lock file of
ours that is not locked. A name is no proof, as other programs may use it; nor is a process id, as containers may
share a folder but not their processes.
"""

import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from antiphon_shared.process.clock import utc_now

from antiphon.recording.files import PART_BEGINS, PART_ENDS

LOCK = "antiphon.lock"
_DAY_S = 86_400.0
_FOLDER = re.compile(r"antiphon-[a-z]+-[a-z0-9_]{8}")
_PART = re.compile(rf"{re.escape(PART_BEGINS)}[a-z0-9_]{{8}}{re.escape(PART_ENDS)}")
"""The names that `tempfile` gives."""


class OwnFolder:
    """A new folder in the system's temporary folder, held until it is deleted; only this user may enter."""

    def __init__(self, what: str) -> None:
        """Create the folder. Raises OSError."""
        self.path = Path(tempfile.mkdtemp(prefix=f"antiphon-{what}-"))
        self._lock = os.open(self.path / LOCK, os.O_CREAT | os.O_RDWR, 0o600)
        with suppress(OSError):  # without locks on the disk, no other process deletes the folder
            fcntl.flock(self._lock, fcntl.LOCK_EX)

    def delete(self) -> None:
        """Delete the folder and everything in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def clear_folders() -> None:
    """Delete folders of processes that were killed."""
    with suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            if _FOLDER.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False) and _is_old(entry):
                with suppress(OSError), _locked(Path(entry.path, LOCK)):
                    shutil.rmtree(entry.path, ignore_errors=True)


def clear_parts(folder: Path) -> None:
    """Delete unfinished files in a folder whose process was killed."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if _PART.fullmatch(entry.name) and entry.is_file(follow_symlinks=False) and _is_old(entry):
                with suppress(OSError):
                    os.unlink(entry.path)


@contextmanager
def _locked(file: Path) -> Iterator[None]:
    """Hold the lock of a file. Raises OSError when it does not exist, or another process has locked it."""
    lock = os.open(file, os.O_RDWR | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(lock)


def _is_old(entry: "os.DirEntry[str]") -> bool:
    try:
        stat = entry.stat(follow_symlinks=False)
    except OSError:
        return False
    return stat.st_uid == os.getuid() and stat.st_mtime < utc_now().timestamp() - _DAY_S
