"""Group commit: commands of many tasks, sent together."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from antiphon_shared.bus.batcher import PIPELINE_LENGTH_MAX, Batcher, OneLane
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.scripts import EXPIRING
from antiphon_shared.bus.wire import Command
from redis.exceptions import (
    ConnectionError,
    MovedError,
    NoScriptError,
    ReadOnlyError,
    RedisClusterException,
    ResponseError,
    TimeoutError,
)

from tests.bus.builders import eventually


class Wire:
    """Answers each command with its last word, once it is released; notes the batches."""

    def __init__(self) -> None:
        self.batches: list[list[Command]] = []
        self.go = asyncio.Event()
        self.error: Exception | None = None

    async def __call__(self, commands: Sequence[Command]) -> list[Any]:
        self.batches.append(list(commands))
        await self.go.wait()
        if self.error is not None:
            raise self.error
        return [ResponseError("no") if command[-1] == "bad" else command[-1] for command in commands]


async def test_commands_submitted_while_a_batch_is_in_flight_share_the_next() -> None:
    batcher = Batcher(wire := Wire())
    first = batcher.submit("GET", "a")
    await eventually(lambda: len(wire.batches) == 1)
    others = [batcher.submit("GET", str(n)) for n in range(PIPELINE_LENGTH_MAX + 1)]
    wire.go.set()
    assert await first == "a"
    assert await asyncio.gather(*others) == [str(n) for n in range(PIPELINE_LENGTH_MAX + 1)]
    assert [len(batch) for batch in wire.batches] == [1, PIPELINE_LENGTH_MAX, 1]


async def test_an_error_reaches_only_the_command_that_caused_it() -> None:
    batcher = Batcher(wire := Wire())
    wire.go.set()
    replies = await asyncio.gather(
        batcher.submit("GET", "a"),
        batcher.submit("GET", "bad"),
        batcher.submit("GET", "b"),
        return_exceptions=True,
    )
    assert (replies[0], replies[2]) == ("a", "b")
    assert isinstance(replies[1], ResponseError)


@pytest.mark.parametrize("error", [ConnectionError("cut"), OSError("cut"), RedisClusterException("no node")])
async def test_a_lost_connection_reaches_all_as_one_kind_of_error_and_the_next_batch_goes_out(
    error: Exception,
) -> None:
    batcher = Batcher(wire := Wire())
    wire.go.set()
    wire.error = error
    replies = await asyncio.gather(*(batcher.submit("GET", "a") for _ in range(3)), return_exceptions=True)
    assert [type(reply) for reply in replies] == [ConnectionError] * 3
    wire.error = None
    assert await batcher.submit("GET", "a") == "a"


async def test_a_cancelled_waiter_does_not_disturb_the_others() -> None:
    batcher = Batcher(wire := Wire())
    impatient, patient = asyncio.ensure_future(batcher.submit("GET", "a")), batcher.submit("GET", "b")
    await eventually(lambda: len(wire.batches) == 1)
    impatient.cancel()
    wire.go.set()
    assert await patient == "b"
    assert await batcher.submit("GET", "c") == "c"


@pytest.mark.parametrize("unsendable", ["\ud800", None, object(), ["a"]])
async def test_a_command_that_cannot_be_encoded_fails_by_itself(bus: Bus, unsendable: Any) -> None:
    replies = await asyncio.gather(
        bus.batcher.submit("SET", bus.keys.catalogue(), "a"),
        bus.batcher.submit("SET", bus.keys.catalogue_content("x"), unsendable),
        bus.batcher.submit("GET", bus.keys.catalogue()),
        return_exceptions=True,
    )
    assert replies[2] == b"a"
    assert isinstance(replies[1], Exception)
    assert await bus.batcher.submit("GET", bus.keys.catalogue()) == b"a"


@pytest.mark.parametrize(
    ("error", "interruptions"),
    [
        (ConnectionError("gone"), 1),
        (TimeoutError("late"), 1),
        (ReadOnlyError("a replica"), 1),
        (MovedError("1 host:1"), 1),
        (ResponseError("no"), 0),
    ],
    ids=lambda one: type(one).__name__,
)
async def test_errors_of_a_server_that_is_left_count_as_interruptions(
    error: Exception, interruptions: int
) -> None:
    wire = Wire()
    wire.error = error
    wire.go.set()
    batcher = Batcher(wire)
    with pytest.raises(type(error)):
        await batcher.submit("GET", "a")
    assert batcher.interruptions == interruptions


@pytest.mark.parametrize("error", [RedisClusterException("no server"), TypeError("no command")])
async def test_a_command_without_a_server_gets_the_reason(error: Exception) -> None:
    class Nowhere(OneLane):
        def lane_of(self, command: Command) -> str:
            raise error

    batcher = Batcher()
    batcher.open(Nowhere(Wire()))
    with pytest.raises(type(error)):
        await batcher.submit("GET", "a")


async def test_a_script_unknown_to_redis_is_sent_once_for_all_waiting_calls() -> None:
    """Each node of a cluster, and a restarted Redis, loads the script again."""
    known, batches = set[Any](), []

    async def redis(commands: Sequence[Command]) -> list[Any]:
        batches.append([command[0] for command in commands])
        replies = list[Any]()
        for name, script, *_, last in commands:
            if name == "EVALSHA" and script not in known:
                replies.append(NoScriptError("No matching script."))
            else:
                known.add(EXPIRING.sha)
                replies.append(last)
        return replies

    batcher = Batcher(redis)
    for _ in range(2):
        found = await asyncio.gather(*(batcher.run(EXPIRING, ["key"], [n]) for n in range(3)))
        assert found == [0, 1, 2]
        known.clear()
    asked = ["EVALSHA"] * 3
    assert batches == [asked, ["EVAL", "EVALSHA", "EVALSHA"]] * 2


async def test_an_urgent_script_is_sent_whole_once_and_again_after_an_interruption() -> None:
    batcher = Batcher(wire := Wire())
    wire.go.set()

    async def sent() -> Any:
        await batcher.run_at_once(EXPIRING, ["key"], [1, "SET", "content"])
        return wire.batches[-1][0][:2]

    whole, by_hash = ("EVAL", EXPIRING.text), ("EVALSHA", EXPIRING.sha)
    assert [await sent(), await sent()] == [whole, by_hash]
    wire.error = ConnectionError("torn")
    with pytest.raises(ConnectionError):
        await sent()
    wire.error = None
    assert [await sent(), await sent()] == [whole, by_hash]


def test_the_last_commands_of_an_event_loop_that_ends_are_sent() -> None:
    """All tasks are cancelled at once, the batcher's too, in any order; each may have a last command."""
    replies = []

    async def slow(commands: Sequence[Command]) -> list[Any]:
        await asyncio.sleep(0.01)
        return [command[-1] for command in commands]

    async def worker(batcher: Batcher) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            async with asyncio.timeout(5):
                replies.append(await batcher.submit("DEL", "heartbeat"))

    async def program() -> list[asyncio.Task[None]]:
        batcher = Batcher(slow)
        workers = [asyncio.create_task(worker(batcher)) for _ in range(20)]
        await asyncio.sleep(0)
        batcher.submit("GET", "a")
        await asyncio.sleep(0)
        return workers

    asyncio.run(program())
    assert replies == ["heartbeat"] * 20
