"""A thousand simulated sessions, with all their faults, as recordings: imported, exported and decided again."""

import asyncio

import pytest
from antiphon_shared.bus.connection import Connections
from antiphon_shared.bus.keys import Keys
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.process.settings import BusSettings

from antiphon.recording.import_session import import_session
from antiphon.recording.lines import Line, decode_line, encode_line
from antiphon.recording.session_lines import session_lines
from antiphon.replay.verify import verify_lines
from tests.redis_server import RedisServer
from tests.simulation.recorded import lines_of
from tests.simulation.shrink import Case

SEEDS = range(40_000, 40_100)
SESSIONS = 1_000


@pytest.mark.long
def test_a_thousand_imported_sessions_are_exported_unchanged_and_verify(
    redis_server: RedisServer, namespace: str
) -> None:
    count = 0
    for seed in SEEDS:
        world = Case(seed).world()
        recordings = [lines_of(world.bus, session_id) for session_id in world.bus.logs]
        count += len(recordings)
        back = asyncio.run(there_and_back(redis_server.url, f"{namespace}-{seed}", recordings))
        for lines, again in zip(recordings, back, strict=True):
            report = verify_lines(map(decode_line, again))
            # A step whose worker was killed has left no record, and is unchecked.
            assert report.result != "diverged", (seed, report.session_id, report.first)
            assert again == [encode_line(line) for line in lines], (seed, report.session_id)
    assert count >= SESSIONS, "a world has ten sessions"


async def there_and_back(url: str, namespace: str, recordings: list[list[Line]]) -> list[list[bytes]]:
    """Import recordings into Redis and export them again."""
    bus = Bus(Connections(url), Keys(namespace, partitions=3), BusSettings())
    await bus.open()

    async def one(lines: list[Line]) -> list[bytes]:
        session_id = await import_session(bus, lines)
        read = session_lines(session_id, bus)
        return [encode_line(line) async for line in read]

    try:
        return await asyncio.gather(*map(one, recordings))
    finally:
        await bus.close()
