"""Children for queries off one process that has imported DuckDB: the import takes most of a query's time.

What is forked runs the same `main` as a child that is started from nothing, and ends after one answer too. Its exit
code stays unknown; the tests of limits and of processes start from nothing.
"""

import asyncio
import json
import os
import select
import signal
import socket
import subprocess
import sys
from dataclasses import asdict
from typing import Any

from typing_extensions import override

from tool_dispatcher.sql.limits import Limits
from tool_dispatcher.sql.processes import Processes


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
    """The children of queries, forked. A child is asked for by connecting; passed sockets were sometimes reset."""

    def __init__(self, limits: Limits) -> None:
        super().__init__(limits)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self._address = listener.getsockname()
            serving = f"serve({listener.fileno()}, {json.dumps(asdict(limits))!r})"
            self._server = subprocess.Popen(
                [sys.executable, "-c", f"from {__name__} import serve; {serving}"],
                stdin=subprocess.PIPE,
                pass_fds=[listener.fileno()],
            )

    async def close(self) -> None:
        await super().close()
        await asyncio.to_thread(self._server.communicate)

    @override
    async def _start_child(self) -> Any:
        child = ForkedChild(*await asyncio.open_connection(*self._address))
        self._living.add(child)  # type: ignore[arg-type]  # as much of a process as is used
        return child


def serve(descriptor: int, limits: str) -> None:
    """Fork a child for every connection, until standard input ends."""
    from tool_dispatcher.sql import child, database  # noqa: F401  # imported once

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # they are not waited for
    listener = socket.socket(fileno=descriptor)
    while True:
        ready, _, _ = select.select([sys.stdin, listener], [], [])
        if sys.stdin in ready:
            return
        connection, _ = listener.accept()
        if os.fork() == 0:
            for standard in (0, 1):
                os.dup2(connection.fileno(), standard)
            connection.close()
            listener.close()
            child.main(Limits(**json.loads(limits)))
        connection.close()
