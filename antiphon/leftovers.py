"""What programs that were killed have left behind: the next one clears it away.

It is cleared only where it is certainly nobody's any more: when it is older than a day, of this user, and, of a
folder, when its name is of a process that is not there. That alone does not do: containers may share a folder, and no
processes.
"""

import os
import re
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from antiphon.recording.files import PART_BEGINS, PART_ENDS
from shared.clock import utc_now

_DAY_S = 86_400.0
_FOLDER = re.compile(r"antiphon-[a-z]+-(\d{1,10})-\w+")


def own_folder(what: str) -> str:
    """A new folder for this process, in that for temporary files; only this user may enter. Raises OSError."""
    return tempfile.mkdtemp(prefix=f"antiphon-{what}-{os.getpid()}-")


def clear_folders() -> None:
    """Delete folders of processes that were killed."""
    with suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            named = _FOLDER.fullmatch(entry.name)
            if (
                named
                and entry.is_dir(follow_symlinks=False)
                and _is_old(entry)
                and not _is_alive(int(named[1]))
            ):
                shutil.rmtree(entry.path, ignore_errors=True)


def clear_parts(folder: Path) -> None:
    """Delete files that were on their way into a folder when their process was killed."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            is_part = entry.name.startswith(PART_BEGINS) and entry.name.endswith(PART_ENDS)
            if is_part and entry.is_file(follow_symlinks=False) and _is_old(entry):
                with suppress(OSError):
                    os.unlink(entry.path)


def _is_old(entry: "os.DirEntry[str]") -> bool:
    try:
        stat = entry.stat(follow_symlinks=False)
    except OSError:
        return False
    return stat.st_uid == os.getuid() and stat.st_mtime < utc_now().timestamp() - _DAY_S


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
