"""The module search path. Imports nothing that a file of the current directory could shadow."""

import os
import sys
from contextlib import suppress


def current_directory_last() -> None:
    """Move the current directory to the end of the search path, so that a `redis.py` there shadows nothing."""
    with suppress(OSError):  # it may have been deleted
        directory = os.getcwd()
        sys.path[:] = [entry for entry in sys.path if entry not in ("", directory)] + [directory]
