"""A stored cancellation of a query that is not open yet."""

from antiphon_shared.bus.connection import Connections
from antiphon_shared.bus.early_cancellations import keep_cancellation
from antiphon_shared.bus.keys import Keys
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import CancellationRequested
from antiphon_shared.process.settings import BusSettings

from tests.envelopes import an_event
from tests.redis_server import RedisServer


async def test_an_early_cancellation_outlives_the_short_retention_of_its_client(
    redis_server: RedisServer, namespace: str
) -> None:
    bus = Bus(Connections(redis_server.url), Keys(namespace), BusSettings(retention_s=1))
    await bus.open()
    try:
        await keep_cancellation(bus, an_event(CancellationRequested(), "s1"))
        left_ms = await bus.batcher.submit("PTTL", bus.keys.early_cancellation("s1"))
        assert left_ms > 86_400_000
    finally:
        await bus.close()
