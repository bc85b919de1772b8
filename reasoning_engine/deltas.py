"""Text on its way to observers, gathered for a moment so that it travels in few pieces."""

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self

import structlog
from redis.exceptions import RedisError

PAUSE_S = 0.05


class Deltas:
    """Passes on what is added, in order, about every `pause_s`; the rest when the block ends.

    Deltas are a courtesy: text that Redis does not take is lost to observers, and to nobody else.
    """

    def __init__(self, stream_text: Callable[[str], Awaitable[None]], pause_s: float = PAUSE_S) -> None:
        self._stream_text = stream_text
        self._pause_s = pause_s
        self._gathered: list[str] = []
        self._timer: asyncio.TimerHandle | None = None
        self._passing_on: asyncio.Task[None] | None = None

    def add(self, text: str) -> None:
        self._gathered.append(text)
        if self._timer is None and self._passing_on is None:
            self._set_timer()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._gathered.clear()
        if self._passing_on is not None:
            await self._passing_on
        if self._timer is not None:
            self._timer.cancel()
        await self._pass_on_gathered()

    def _set_timer(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(self._pause_s, self._begin)

    def _begin(self) -> None:
        self._timer = None
        self._passing_on = asyncio.create_task(self._pass_on())

    async def _pass_on(self) -> None:
        await self._pass_on_gathered()
        self._passing_on = None
        if self._gathered:
            self._set_timer()

    async def _pass_on_gathered(self) -> None:
        text = "".join(self._gathered)
        self._gathered.clear()
        if not text:
            return
        try:
            await self._stream_text(text)
        except (RedisError, OSError) as error:
            structlog.get_logger().debug("text did not reach its observers", error=str(error))
