"""The modules that an import finds. Imports nothing that a file of the current directory could shadow."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress


def current_directory_last() -> None:
    """Move the current directory to the end of the search path, so that a `redis.py` there shadows nothing."""
    with suppress(OSError):  # it may have been deleted
        directory = os.getcwd()
        sys.path[:] = [entry for entry in sys.path if entry not in ("", directory)] + [directory]


@contextmanager
def hidden(library: str) -> Iterator[None]:
    """Hide a library that another one imports only if it is installed. It can be imported after the block."""
    if library in sys.modules:
        yield
        return
    sys.modules[library] = None  # type: ignore[assignment]  # an import of it fails, as if it were not installed
    try:
        yield
    finally:
        del sys.modules[library]
