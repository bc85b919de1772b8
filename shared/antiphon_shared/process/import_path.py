"""Changes to the import path. This module imports only what the current directory cannot shadow."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress


def current_directory_last() -> None:
    """Move the current directory to the end of the search path, so that a `redis.py` there shadows nothing."""
    with suppress(OSError):  # the directory may have been deleted
        directory = os.getcwd()
        sys.path[:] = [entry for entry in sys.path if entry not in ("", directory)] + [directory]


@contextmanager
def hidden(library: str) -> Iterator[None]:
    """Hide a library within the block from libraries that import it if it is installed."""
    if library in sys.modules:
        yield
        return
    sys.modules[library] = None  # type: ignore[assignment]  # makes its import fail, as if it were not installed
    try:
        yield
    finally:
        del sys.modules[library]
