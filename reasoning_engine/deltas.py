"""Text deltas for observers, collected for a moment so that they travel in few messages."""

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self

import structlog

PAUSE_S = 0.05


class Deltas:
    """A buffer that sends the added text in order, about every `pause_s`, and the rest when the block ends.

    Sending is not awaited: the last piece travels together with the reply itself. Deltas are best effort:
    text that Redis does not accept is lost to observers only.
    """

    def __init__(self, stream_text: Callable[[str], Awaitable[None]], pause_s: float = PAUSE_S) -> None:
        self._stream_text = stream_text
        self._pause_s = pause_s
        self._gathered: list[str] = []
        self._timer: asyncio.TimerHandle | None = None

    def add(self, text: str) -> None:
        self._gathered.append(text)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._pause_s, self._send)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if error is None:
            self._send()

    def _send(self) -> None:
        self._timer = None
        text = "".join(self._gathered)
        self._gathered.clear()
        if text:
            asyncio.ensure_future(self._stream_text(text)).add_done_callback(_log_failure)


def _log_failure(arrival: asyncio.Future[None]) -> None:
    if not arrival.cancelled() and (error := arrival.exception()) is not None:
        structlog.get_logger().debug("text_deltas_not_sent", error=str(error))
