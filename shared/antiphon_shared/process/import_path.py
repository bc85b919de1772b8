"""Where Python looks for modules. Imports nothing that a file of the current directory could stand in the way of."""

import os
import sys
from contextlib import suppress


def current_directory_last() -> None:
    """Have modules of the current directory found, after all others: a `redis.py` there shadows nothing."""
    with suppress(OSError):  # it may have been deleted
        directory = os.getcwd()
        sys.path[:] = [entry for entry in sys.path if entry not in ("", directory)] + [directory]
