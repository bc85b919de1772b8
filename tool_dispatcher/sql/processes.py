"""Child processes for queries: one is started ahead, each answers one query, and all are killed and reaped."""

import asyncio
import json
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from dataclasses import asdict

from tool_dispatcher.sql.limits import Limits

_ANSWER_BYTES_MORE = 100_000
"""The size of an answer beyond its rows."""
_START = (
    "import json, sys; limits, sys.path[:] = map(json.loads, sys.argv[1:]);"
    "from tool_dispatcher.sql.limits import Limits; from tool_dispatcher.sql.child import main;"
    "main(Limits(**limits))"
)


class NoAnswer(Exception):
    """A child has ended without an answer; `code` is its exit code, negative for a signal."""

    def __init__(self, code: int) -> None:
        super().__init__(f"the child process ended with code {code}")
        self.code = code


class Processes:
    """The child processes. Each query starts the child for the next one, as importing DuckDB takes 0.2 s."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._ready: list[asyncio.Task[Process]] = []
        """The starts of children without a query; such a task is never cancelled."""
        self._living: set[Process] = set()
        self._is_closed = False

    async def ask(self, request: bytes) -> bytes:
        """Return the answer to a request. Raises NoAnswer and OSError. The child is killed and reaped in any case."""
        child = await self._take()
        try:
            return await self._exchange(child, request)
        finally:
            await self._end(child)

    async def close(self) -> None:
        """Kill and reap every child."""
        self._is_closed = True
        await asyncio.gather(*self._ready, return_exceptions=True)
        for child in tuple(self._living):
            await self._end(child)

    async def _take(self) -> Process:
        """Return a child for exclusive use, and start the next. Raises OSError."""
        while True:
            starting = self._ready.pop() if self._ready else asyncio.create_task(self._start_child())
            try:
                await asyncio.wait((starting,))
            except asyncio.CancelledError:
                self._ready.append(starting)
                raise
            child = starting.result()
            if child.returncode is None:
                break
            self._living.discard(child)  # it was killed in the meantime
        if not self._ready and not self._is_closed:
            self._ready.append(asyncio.create_task(self._start_child()))
        return child

    async def _start_child(self) -> Process:
        # The child gets the modules of this process, no environment, and no signals from the terminal.
        child = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-I", "-S", "-c", _START, json.dumps(asdict(self._limits)), json.dumps(_module_paths())),
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            env={"MALLOC_ARENA_MAX": "1"},
            cwd="/",
            start_new_session=True,
        )
        self._living.add(child)
        return child

    async def _exchange(self, child: Process, request: bytes) -> bytes:
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            child.stdin.write(len(request).to_bytes(8, "big") + request)
            await child.stdin.drain()
        except ConnectionError:
            raise NoAnswer(await child.wait()) from None
        try:
            length = int.from_bytes(await child.stdout.readexactly(8), "big")
            if length > self._limits.bytes_max + _ANSWER_BYTES_MORE:
                raise NoAnswer(0)
            return await child.stdout.readexactly(length)
        except asyncio.IncompleteReadError:
            raise NoAnswer(await child.wait()) from None

    async def _end(self, child: Process) -> None:
        if child.returncode is None:
            child.kill()
        await child.wait()
        self._living.discard(child)


def _module_paths() -> list[str]:
    """Return the absolute module search path, as the child has another working directory."""
    return [os.path.abspath(entry) for entry in sys.path]
