"""Group commit: commands of many tasks, sent together.

While one pipeline is in flight, new commands wait for the next. A single command is not delayed; under load, the
tasks of a pipeline share the cost of a round trip. Each node of a cluster has its own pipeline, so that a node
that does not reply delays only its own commands.
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
    ResponseError,
    TimeoutError,
)

from antiphon_shared.bus.scripts import Script
from antiphon_shared.bus.wire import Argument, Command, Exchange

PIPELINE_LENGTH_MAX = 256
"""The maximum number of commands in a pipeline, as each waits for the replies to the others."""

_REDIRECTIONS_MAX = 5
_INTERRUPTED = (ConnectionError, TimeoutError, ReadOnlyError, MovedError)
_UNSENDABLE = (DataError, TypeError, UnicodeEncodeError)
"""Exceptions while a command is packed, before it is sent."""


class Route(Protocol):
    """A route of commands to Redis. A lane is one server; its commands share a pipeline."""

    def lane_of(self, command: Command) -> str:
        """Return the lane of a command. Raises RedisError when no known server accepts it."""
        ...

    def exchange(self, lane: str, commands: Sequence[Command]) -> Awaitable[list[Any]]:
        """Return for each command its reply or error. Raises when no reply arrived."""
        ...

    async def follow(self, error: Exception) -> tuple[str | None, bool] | None:
        """Return the lane to which an error redirects a command, and whether to send ASKING first.

        Without a redirection, return None.
        """
        ...


class OneLane:
    """The route to a single server."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange

    def lane_of(self, command: Command) -> str:
        return ""

    def exchange(self, lane: str, commands: Sequence[Command]) -> Awaitable[list[Any]]:
        return self._exchange(commands)

    async def follow(self, error: Exception) -> None:
        return None


class _Waiting(NamedTuple):
    command: Command
    reply: asyncio.Future[Any]
    redirections: int = 0
    script: Script | None = None
    """The script that the command runs by its hash; its text is sent to a Redis that does not know the hash."""

    def with_script(self) -> "_Waiting":
        """Return the command with the text of its script; later commands of the lane can use the hash again."""
        assert self.script is not None
        return self._replace(command=("EVAL", self.script.text, *self.command[2:]), script=None)


class Batcher:
    """A sender of commands in batches. Each reply or error goes to the submitter of its command."""

    def __init__(self, exchange: Exchange | None = None) -> None:
        self._route: Route = OneLane(exchange or _closed)
        self._lanes: defaultdict[str, deque[_Waiting]] = defaultdict(deque)
        self._flushing: dict[str, asyncio.Task[None]] = {}
        self._texts_sent: dict[str, int] = {}
        """The value of `interruptions` when the text of a script was last sent, by the hash of the script."""
        self.interruptions = 0
        """The number of missing replies and redirections; after each, another server may reply."""

    def open(self, route: Route) -> None:
        """Send all further commands by that route."""
        self._route = route

    def submit(self, *command: Argument) -> asyncio.Future[Any]:
        """Submit a command and return its future reply. Commands of one turn of the event loop share a round trip."""
        reply: asyncio.Future[Any] = asyncio.Future()
        self._put(_Waiting(command, reply))
        return reply

    def run(self, script: Script, keys: list[str], arguments: list[Argument]) -> Awaitable[Any]:
        """Run a script and return its future result."""
        reply: asyncio.Future[Any] = asyncio.Future()
        command = ("EVALSHA", script.sha, len(keys), *keys, *arguments)
        self._put(_Waiting(command, reply, script=script))
        return reply

    def run_at_once(self, script: Script, keys: list[str], arguments: list[Argument]) -> Awaitable[Any]:
        """Run a script like `run`, but always before commands that are submitted later.

        `run` sends the script again, after later commands, if the server does not know it. Here its text is sent the
        first time.
        """
        if self._texts_sent.get(script.sha) == self.interruptions:
            return self.run(script, keys, arguments)
        self._texts_sent[script.sha] = self.interruptions
        return self.submit("EVAL", script.text, len(keys), *keys, *arguments)

    def _put(self, waiting: _Waiting, lane: str | None = None) -> None:
        try:
            lane = self._route.lane_of(waiting.command) if lane is None else lane
        except (RedisError, *_UNSENDABLE) as error:
            _set_error(waiting.reply, error)
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
            # Some are left if this task was cancelled, as the event loop ends: other tasks send their last commands.
            for one in waiting:
                self._put(one, lane)

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
        except Exception as error:  # noqa: BLE001  # any error belongs to the tasks that wait for the replies
            replies = [error] * len(batch)
        resent: set[str] = set()
        for waiting, result in zip(batch, replies, strict=True):
            if not isinstance(result, Exception):
                if not waiting.reply.done():
                    waiting.reply.set_result(result)
                continue
            if isinstance(result, _INTERRUPTED):
                self.interruptions += 1
            if waiting.reply.done():
                continue
            if isinstance(result, NoScriptError) and waiting.script is not None:
                self._put(waiting if waiting.script.sha in resent else waiting.with_script())
                resent.add(waiting.script.sha)
            elif not await self._redirected(waiting, result):
                _set_error(waiting.reply, _naming_key(result, waiting.command))

    async def _redirected(self, waiting: _Waiting, error: Exception) -> bool:
        """Send the command to another server if the error redirects it; return whether it was redirected."""
        if waiting.redirections == _REDIRECTIONS_MAX:
            return False
        followed = await self._route.follow(error)
        if followed is None:
            return False
        lane, is_asking = followed
        if is_asking:
            # On the same connection, right before the command; its reply is ignored.
            self._put(_Waiting(("ASKING",), asyncio.Future(), _REDIRECTIONS_MAX), lane)
        self._put(waiting._replace(redirections=waiting.redirections + 1), lane)
        return True


def _naming_key(error: Exception, command: Command) -> Exception:
    """Return the error with the key of the command if the key has a wrong type; any other error as it is."""
    is_about_key = isinstance(error, ResponseError) and str(error).startswith("WRONGTYPE")
    if not is_about_key or str(command[0]).startswith("EVAL"):
        return error
    return ResponseError(f"{str(error).rstrip('.')} ({' '.join(map(str, command[:2]))})")


def _set_error(reply: asyncio.Future[Any], error: Exception) -> None:
    if not reply.done():
        reply.set_exception(error)
        reply.exception()  # marks it as retrieved, as asyncio warns of errors that no task has awaited


async def _closed(commands: Sequence[Command]) -> list[Any]:
    raise ConnectionError("the bus is not open yet")
