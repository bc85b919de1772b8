"""Redis loses acknowledged commits, and the model, asked again, draws other ids: the same write has the same key."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.process.settings import BusSettings

from tests.bus.builders import a_bus
from tests.redis_server import RedisServer
from tests.tool_dispatcher.builders import Dispatcher
from tests.tool_dispatcher.repeating import Effects, Rounds, asks


class Snapshot:
    """All of a deployment's keys as they were."""

    def __init__(self, namespace: str, bus: Bus) -> None:
        self._pattern, self._client = f"{namespace}:*", bus.client
        self._kept: dict[bytes, bytes] = {}

    async def take(self) -> None:
        self._kept = {key: await self._client.execute_command("DUMP", key) for key in await self._keys()}

    async def put_back(self) -> None:
        """Restore the state of a replica that was behind when it was promoted."""
        for key in await self._keys():
            await self._client.execute_command("DEL", key)
        for key, content in self._kept.items():
            await self._client.execute_command("RESTORE", key, 0, content)

    async def _keys(self) -> list[bytes]:
        found: list[bytes] = await self._client.execute_command("KEYS", self._pattern)
        return found


@asynccontextmanager
async def a_session(
    redis: RedisServer, namespace: str, *tools: Any
) -> AsyncIterator[tuple[Rounds, Snapshot]]:
    async with a_bus(redis.url, namespace, BusSettings()) as bus:
        yield Rounds(Dispatcher(list(tools), bus)), Snapshot(namespace, bus)


A = {"to": "a"}


@pytest.mark.parametrize("round", [1, 3])
async def test_a_write_whose_record_is_lost_as_well_has_the_same_key(
    redis_server: RedisServer, namespace: str, round: int
) -> None:
    effects = Effects()
    tool = effects.tool("pay", idempotent=True)
    async with a_session(redis_server, namespace, tool) as (session, snapshot):
        await snapshot.take()
        await session.run(asks("toolu_1", "pay", A))
        await snapshot.put_back()
        session.round = round
        (again,) = await session.run(asks("toolu_2", "pay", A))
        assert again.repeated is None, "nothing is left that could answer it"
        (first, second) = effects.runs
        assert first == second


async def test_deliberate_repetitions_and_relative_calls_keep_their_keys(
    redis_server: RedisServer, namespace: str
) -> None:
    effects = Effects()
    tools = effects.tool("pay", idempotent=True), effects.tool("press", idempotent=True, repeat="run")
    async with a_session(redis_server, namespace, *tools) as (session, snapshot):
        await session.run(asks("toolu_1", "pay", A), asks("toolu_2", "press"))
        await snapshot.take()
        await session.run(asks("toolu_3", "pay", A, repeat_of="toolu_1"), asks("toolu_4", "press"))
        lost = effects.runs[2:]
        await snapshot.put_back()
        await session.run(asks("toolu_5", "pay", A, repeat_of="toolu_1"), asks("toolu_6", "press"))
        assert effects.runs[4:] == lost


async def test_a_write_lost_after_its_claim_is_reconciled_under_its_key(
    redis_server: RedisServer, namespace: str
) -> None:
    effects = Effects()
    async with a_session(redis_server, namespace, effects.reconciled("pay")) as (session, snapshot):
        await snapshot.take()
        await session.run(asks("toolu_1", "pay", A))
        await snapshot.put_back()
        session.round = 0
        await session.run(asks("toolu_2", "pay", A))
        assert len({key for _, key in effects.runs}) == 1
