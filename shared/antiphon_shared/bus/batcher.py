"""Group commit: commands of many tasks, sent together.

While one pipeline is on its way, the commands that arrive wait for the next. One at a time this costs
nothing; under load it divides the cost of a round trip by the number of tasks that share it. Each node of a
cluster has a pipeline of its own, so that one that does not answer holds up nobody else.
"""

import asyncio
from collections import defaultdict, deque
from collections.abc import Awaitable, Sequence
from typing import Any, NamedTuple, Protocol

from redis.exceptions import (
    ConnectionError,
    DataError,
    MovedError,
    NoScriptError,
    ReadOnlyError,
    RedisClusterException,
    RedisError,
    TimeoutError,
)

from antiphon_shared.bus.scripts import Script
from antiphon_shared.bus.wire import Argument, Command, Exchange

PIPELINE_LENGTH_MAX = 256
"""Commands sent together at most, so that no reply waits for too many others."""

_REDIRECTIONS_MAX = 5
_INTERRUPTED = (ConnectionError, TimeoutError, ReadOnlyError, MovedError)
_UNSENDABLE = (DataError, TypeError, UnicodeEncodeError)
"""What packing a command raises, before anything is sent."""


class Route(Protocol):
    """Where commands go. A lane is a server that they share a pipeline to."""

    def lane_of(self, command: Command) -> str:
        """Raises RedisError when no server is known that takes it."""
        ...

    async def exchange(self, lane: str, commands: Sequence[Command]) -> list[Any]:
        """A reply, or the error it was answered with, for each command. Raises when none came."""
        ...

    async def follow(self, error: Exception) -> tuple[str | None, bool] | None:
        """Of an answer that sends a command to another server: its lane if it is named, and whether to ask first.

        None for any other answer.
        """
        ...


class OneLane:
    """The route to a single server."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange

    def lane_of(self, command: Command) -> str:
        return ""

    async def exchange(self, lane: str, commands: Sequence[Command]) -> list[Any]:
        return await self._exchange(commands)

    async def follow(self, error: Exception) -> None:
        return None


class _Waiting(NamedTuple):
    command: Command
    reply: asyncio.Future[Any]
    redirections: int = 0
    script: Script | None = None
    """What the command runs by its hash, to be sent whole to a Redis that has not seen it."""


class Batcher:
    """Sends commands together. Each reply, or error, goes to whoever submitted the command."""

    def __init__(self, exchange: Exchange | None = None) -> None:
        self._route: Route = OneLane(exchange or _closed)
        self._lanes: defaultdict[str, deque[_Waiting]] = defaultdict(deque)
        self._flushing: dict[str, asyncio.Task[None]] = {}
        self.interruptions = 0
        """How often no reply came, or one that points to another server: since then another may answer."""

    def open(self, route: Route) -> None:
        """From now on, send commands that way."""
        self._route = route

    def submit(self, *command: Argument) -> asyncio.Future[Any]:
        """The reply to be. What is submitted before the event loop turns shares one round trip."""
        reply: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._put(_Waiting(command, reply))
        return reply

    def run(self, script: Script, keys: list[str], arguments: list[Argument]) -> Awaitable[Any]:
        """The result of a script to be, whether or not Redis has seen it before."""
        reply: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        command = ("EVALSHA", script.sha, len(keys), *keys, *arguments)
        self._put(_Waiting(command, reply, script=script))
        return reply

    def _put(self, waiting: _Waiting, lane: str | None = None) -> None:
        try:
            lane = self._route.lane_of(waiting.command) if lane is None else lane
        except (RedisError, *_UNSENDABLE) as error:
            _answer(waiting.reply, error)
            return
        self._lanes[lane].append(waiting)
        if lane not in self._flushing:
            self._flushing[lane] = asyncio.create_task(self._flush(lane))

    async def _flush(self, lane: str) -> None:
        waiting = self._lanes[lane]
        try:
            while waiting:
                batch = [waiting.popleft() for _ in range(min(len(waiting), PIPELINE_LENGTH_MAX))]
                await self._send(lane, batch)
        finally:
            del self._flushing[lane], self._lanes[lane]

    async def _send(self, lane: str, batch: list[_Waiting]) -> None:
        try:
            replies = await self._route.exchange(lane, [waiting.command for waiting in batch])
        except _UNSENDABLE as error:
            if len(batch) > 1:
                for one in batch:
                    await self._send(lane, [one])
                return
            replies = [error]
        except (RedisClusterException, OSError) as error:
            replies = [ConnectionError(str(error))] * len(batch)
        except Exception as error:  # noqa: BLE001  # whatever it is belongs to those who wait for the replies
            replies = [error] * len(batch)
        for waiting, result in zip(batch, replies, strict=True):
            if isinstance(result, _INTERRUPTED):
                self.interruptions += 1
            if waiting.reply.done():
                continue
            if not isinstance(result, Exception):
                waiting.reply.set_result(result)
            elif isinstance(result, NoScriptError) and waiting.script is not None:
                command = ("EVAL", waiting.script.text, *waiting.command[2:])
                self._put(waiting._replace(command=command, script=None))
            elif not await self._redirected(waiting, result):
                _answer(waiting.reply, result)

    async def _redirected(self, waiting: _Waiting, error: Exception) -> bool:
        """Whether the command goes to another server: then it was not run where it has been."""
        if waiting.redirections == _REDIRECTIONS_MAX:
            return False
        followed = await self._route.follow(error)
        if followed is None:
            return False
        lane, is_asking = followed
        if is_asking:
            # On the same connection, right before the command; nobody waits for its answer.
            self._put(
                _Waiting(("ASKING",), asyncio.get_running_loop().create_future(), _REDIRECTIONS_MAX), lane
            )
        self._put(waiting._replace(redirections=waiting.redirections + 1), lane)
        return True


def _answer(reply: asyncio.Future[Any], error: Exception) -> None:
    if not reply.done():
        reply.set_exception(error)
        reply.exception()  # seen: a sender that does not wait has chosen not to know


async def _closed(commands: Sequence[Command]) -> list[Any]:
    raise ConnectionError("the bus is not open yet")
