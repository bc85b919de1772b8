"""A private Redis of one process: a redis-server, or fakeredis. Both keep all data in memory only."""

import asyncio
import shutil
from asyncio.subprocess import DEVNULL, Process
from importlib.util import find_spec
from typing import Protocol

from antiphon_shared.bus.connection import Connections
from antiphon_shared.process.errors import ConfigurationError, RedisUnavailable

from antiphon.child_processes import ChildProcesses, terminate
from antiphon.leftovers import OwnFolder, clear_folders

_START_LIMIT_S = 15.0
_STOP_LIMIT_S = 3.0


class PrivateRedis(Protocol):
    """A Redis for the bus of an embedded pipeline."""

    description: str

    async def start(self) -> Connections: ...

    async def stop(self) -> None: ...


def choose() -> PrivateRedis:
    """Return a redis-server if one is on PATH, else fakeredis. Raises ConfigurationError if both are missing."""
    if program := shutil.which("redis-server"):
        return RedisServer(program)
    if find_spec("fakeredis") and find_spec("lupa"):
        return FakeRedis()
    raise ConfigurationError(
        "An embedded pipeline needs Redis, but redis-server is not on PATH and fakeredis is not installed.",
        hint='Install redis-server, run pip install "antiphon[embedded]", or set ANTIPHON_REDIS_URL.',
    )


class RedisServer:
    """A redis-server without persistence, on a socket in a private folder; it ends with this process."""

    description = "a private redis-server that ends with this process and keeps nothing"

    def __init__(self, program: str) -> None:
        self._program = program
        self._children = ChildProcesses()
        self._process: Process | None = None
        self._folder: OwnFolder | None = None

    async def start(self) -> Connections:
        """Start the server; return when it listens. Raises RedisUnavailable."""
        await asyncio.to_thread(clear_folders)
        self._folder = OwnFolder("redis")
        folder = self._folder.path
        socket = folder / "redis.sock"
        self._process = await self._children.start(
            *(self._program, "--port", "0", "--unixsocket", str(socket), "--unixsocketperm", "700"),
            *("--save", "", "--appendonly", "no", "--maxmemory-policy", "noeviction", "--dir", str(folder)),
            output=DEVNULL,
        )
        try:
            async with asyncio.timeout(_START_LIMIT_S):
                while not await asyncio.to_thread(socket.exists):
                    if self._process.returncode is not None:
                        raise RedisUnavailable(
                            f"redis-server exited immediately with code {self._process.returncode}.",
                            hint=f"Run `{self._program}` to see its error.",
                        )
                    await asyncio.sleep(0.005)
        except TimeoutError:
            raise RedisUnavailable("redis-server did not start in time.") from None
        return Connections(f"unix://{socket}")

    async def stop(self) -> None:
        if self._process is not None:
            await terminate(self._process, _STOP_LIMIT_S)
        await self._children.release()
        if self._folder is not None:
            self._folder.delete()
            self._folder = None


class FakeRedis:
    """fakeredis, which runs the same commands and scripts in the memory of this process."""

    description = "fakeredis inside this process (no redis-server on PATH), which keeps nothing"

    async def start(self) -> Connections:
        import fakeredis  # an extra; imported only when it is needed

        server = fakeredis.FakeServer()
        return Connections.to_fake(
            fakeredis.FakeAsyncRedis(server=server, protocol=3, legacy_responses=False)
        )

    async def stop(self) -> None:
        """Do nothing, as its memory belongs to this process."""
