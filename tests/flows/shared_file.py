"""A file that tools of several processes write to."""

import os


def append_line(file: str, line: str) -> None:
    """Append a line in one call with O_APPEND: the lines of many processes stay whole and in order."""
    descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        os.write(descriptor, f"{line}\n".encode())
    finally:
        os.close(descriptor)
