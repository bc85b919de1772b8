"""The cache keys of a session's reads, by its noted writes."""

from antiphon_shared.bus.redis_bus import Bus

from tests.fakes import FakeSession
from tool_dispatcher.running.cache import OwnWrites


async def test_a_session_without_writes_uses_the_shared_cache(bus: Bus) -> None:
    assert await OwnWrites(bus.session("s1")).cache_name() == ""


async def test_caching_pauses_during_a_write_and_uses_another_name_after_each(
    bus: Bus,
) -> None:
    own = OwnWrites(bus.session("s1"))
    names = []
    for key in ("a", "b"):
        await own.begin(key, 1)
        assert await own.cache_name() is None
        await own.end(key, 1)
        names.append(await own.cache_name())
    assert names == ["s1#1", "s1#2"]


async def test_one_write_in_flight_of_many_pauses_caching(bus: Bus) -> None:
    own = OwnWrites(bus.session("s1"))
    for n in range(20):
        await own.begin(f"k{n}", 1)
    for n in range(19):
        await own.end(f"k{n}", 1)
        assert await own.cache_name() is None
    await own.end("k19", 1)
    assert await own.cache_name() == "s1#20"


async def test_a_repeated_note_counts_once(bus: Bus) -> None:
    own = OwnWrites(bus.session("s1"))
    for _ in range(2):
        await own.begin("a", 1)
        await own.end("a", 1)
    assert await own.cache_name() == "s1#1"


async def test_nothing_is_cached_after_an_end_noted_by_a_dispatcher_of_an_earlier_release(
    bus: Bus,
) -> None:
    own = OwnWrites(bus.session("s1"))
    await own.begin("a", 1)
    await bus.session("s1").note("journal:writes", "ended:a#1", b"1")
    assert await own.cache_name() is None


async def test_the_cache_name_is_found_from_counts_alone() -> None:
    class Counting(FakeSession):
        async def settled(self, journal: str) -> dict[str, bytes]:
            raise AssertionError("only counts are read")

    own = OwnWrites(Counting())
    await own.begin("a", 1)
    await own.end("a", 1)
    assert await own.cache_name() == "s1#1"
