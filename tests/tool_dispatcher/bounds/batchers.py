"""Connections to Redis that count commands, or fail."""

import asyncio
from typing import Any

from antiphon_shared.bus.batcher import Batcher
from antiphon_shared.bus.scripts import Script
from antiphon_shared.bus.wire import Argument
from redis.exceptions import ConnectionError


class Counting(Batcher):
    """Sends all on, and notes how many arguments each script was given."""

    def __init__(self, batcher: Batcher) -> None:
        self.asked: list[int] = []
        self._batcher = batcher

    def submit(self, *command: Argument) -> asyncio.Future[Any]:
        return self._batcher.submit(*command)

    async def run(self, script: Script, keys: list[str], arguments: list[Argument]) -> Any:
        self.asked.append(len(arguments))
        return await self._batcher.run(script, keys, arguments)


class Failing(Counting):
    """Answers scripts with an error while it is away; Redis may have run them, and only the reply be lost."""

    def __init__(
        self,
        batcher: Batcher,
        *,
        error: Exception | None = None,
        loses_replies: bool = False,
        times: int = 1_000_000,
    ) -> None:
        super().__init__(batcher)
        self.times = times
        self._error = error or ConnectionError("gone")
        self._loses_replies = loses_replies

    async def run(self, script: Script, keys: list[str], arguments: list[Argument]) -> Any:
        is_away, self.times = self.times > 0, self.times - 1
        self.asked.append(len(arguments))
        if is_away and not self._loses_replies:
            raise self._error
        reply = await self._batcher.run(script, keys, arguments)
        if is_away:
            raise self._error
        return reply
