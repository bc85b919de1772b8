"""Entries of foreign programs in an inbox do no harm."""

from typing import Any

import pytest
from antiphon_shared.bus.dead_letters import DeadLetters
from antiphon_shared.bus.handling import (
    NOTHING,
    Delivery,
    Outcome,
    SessionStore,
)
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import (
    ComponentFailed,
    QuerySubmitted,
    encode,
)

from tests.bus.builders import (
    OUTPUT,
    PLACE,
    Seen,
    a_query,
    delivered,
    eventually,
    has_dead,
    put,
    put_fields,
    session_in,
    until_done,
    working,
)
from tests.envelopes import an_event


def _good() -> bytes:
    return encode(a_query())


BAD_ENTRIES: dict[str, dict[Any, Any]] = {
    "no fields of ours": {"hello": "world"},
    "no event": {"log": PLACE},
    "no log": {"event": _good()},
    "no JSON": {"event": "hello", "log": PLACE},
    "empty": {"event": "", "log": PLACE},
    "garbage bytes": {"event": b"\xff\xfe\x00\x80", "log": PLACE, b"\xff": b"\xff"},
    "deeply nested": {"event": "[" * 100_000, "log": PLACE},
    "another type of event": {"event": _good().replace(b"query.submitted", b"query.dreamt"), "log": PLACE},
    "a field too many": {"event": _good().replace(b'{"specversion"', b'{"x":1,"specversion"'), "log": PLACE},
    "another specversion": {"event": _good().replace(b'"1.0"', b'"0.3"'), "log": PLACE},
    "a session id with a slash": {"event": _good().replace(b'"s1"', b'"a/b"'), "log": PLACE},
    "NaN": {"event": _good().replace(b'"Why?"', b"NaN"), "log": PLACE},
    "log no place": {"event": _good(), "log": "somewhere"},
    "log not UTF-8": {"event": _good(), "log": b"\xff"},
    "attempt no number": {"event": _good(), "log": PLACE, "attempt": "many"},
    "attempt not UTF-8": {"event": _good(), "log": PLACE, "attempt": b"\xff"},
    "attempt negative": {"event": _good(), "log": PLACE, "attempt": "-1"},
    "attempt huge": {"event": _good(), "log": PLACE, "attempt": "9" * 5000},
    "larger than allowed": {"event": encode(a_query(query="x" * 60_000)), "log": PLACE},
    "for another component": {"event": encode(an_event(OUTPUT)), "log": PLACE},
}


async def test_foreign_entries_become_dead_letters_and_do_no_harm(bus: Bus) -> None:
    bus.settings = bus.settings.model_copy(update={"max_event_bytes": 50_000})
    seen = Seen()
    async with working(bus, {QuerySubmitted: seen}):
        for fields in BAD_ENTRIES.values():
            await put_fields(bus, fields)
            await put(bus, a_query(query="good"))
        await until_done(bus)
    assert seen.queries == ["good"] * len(BAD_ENTRIES)
    letters = await DeadLetters(bus).list()
    assert len(letters) == len(BAD_ENTRIES)
    assert {letter.error.code for _, letter in letters} == {"unreadable_event"}
    shown = [await DeadLetters(bus).show(letter_id) for letter_id, _ in letters]
    assert b'{"hello": "world"}' in [content for _, content in shown]


async def test_foreign_entries_lost_by_their_workers_become_dead_letters_too(bus: Bus) -> None:
    for fields in BAD_ENTRIES.values():
        await put_fields(bus, fields)
    await delivered(bus, times=bus.settings.max_deliveries)
    async with working(bus, {QuerySubmitted: Seen(), ComponentFailed: Seen()}):
        await eventually(lambda: has_dead(bus, len(BAD_ENTRIES)))
        await until_done(bus)


async def test_an_event_in_the_wrong_partition_becomes_a_dead_letter(bus: Bus) -> None:
    """Its commit would cross slots; and it says that the number of partitions was changed."""
    if bus.keys.partitions == 1:
        pytest.skip("there is only one")
    stray = a_query(session_in(bus.keys, 2))
    seen = Seen()
    async with working(bus, {QuerySubmitted: seen}):
        await bus.batcher.submit(
            "XADD", bus.keys.inbox(0, "coordinator"), "*", "event", encode(stray), "log", PLACE
        )
        await eventually(lambda: has_dead(bus, 1))
    ((_, letter),) = await DeadLetters(bus).list()
    assert "ANTIPHON_PARTITIONS" in letter.error.message
    assert seen.deliveries == []


async def test_a_handler_that_reads_an_unknown_session_fails(bus: Bus) -> None:
    on_failed = Seen()

    async def reads_the_log(delivery: Delivery, session: SessionStore) -> Outcome:
        await session.event(delivery.log_entry)
        return NOTHING

    async with working(bus, {QuerySubmitted: reads_the_log, ComponentFailed: on_failed}):
        await put(bus, a_query("nobody"))
        await eventually(lambda: len(on_failed.deliveries) == 1)
    assert on_failed.failures()[0].error.code == "unreadable_event"
