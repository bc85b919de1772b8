"""New sessions are opened in the newest format that every worker reads."""

import asyncio

import orjson
import pytest
from antiphon_shared.bus import intake, live_format
from antiphon_shared.bus.live_format import FORGET_MS, format_of
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import encode
from antiphon_shared.formats import FORMAT
from antiphon_shared.process import health
from antiphon_shared.process.clock import utc_now
from antiphon_shared.process.errors import ConfigurationError

from tests.bus.builders import a_query, entries, eventually
from tests.bus.test_intake import running_intake, submit, until_let_in

NOW_MS = 1_795_244_309_110
EARLIER = b'{"host":"h","pid":1,"started":"2026-11-22T12:00:00Z","in_hand":0}'


@pytest.fixture(autouse=True)
def _always_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_format, "_FRESH_FOR_S", 0.0)


async def beat_once(bus: Bus) -> None:
    beating = asyncio.create_task(health.beat(bus, "reasoning_engine", "ours", utc_now(), lambda: 0))
    await eventually(lambda: is_received(bus))
    beating.cancel()


async def is_received(bus: Bus) -> bool:
    return bool(await health.workers(bus, "reasoning_engine"))


async def an_earlier_worker(bus: Bus) -> None:
    seconds, _ = await bus.batcher.submit("TIME")
    line = f"{int(seconds) * 1000} ".encode() + EARLIER
    await bus.batcher.submit("HSET", bus.keys.workers("tool_dispatcher"), "theirs", line)


async def test_without_a_worker_the_current_release_decides_the_format(bus: Bus) -> None:
    assert await bus.formats.of_new_session() == FORMAT


async def test_a_worker_of_an_earlier_release_keeps_new_sessions_in_its_format(bus: Bus) -> None:
    await beat_once(bus)
    assert await bus.formats.now() == FORMAT
    await an_earlier_worker(bus)
    assert await bus.formats.of_new_session() == 1
    await health.sign_off(bus, "tool_dispatcher", "theirs")
    assert await bus.formats.of_new_session() == FORMAT


async def test_the_newest_format_of_a_session_is_kept(bus: Bus) -> None:
    await an_earlier_worker(bus)
    await bus.formats.of_new_session()
    assert await bus.batcher.submit("GET", bus.keys.format()) is None
    await health.sign_off(bus, "tool_dispatcher", "theirs")
    await bus.formats.of_new_session()
    assert await bus.batcher.submit("GET", bus.keys.format()) == b"%d" % FORMAT


async def test_the_format_is_stored_also_when_it_was_just_read(
    bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_format, "_FRESH_FOR_S", 60.0)
    await bus.formats.now()
    await bus.formats.of_new_session()
    assert await bus.batcher.submit("GET", bus.keys.format()) == b"%d" % FORMAT


async def test_a_query_that_an_earlier_worker_could_not_read_is_rejected_by_its_option(
    bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "needed_format", lambda _: (FORMAT, "options.unheard_of"))
    await an_earlier_worker(bus)
    async with running_intake(bus):
        await submit(bus, {"query": "Why?"})
        await until_let_in(bus)
    ((_, fields),) = await entries(bus, bus.keys.rejected())
    assert fields[b"reason"].startswith(b"options.unheard_of: needs format %d" % FORMAT)


async def test_a_query_is_admitted_with_the_format_of_its_session(bus: Bus) -> None:
    """Independent of the format that its client named."""
    event = a_query("s1").model_copy(update={"format": FORMAT})
    async with running_intake(bus):
        await an_earlier_worker(bus)
        await submit(bus, {"event": encode(event)})
        await until_let_in(bus)
        await health.sign_off(bus, "tool_dispatcher", "theirs")
        await submit(bus, {"query": "Why?", "session_id": "s2"})
        await until_let_in(bus)
    assert [(await bus.session(id).log())[0][1].format for id in ("s1", "s2")] == [1, FORMAT]


async def test_a_kept_format_is_never_lowered(bus: Bus) -> None:
    await bus.batcher.submit("SET", bus.keys.format(), FORMAT + 1)
    await bus.formats.of_new_session()
    assert await bus.batcher.submit("GET", bus.keys.format()) == b"%d" % (FORMAT + 1)


async def test_a_deployment_of_a_later_release_is_refused(bus: Bus) -> None:
    await bus.formats.check()
    await bus.batcher.submit("SET", bus.keys.format(), FORMAT)
    await bus.formats.check()
    await bus.batcher.submit("SET", bus.keys.format(), FORMAT + 1)
    with pytest.raises(
        ConfigurationError, match=f"sessions of format {FORMAT + 1}.*reads only formats up to {FORMAT}"
    ):
        await bus.formats.check()


@pytest.mark.parametrize(
    ("heartbeat", "expected"),
    [
        ({"pid": 1}, 1),
        ({"pid": 1, "format": 7}, 7),
        ({"pid": 1, "format": 0}, 1),
        ({"pid": 1, "format": "x"}, 1),
        ({"format": 1}, None),
        ([], None),
    ],
)
def test_a_heartbeat_contains_the_format_its_worker_reads(heartbeat: object, expected: int | None) -> None:
    assert format_of(f"{NOW_MS} ".encode() + orjson.dumps(heartbeat), NOW_MS) == expected


def test_a_worker_that_was_killed_counts_as_long_as_it_may_be_started_again() -> None:
    beat = f"{NOW_MS} ".encode() + EARLIER
    assert format_of(beat, NOW_MS + FORGET_MS) == 1
    assert format_of(beat, NOW_MS + FORGET_MS + 1) is None
    assert format_of(beat, NOW_MS - FORGET_MS - 1) is None
    assert format_of(b"junk", NOW_MS) is None
    assert format_of(b"9" * 5_000 + b' {"pid":1}', NOW_MS) is None
