"""Dead letters: to look at, requeue or drop."""

import pytest
from antiphon_shared.bus.dead_letters import DeadLetters
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import ComponentFailed, QuerySubmitted, decode
from antiphon_shared.process.errors import AntiphonError

from tests.bus.builders import (
    Seen,
    a_query,
    dead_letters,
    eventually,
    inbox_of,
    length,
    put_fields,
    raising,
    until_done,
    working,
)


async def one_letter(bus: Bus) -> str:
    bus.settings = bus.settings.model_copy(update={"max_attempts": 1})
    async with working(
        bus, {QuerySubmitted: raising(RuntimeError("no luck")), ComponentFailed: Seen()}, "first"
    ):
        await bus.publish(a_query(), "open")
        await until_done(bus)
    ((letter_id, _),) = await DeadLetters(bus).list()
    return letter_id


async def test_a_requeued_dead_letter_is_delivered_with_attempts_reset_and_removed(bus: Bus) -> None:
    letters, letter_id = DeadLetters(bus), await one_letter(bus)
    letter, raw = await letters.show(letter_id)
    assert "no luck" in letter.error.message
    assert decode(raw).type == letter.event_type == QuerySubmitted.type
    await letters.requeue(letter_id)
    assert await letters.count() == 0
    seen = Seen()
    async with working(bus, {QuerySubmitted: seen}, "second"):
        await eventually(lambda: len(seen.deliveries) == 1)
    ((entry, event), *_) = await bus.session("s1").log()
    assert [(d.attempt, d.event, d.log_entry) for d in seen.deliveries] == [(0, event, entry)]
    assert seen.deliveries[0].redelivered, "the handler must know that another one began the message"


async def test_a_letter_is_dropped_for_good(bus: Bus) -> None:
    letters, letter_id = DeadLetters(bus), await one_letter(bus)
    await letters.drop(letter_id)
    assert await letters.list() == []
    for attempt in (letters.drop(letter_id), letters.show(letter_id), letters.requeue(letter_id)):
        with pytest.raises(AntiphonError, match="antiphon dead list"):
            await attempt


NO_IDS = ["", "x", "0", "0/", "/1-1", "0/1", "0/1-", "0/-1", "9/1-1", "99999/1-1", "0/1-1-1", "-1/1-1"]
NO_IDS += ["٠/١-١", "0/99999999999999999999-0", "0/*", "0/+", "0/1-1\n", "0/" + "9" * 5000 + "-1"]


async def test_an_invalid_id_is_refused_with_an_example(bus: Bus) -> None:
    letters = DeadLetters(bus)
    for nonsense in NO_IDS:
        for refused in (letters.show(nonsense), letters.requeue(nonsense), letters.drop(nonsense)):
            with pytest.raises(AntiphonError, match="Use an id such as 0/"):
                await refused


async def test_a_dead_letter_without_a_readable_event_can_be_shown_and_dropped_but_not_requeued(
    bus: Bus,
) -> None:
    await put_fields(bus, {"event": b"\xff\x00", "log": "1-1"})
    async with working(bus, {}):
        await until_done(bus)
    letters = DeadLetters(bus)
    ((letter_id, _),) = await letters.list()
    assert (await letters.show(letter_id))[1] == b"\xff\x00"
    with pytest.raises(AntiphonError, match="not contain a readable event"):
        await letters.requeue(letter_id)
    await letters.drop(letter_id)


@pytest.mark.parametrize("letter", [b"\xff", b"", b"{}", b'{"component":"nobody"}'])
async def test_a_foreign_entry_among_dead_letters_hides_none_of_them(bus: Bus, letter: bytes) -> None:
    await one_letter(bus)
    key = bus.keys.dead(0)
    await bus.batcher.submit("XADD", key, "*", "letter", letter)
    await bus.batcher.submit("XADD", key, "18446744073709551615-1", "hello", "world")
    letters = DeadLetters(bus)
    found = dict(await letters.list())
    assert sorted(item.error.code for item in found.values()) == [
        "internal_error",
        "unreadable_letter",
        "unreadable_letter",
    ]
    for letter_id, item in found.items():
        if item.component == "unknown":
            await letters.show(letter_id)
            with pytest.raises(AntiphonError, match="not requeued"):
                await letters.requeue(letter_id)
            await letters.drop(letter_id)
    assert await dead_letters(bus) == 1


async def test_a_dead_letter_is_kept_when_its_inbox_rejects_it(bus: Bus) -> None:
    letter_id = await one_letter(bus)
    await bus.batcher.submit("DEL", inbox_of(bus))
    await bus.batcher.submit("SET", inbox_of(bus), "a string")
    with pytest.raises(Exception, match="WRONGTYPE"):
        await DeadLetters(bus).requeue(letter_id)
    assert await length(bus, bus.keys.dead(bus.keys.partition("s1"))) == 1
