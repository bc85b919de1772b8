"""A bound on the memory that a tool under check may take."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def bounded_memory(more_bytes: int) -> Iterator[None]:
    """Limit this process to `more_bytes` more address space; a tool that needs more gets a MemoryError.

    Only Linux is supported; on other systems there is no limit.
    """
    try:
        import resource  # Windows has no such module

        pages = int(Path("/proc/self/statm").read_text().split()[0])
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    except (ImportError, OSError):
        yield
        return
    most = pages * os.sysconf("SC_PAGE_SIZE") + more_bytes
    limits = [limit for limit in (most, soft, hard) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min(limits), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
