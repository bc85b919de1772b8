"""The rejection of a session's submission, found by its id."""

from typing import Any

import pytest
from antiphon_shared.bus.connection import Connections
from antiphon_shared.bus.keys import Keys
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.process.settings import BusSettings

from antiphon.rejected import rejection_of
from tests.bus.test_intake import running_intake, submit, until_let_in
from tests.redis_server import RedisServer


async def test_a_rejection_is_found_after_many_others_and_an_unknown_session_has_none(
    redis_server: RedisServer, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bus = Bus(Connections(redis_server.url), Keys(namespace), BusSettings())
    await bus.open()
    try:
        async with running_intake(bus):
            for number in range(121):
                await submit(bus, {"query": "", "session_id": f"s{number}"})
            await submit(bus, {"query": "", "session_id": "x" * 1_000_000})
            await until_let_in(bus)
        rejection = await rejection_of(bus, "s0")
        assert rejection is not None
        assert rejection.session_id == "s0"
        sent: list[Any] = []
        submitted = bus.batcher.submit

        def submit_and_note(*command: Any) -> Any:
            sent.append(command[0])
            return submitted(*command)

        monkeypatch.setattr(bus.batcher, "submit", submit_and_note)
        assert await rejection_of(bus, "unknown") is None
        assert sent == ["EXISTS"]
    finally:
        await bus.close()
