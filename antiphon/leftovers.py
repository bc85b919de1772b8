"""What programs that were killed have left behind: the next one clears it away.

It is cleared only where it is certainly nobody's any more: when it is older than a day, of this user, and holds a lock
file of ours that nobody has locked. Neither names nor numbers of processes would do: others name folders as they
like, and containers may share a folder, and not their processes.
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
"""As tempfile names them."""


class OwnFolder:
    """A new folder among those for temporary files, ours until it is deleted; only this user may enter."""

    def __init__(self, what: str) -> None:
        """Raises OSError."""
        self.path = Path(tempfile.mkdtemp(prefix=f"antiphon-{what}-"))
        self._lock = os.open(self.path / LOCK, os.O_CREAT | os.O_RDWR, 0o600)
        with suppress(OSError):  # without locks on that disk it is nobody's to clear
            fcntl.flock(self._lock, fcntl.LOCK_EX)

    def delete(self) -> None:
        """The folder and all in it."""
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
    """Delete files that were on their way into a folder when their process was killed."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if _PART.fullmatch(entry.name) and entry.is_file(follow_symlinks=False) and _is_old(entry):
                with suppress(OSError):
                    os.unlink(entry.path)


@contextmanager
def _locked(file: Path) -> Iterator[None]:
    """Raises OSError when it is not there, or another has locked it."""
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
