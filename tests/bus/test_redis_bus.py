"""The data that sessions share on the bus, and that a new process finds there."""

import pytest
from antiphon_shared.bus import redis_bus
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import CancellationRequested
from antiphon_shared.tools.calls import Catalogue, ToolDefinition

from tests.bus.builders import a_query
from tests.envelopes import an_event

HOUR_S = 3_600.0


def a_catalogue(n: int) -> Catalogue:
    tool = ToolDefinition(
        name=f"tool_{n}", description="Does it.", input_schema={"type": "object"}, effect="read"
    )
    return Catalogue(tools=(tool,))


@pytest.mark.parametrize(
    ("retention_s", "shared_s"), [(60, 2 * HOUR_S), (HOUR_S, 2 * HOUR_S), (HOUR_S + 1, 2 * HOUR_S + 2)]
)
async def test_content_shared_by_sessions_outlives_each_of_them(
    bus: Bus, retention_s: float, shared_s: float
) -> None:
    bus.settings = bus.settings.model_copy(update={"retention_s": retention_s})
    assert bus.shared_retention_s == shared_s
    hash = await bus.keep_content(b"shared")
    left_ms = await bus.batcher.submit("PTTL", bus.keys.content(hash))
    assert shared_s - 60 < left_ms / 1000 <= shared_s


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the monotonic clock of the bus, in its one element."""
    now_s = [1_000.0]
    monkeypatch.setattr(redis_bus, "monotonic_s", lambda: now_s[0])
    return now_s


async def test_a_content_is_written_again_only_after_a_quarter_of_its_time(
    bus: Bus, clock: list[float]
) -> None:
    hash = await bus.keep_content(b"shared")
    quarter_s = bus.shared_retention_s / 4
    for passed_s, is_written in ((quarter_s - 1, False), (1.0, True), (quarter_s - 1, False)):
        clock[0] += passed_s
        await bus.batcher.submit("DEL", bus.keys.content(hash))
        assert await bus.keep_content(b"shared") == hash
        assert (await bus.content(hash) == b"shared") is is_written


async def test_a_process_caches_a_bounded_number_of_contents_and_redis_keeps_all(
    bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_bus, "_CONTENTS_CACHED_MAX", 3)
    hashes = [await bus.keep_content(b"%d" % n) for n in range(5)]
    assert len(bus._contents_due) <= 3
    assert [await bus.content(hash) for hash in hashes] == [b"%d" % n for n in range(5)]


async def test_a_missing_content_is_none(bus: Bus) -> None:
    assert await bus.content("0" * 32) is None


async def test_the_newest_catalogue_is_current_and_earlier_ones_remain(bus: Bus) -> None:
    assert await bus.current_catalogue() is None
    first, second = [await bus.publish_catalogue(a_catalogue(n)) for n in (1, 2)]
    assert first != second
    assert await bus.current_catalogue() == second
    assert (await bus.catalogue(first)).tools == a_catalogue(1).tools
    assert (await bus.catalogue("0" * 32)).tools == ()
    for hash in (first, second):
        left_ms = await bus.batcher.submit("PTTL", bus.keys.catalogue_content(hash))
        assert bus.shared_retention_s - 60 < left_ms / 1000 <= bus.shared_retention_s


async def test_catalogues_are_remembered_so_many_at_a_time_and_read_again_after_that(
    bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_bus, "_CATALOGUES_CACHED_MAX", 2)
    hashes = [await bus.publish_catalogue(a_catalogue(n)) for n in range(4)]
    for _ in range(2):
        for n, hash in enumerate(hashes):
            assert (await bus.catalogue(hash)).tools == a_catalogue(n).tools
            assert len(bus._catalogues) <= 2


async def test_an_existing_group_is_kept_and_a_key_of_another_type_is_an_error(bus: Bus) -> None:
    stream = bus.keys.inbox(0, "coordinator")
    for _ in range(2):
        await bus.ensure_groups([(stream, "one"), (stream, "two")])
    assert len(await bus.batcher.submit("XINFO", "GROUPS", stream)) == 2
    await bus.batcher.submit("DEL", stream)
    await bus.batcher.submit("SET", stream, "a string")
    with pytest.raises(Exception, match="WRONGTYPE"):
        await bus.ensure_groups([(stream, "one")])


async def test_a_session_begins_with_its_query_and_receives_nothing_before(bus: Bus) -> None:
    assert await bus.first_event("s1") is None
    assert await bus.query_of("s1") is None
    assert await bus.publish(an_event(CancellationRequested(), "s1"), "signal") == "unknown"
    query = a_query()
    assert await bus.publish(query, "open") == "sent"
    assert await bus.publish(query, "open") == "known"
    assert await bus.publish(an_event(CancellationRequested(), "s1"), "signal") == "sent"
    first = await bus.first_event("s1")
    assert first is not None
    assert (first.id, first.data) == (query.id, query.data)
    assert (await bus.query_of("s1")) == first
