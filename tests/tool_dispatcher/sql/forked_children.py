"""Children for queries off one process that has imported DuckDB: the import takes most of a query's time.

What is forked runs the same `main` as a child that is started from nothing, and ends after one answer too. Its exit
code stays unknown; the tests of limits and of processes start from nothing.
"""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from dataclasses import asdict
from typing import Any

from typing_extensions import override

from tool_dispatcher.sql.limits import Limits
from tool_dispatcher.sql.processes import Processes

_SPARE_BYTES = 2_000
"""The additional bytes of a request for a child: its limits."""


class ForkedChild:
    """One child, as `Processes` knows it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.stdout, self.stdin = reader, writer
        self.returncode: int | None = None

    def kill(self) -> None:
        self.stdin.close()  # it ends with its parent

    async def wait(self) -> int:
        self.stdin.close()
        self.returncode = 0
        return 0


class ForkingProcesses(Processes):
    """The children of queries, forked."""

    def __init__(self, limits: Limits) -> None:
        super().__init__(limits)
        self._asking, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [sys.executable, "-c", f"from {__name__} import serve; serve({theirs.fileno()})"]
        self._server = subprocess.Popen(command, pass_fds=[theirs.fileno()])
        theirs.close()

    async def close(self) -> None:
        await super().close()
        self._asking.close()
        await asyncio.to_thread(self._server.wait)

    @override
    async def _start_child(self) -> Any:
        ours, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(self._asking, [json.dumps(asdict(self._limits)).encode()], [theirs.fileno()])
        child = ForkedChild(*await asyncio.open_connection(sock=ours))
        self._living.add(child)  # type: ignore[arg-type]  # as much of a process as is used
        return child


def serve(descriptor: int) -> None:
    """Fork a child for every message, which brings its limits and its socket, until the parent ends."""
    from tool_dispatcher.sql import child, database  # noqa: F401  # imported once

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # they are not waited for
    asked = socket.socket(fileno=descriptor)
    while True:
        message, descriptors, *_ = socket.recv_fds(asked, _SPARE_BYTES, 1)
        if not message:
            return
        if os.fork() == 0:
            for standard in (0, 1):
                os.dup2(descriptors[0], standard)
            os.close(descriptors[0])
            asked.close()
            child.main(Limits(**json.loads(message)))
        os.close(descriptors[0])
