"""The data of a session that is written outside any commit."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest
from antiphon_shared.bus.batcher import Batcher
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.scripts import EXPIRING
from antiphon_shared.bus.sessions import RedisSession
from antiphon_shared.bus.wire import Command
from antiphon_shared.events import encode
from antiphon_shared.process.ids import new_id
from redis.exceptions import ConnectionError

from tests.bus.builders import a_query

RETENTION_S = 60.0


def that_tears(bus: Bus) -> Batcher:
    """Return a batcher whose connection is lost after the first command of each pipeline."""

    async def exchange(commands: Sequence[Command]) -> list[Any]:
        await bus.batcher.submit(*commands[0])
        raise ConnectionError("torn")

    return Batcher(exchange)


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("journal:1", lambda session: session.note("journal:1", "call", b"done")),
        ("deltas", lambda session: session.stream_text("So it")),
        ("result:1", lambda session: session.store("result:1", b"whole")),
    ],
)
async def test_a_key_written_over_a_torn_connection_still_expires(
    bus: Bus, name: str, write: Callable[[RedisSession], Awaitable[Any]]
) -> None:
    key = bus.keys.of_session("s1", name)
    await bus.batcher.run(EXPIRING, [key + "x"], [1, "SET", "seen by Redis"])
    with pytest.raises(ConnectionError):
        await write(RedisSession(that_tears(bus), bus.keys, "s1", RETENTION_S))
    assert 0 < await bus.batcher.submit("PTTL", key) <= RETENTION_S * 1000


async def test_the_first_of_two_notes_under_one_name_counts(bus: Bus) -> None:
    session = bus.session("s1")
    assert await session.note("journal:1", "call", b"first")
    assert not await session.note("journal:1", "call", b"second")
    assert await session.settled("journal:1") == {"call": b"first"}


async def test_an_event_is_found_by_its_id_among_many_later_ones(bus: Bus) -> None:
    session, log = bus.session("s1"), bus.keys.log("s1")
    sought = a_query()
    await bus.batcher.submit("XADD", log, "*", "event", encode(sought))
    names_it = encode(a_query().model_copy(update={"causationid": sought.id}))
    await asyncio.gather(*(bus.batcher.submit("XADD", log, "*", "event", names_it) for _ in range(3_000)))
    found = await session.logged(sought.id)
    assert found is not None
    assert found[1].id == sought.id
    assert await session.logged(new_id()) is None


@pytest.mark.parametrize("more_s", [0.0, 1_000.0])
async def test_a_document_is_kept_for_the_retention_plus_the_requested_extra_time(
    bus: Bus, more_s: float
) -> None:
    await bus.session("s1").store("result:1", b"whole", more_s)
    left_ms = await bus.batcher.submit("PTTL", bus.keys.of_session("s1", "result:1"))
    most_ms = (bus.settings.retention_s + more_s) * 1000
    assert most_ms - 60_000 < left_ms <= most_ms
