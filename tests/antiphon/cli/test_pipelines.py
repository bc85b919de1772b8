"""The end of a command's session after Ctrl-C."""

import asyncio
import signal

import pytest

from antiphon.cli import pipelines
from antiphon.client import Antiphon


async def test_a_second_ctrl_c_ends_the_wait_as_soon_as_the_notice_is_printed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Terminal:
        def print(self, text: str) -> None:
            assert signal.getsignal(signal.SIGINT) is not before
            signal.raise_signal(signal.SIGINT)

    class Client(Antiphon):
        async def cancel(self, session_id: str, reason: str = "") -> bool:
            await asyncio.sleep(1)
            raise AssertionError("it waits although Ctrl-C was pressed again")

    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(pipelines, "stderr", Terminal)
    try:
        assert await pipelines.cancelled(Client(), "s1", "why", "Press Ctrl-C again to exit.") is None
    finally:
        signal.signal(signal.SIGINT, before)
