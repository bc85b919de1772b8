"""Child processes that end when this process ends, even by kill -9.

A small shell leads a process group of its own, and reads from a pipe whose other end only this process holds. When
the process ends in any way, the kernel closes the pipe, and the shell ends its group, with SIGTERM first. The
children need no code for this, and it works on every system with a POSIX shell. Linux's PR_SET_PDEATHSIG would need
no shell, but macOS lacks it, it fires when the *thread* that forked ends, and it needs code between fork and exec.

Ctrl-C reaches only this process, as the group is not that of the terminal; this process then ends the children.
"""

import asyncio
import contextlib
from asyncio.subprocess import Process
from collections.abc import Mapping
from typing import IO, Any

GRACE_S = 10
_SHELL = f"trap '' TERM INT HUP; read -r _; kill -TERM 0; sleep {GRACE_S}; kill -KILL 0"


class ChildProcesses:
    """The children of this process, which end at most ten seconds after it."""

    def __init__(self) -> None:
        self._shell: Process | None = None
        self._starting = asyncio.Lock()

    async def start(
        self,
        *command: str,
        output: int | IO[Any] | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Process:
        """Start a child that ends with this process. Raises OSError.

        `output` is its stdout and stderr; `environment` defaults to that of this process.
        """
        async with self._starting:
            if self._shell is None or self._shell.returncode is not None:
                self._shell = await asyncio.create_subprocess_exec(
                    *("/bin/sh", "-c", _SHELL),
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.DEVNULL,  # otherwise the shell would keep the caller's pipes open
                    stderr=asyncio.subprocess.DEVNULL,
                    process_group=0,
                )
        return await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=environment,
            process_group=self._shell.pid,
        )

    async def release(self) -> None:
        """End the shell, after the children have ended."""
        if self._shell is not None:
            with contextlib.suppress(ProcessLookupError):
                self._shell.kill()
            await self._shell.wait()
            self._shell = None


async def terminate(process: Process, grace_s: float) -> None:
    """Send SIGTERM, and after `grace_s` SIGKILL; return when the process is gone."""
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
    try:
        await asyncio.wait_for(process.wait(), grace_s)
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
