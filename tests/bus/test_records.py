"""A step's record is committed with the step, or not at all."""

import pytest
from antiphon_shared.bus.handling import NOTHING, RECORDS, Delivery, Handlers, Outcome, SessionStore
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import QuerySubmitted
from antiphon_shared.events.step_records import (
    AssemblyRecord,
    DecisionRecord,
    LeftOut,
    StepRecord,
    decode_record,
)
from antiphon_shared.process.errors import TryLater

from tests.bus.builders import OUTPUT, a_query, eventually, types_in_log, until_done, working


def handlers(record: StepRecord, fails_first: bool = False) -> Handlers:
    async def handle(delivery: Delivery, session: SessionStore) -> Outcome:
        if fails_first and delivery.attempt == 0:
            raise TryLater("not yet", delay_s=0.01)
        return Outcome(events=(OUTPUT,), record=record.model_copy(update={"of": delivery.event.id}))

    async def let_go(delivery: Delivery, session: SessionStore) -> Outcome:
        return NOTHING

    return {QuerySubmitted: handle, type(OUTPUT): let_go}


async def records(bus: Bus) -> list[StepRecord]:
    return [decode_record(raw) for raw in await bus.session("s1").records_page()]


async def has_output(bus: Bus) -> bool:
    return OUTPUT.type in await types_in_log(bus)


async def run(bus: Bus, record: StepRecord, fails_first: bool = False) -> list[StepRecord]:
    query = a_query()
    await bus.publish(query, "open")
    async with working(bus, handlers(record, fails_first)):
        await eventually(lambda: has_output(bus))
        await until_done(bus)
    found = await records(bus)
    assert all(one.of == query.id for one in found)
    return found


A_DECISION = DecisionRecord(of=a_query().id, changed={"round": 2})


async def test_a_step_stores_its_record_with_the_number_of_its_events(bus: Bus) -> None:
    (record,) = await run(bus, A_DECISION)
    assert isinstance(record, DecisionRecord)
    assert (record.changed, record.outputs) == ({"round": 2}, 1)
    key = bus.keys.of_session("s1", RECORDS)
    assert 0 < await bus.batcher.submit("PTTL", key) <= bus.settings.retention_s * 1000


async def test_a_step_that_was_tried_again_leaves_one_record(bus: Bus) -> None:
    assert len(await run(bus, A_DECISION, fails_first=True)) == 1


async def test_an_oversized_record_is_replaced_by_a_notice(bus: Bus) -> None:
    (record,) = await run(
        bus, AssemblyRecord(of=A_DECISION.of, missing=("x" * bus.settings.max_event_bytes,))
    )
    assert isinstance(record, LeftOut)
    assert (record.component, record.outputs) == ("coordinator", 1)
    assert record.bytes > bus.settings.max_event_bytes


async def test_nothing_is_recorded_while_recording_is_off(bus: Bus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bus, "settings", bus.settings.model_copy(update={"recording": False}))
    assert await run(bus, A_DECISION) == []


async def test_records_are_read_page_by_page(bus: Bus) -> None:
    key = bus.keys.of_session("s1", RECORDS)
    for n in range(5):
        await bus.batcher.submit("RPUSH", key, b"%d" % n)
    session = bus.session("s1")
    assert await session.records_page(1, 2) == [b"1", b"2"]
    assert await session.records_page(4, 2) == [b"4"]
    assert await session.records_page(5, 2) == []


async def test_content_is_kept_once_under_its_hash(bus: Bus) -> None:
    content_hash = await bus.keep_content(b"You answer a question in rounds.")
    assert await bus.keep_content(b"You answer a question in rounds.") == content_hash
    assert await bus.content(content_hash) == b"You answer a question in rounds."
    assert await bus.content("0" * 32) is None
    await bus.batcher.submit("DEL", bus.keys.content(content_hash))
    await bus.keep_content(b"You answer a question in rounds.")
    assert await bus.content(content_hash) is None, "it is not sent again before its time"
