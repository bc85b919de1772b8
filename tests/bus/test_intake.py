"""The front door."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest
from antiphon_shared.bus.admission import Admission
from antiphon_shared.bus.handling import Outcome
from antiphon_shared.bus.intake import GROUP, Intake, Overloaded
from antiphon_shared.bus.reader import Entry
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.submissions import read_submission
from antiphon_shared.events import CancellationRequested, QuerySubmitted, encode
from antiphon_shared.process.clock import utc_now
from antiphon_shared.process.ids import id_of_entry

from tests.bus.builders import (
    OUTPUT,
    Seen,
    a_query,
    claim,
    entries,
    eventually,
    length,
    pending,
    sessions_of_one_partition,
    types_in_log,
    working,
)
from tests.envelopes import an_event

TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@asynccontextmanager
async def running_intake(bus: Bus, name: str = "i1", places: int = 4) -> AsyncIterator[None]:
    admission = Admission(bus, {})
    intake = Intake(bus, name, places, on_waiting=admission.wake)
    duties = [asyncio.create_task(intake.run()), asyncio.create_task(admission.run())]
    try:
        yield
    finally:
        for duty in duties:
            duty.cancel()
        await asyncio.gather(*duties, return_exceptions=True)


async def submit(bus: Bus, fields: dict[Any, Any]) -> str:
    words = [word for pair in fields.items() for word in pair]
    entry: bytes = await bus.batcher.submit("XADD", bus.keys.queries(), "*", *words)
    return entry.decode()


async def until_let_in(bus: Bus) -> None:
    async def is_empty() -> bool:
        return await length(bus, bus.keys.queries()) == 0

    await eventually(is_empty)


async def opened(bus: Bus) -> list[str]:
    found: list[bytes] = []
    for partition in range(bus.keys.partitions):
        found += await bus.batcher.submit("ZRANGE", bus.keys.open_sessions(partition), 0, -1)
    return sorted(name.decode() for name in found)


async def waiting_sessions(bus: Bus) -> list[str]:
    found: list[bytes] = []
    for partition in range(bus.keys.partitions):
        found += await bus.batcher.submit("HKEYS", bus.keys.queries_waiting(partition))
    return sorted(name.decode() for name in found)


async def keys_of_waiting(bus: Bus) -> list[str]:
    """Return the remaining keys of waiting queries in Redis."""
    found: list[bytes] = []
    for partition in range(bus.keys.partitions):
        found += await bus.batcher.submit("EVAL", _WAITING, 1, bus.keys.prefix(partition))
    return [name.decode() for name in found]


async def test_every_form_of_submission_opens_a_session(bus: Bus) -> None:
    async with running_intake(bus):
        bare = await submit(bus, {"query": "Why?"})
        await submit(
            bus,
            {
                "query": "Wie geht's? 🙂",
                "session_id": "full",
                "options": '{"max_rounds": 2}',
                "grant": "a.b.c",
                "traceparent": TRACE,
            },
        )
        event = a_query("whole")
        await submit(bus, {"event": encode(event)})
        await submit(bus, {"query": "Why?", "session_id": "", "options": "", "grant": "", "traceparent": ""})
        await until_let_in(bus)
    drawn = id_of_entry(bus.keys.queries(), bare)
    assert len(await opened(bus)) == 4
    assert {"full", "whole", str(drawn)} <= set(await opened(bus))
    ((_, full),) = await bus.session("full").log()
    assert isinstance(full.data, QuerySubmitted)
    assert (full.data.query, full.data.options.max_rounds, full.traceparent) == ("Wie geht's? 🙂", 2, TRACE)
    assert full.data.grant == "a.b.c", (
        "the intake accepts any grant; the session's answer reports an invalid one"
    )
    ((_, first),) = await bus.session(str(drawn)).log()
    assert (first.id, first.correlationid) == (drawn, drawn)
    ((_, whole),) = await bus.session("whole").log()
    assert (whole.id, whole.data) == (event.id, event.data)


async def test_submitting_a_session_twice_opens_it_once_and_is_not_an_error(bus: Bus) -> None:
    async with running_intake(bus):
        for _ in range(3):
            await submit(bus, {"query": "Why?", "session_id": "mine"})
        await until_let_in(bus)
    assert await opened(bus) == ["mine"]
    assert await types_in_log(bus, "mine") == [QuerySubmitted.type]
    assert await length(bus, bus.keys.rejected()) == 0


def changed(**fields: Any) -> bytes:
    return json.dumps({**json.loads(encode(a_query())), **fields}).encode()


BAD_SUBMISSIONS: list[tuple[str, dict[Any, Any]]] = [
    ("query: missing", {"options": "{}"}),
    ("query", {"query": ""}),
    ("query", {"query": "   "}),
    ("query: not UTF-8", {"query": b"\xff\xfe"}),
    ("query", {"query": "x" * 100_001}),
    ("larger than", {"query": "x" * 300_000}),
    ("larger than", {"query": "\x01" * 50_000}),
    ("qeury: unknown field. Did you mean query? There are: event, ", {"qeury": "Why?"}),
    (
        "options.max_round: there is no such option. Did you mean max_rounds? There are: max_rounds, ",
        {"query": "Why?", "options": '{"max_round": 3}'},
    ),
    ("unknown field", {b"\xff\x00": "Why?"}),
    ("unknown field", {f"f{n}": "x" for n in range(5_000)}),
    ("options", {"query": "Why?", "options": "fast"}),
    ("options", {"query": "Why?", "options": "[]"}),
    ("options.max_rounds", {"query": "Why?", "options": '{"max_rounds": 0}'}),
    ("options.max_rounds", {"query": "Why?", "options": '{"max_rounds": "3"}'}),
    ("options.deadline_s", {"query": "Why?", "options": '{"deadline_s": NaN}'}),
    ("options.tools", {"query": "Why?", "options": json.dumps({"tools": ["x" * 65]})}),
    ("options.tools", {"query": "Why?", "options": json.dumps({"tools": ["x"] * 1_001})}),
    ("options.speed", {"query": "Why?", "options": '{"speed": 1}'}),
    ("options", {"query": "Why?", "options": "[" * 50_000}),
    ("options: not UTF-8", {"query": "Why?", "options": b"\xff"}),
    ("grant", {"query": "Why?", "grant": "x" * 8_193}),
    ("grant: not UTF-8", {"query": "Why?", "grant": b"\xff"}),
    ("options.scopes", {"query": "Why?", "options": '{"scopes": ["write"]}'}),
    ("options.grant", {"query": "Why?", "options": '{"grant": "a.b.c"}'}),
    ("session_id", {"query": "Why?", "session_id": "a b"}),
    ("session_id", {"query": "Why?", "session_id": "../../etc"}),
    ("session_id", {"query": "Why?", "session_id": "{0}"}),
    ("session_id", {"query": "Why?", "session_id": "x" * 129}),
    ("session_id", {"query": "Why?", "session_id": "line\n"}),
    ("reserved for sessions that another session starts", {"query": "Why?", "session_id": f"s1~{16 * '0'}"}),
    ("reserved for sessions that another session starts", {"event": changed(subject=f"s1~{16 * '0'}")}),
    ("parent", {"event": changed(data={"query": "Why?", "parent": {"session": "s1", "round": 1}})}),
    ("traceparent", {"query": "Why?", "traceparent": "yes"}),
    ("event", {"event": encode(a_query()), "query": "Why?"}),
    ("event", {"event": "not JSON"}),
    ("event", {"event": b"\xff"}),
    ("cannot be submitted", {"event": encode(an_event(OUTPUT))}),
    ("type", {"event": changed(type="antiphon.query.dreamt.v1")}),
    ("specversion", {"event": changed(specversion="0.3")}),
    ("surprise", {"event": changed(surprise=1)}),
    ("data.surprise", {"event": changed(data={"query": "Why?", "surprise": 1})}),
    ("subject", {"event": changed(subject="a/b")}),
    ("id", {"event": changed(id="one")}),
    ("time", {"event": changed(time="yesterday")}),
]


async def test_unreadable_submissions_are_rejected_with_reason_and_fields_and_block_no_other(
    bus: Bus,
) -> None:
    bus.settings = bus.settings.model_copy(update={"max_event_bytes": 200_000})
    async with running_intake(bus, places=2):
        names = []
        for n, (_, fields) in enumerate(BAD_SUBMISSIONS):
            names.append(await submit(bus, fields))
            await submit(bus, {"query": "Why?", "session_id": f"good{n}"})
        await until_let_in(bus)
    assert len(await opened(bus)) == len(BAD_SUBMISSIONS)
    rejected = {fields[b"entry"].decode(): fields for _, fields in await entries(bus, bus.keys.rejected())}
    assert sorted(rejected) == sorted(names)
    for entry, (reason, fields) in zip(names, BAD_SUBMISSIONS, strict=True):
        assert reason in rejected[entry][b"reason"].decode(), reason
        kept = {name: value for name, value in rejected[entry].items() if name.startswith(b"original.")}
        assert len(kept) == min(1_000, len(fields))
    many = next(fields for fields in rejected.values() if b"others" in fields)
    assert len(json.loads(many[b"others"])) == 4_000


async def test_a_rejected_submission_with_a_truncated_query_keeps_its_session_id(bus: Bus) -> None:
    bus.settings = bus.settings.model_copy(update={"max_event_bytes": 10_000})
    async with running_intake(bus, places=2):
        await submit(bus, {"query": "n" * 20_000, "session_id": "large"})
        await until_let_in(bus)
    ((_, fields),) = await entries(bus, bus.keys.rejected())
    assert fields[b"original.session_id"] == b"large"
    assert set(fields[b"original.query"]) == set(b"n")
    assert len(fields[b"original.query"]) < 10_000


async def test_an_entry_whose_id_is_not_a_time_is_rejected(bus: Bus) -> None:
    await bus.batcher.submit("XADD", bus.keys.queries(), "1-1", "query", "Why?")
    async with running_intake(bus):
        await until_let_in(bus)
    ((_, fields),) = await entries(bus, bus.keys.rejected())
    assert fields[b"reason"].startswith(b"entry:")


@pytest.mark.parametrize("entry_id", ["in ten years", "99999999999999999-1", "18446744073709551615-0"])
async def test_an_id_from_the_future_decides_no_deadline_and_spoils_no_later_submission(
    bus: Bus, entry_id: str
) -> None:
    """Redis gives every later entry an id beyond it: one client's wrong clock must not affect all others."""
    if entry_id == "in ten years":
        entry_id = f"{round((utc_now() + timedelta(days=3_650)).timestamp() * 1000)}-0"
    await bus.batcher.submit("XADD", bus.keys.queries(), entry_id, "query", "Why?", "session_id", "early")
    async with running_intake(bus):
        await until_let_in(bus)
        await eventually(lambda: _is_of_our_age(bus))
        await submit(bus, {"query": "Why?", "session_id": "next"})
        await until_let_in(bus)
    assert await opened(bus) == ["early", "next"]
    for session_id in ("early", "next"):
        ((_, event),) = await bus.session(session_id).log()
        assert event.time <= utc_now()


async def _is_of_our_age(bus: Bus) -> bool:
    """Return whether the queue no longer has the id from the future, and can be read as before."""
    entry = await bus.batcher.submit("EVAL", _PROBE, 1, bus.keys.queries(), GROUP)
    return bool(entry)


@pytest.mark.parametrize("fields", [{"query": "Why?", "session_id": "mine"}, {"hello": "world"}])
async def test_a_crash_between_the_two_steps_is_repeated_safely(bus: Bus, fields: dict[str, str]) -> None:
    """The submission was admitted or rejected but not acknowledged: the next intake repeats it without effect."""
    queue = bus.keys.queries()
    entry = await submit(bus, fields)
    await bus.ensure_groups([(queue, GROUP)])
    await bus.client.execute_command("XREADGROUP", "GROUP", GROUP, "gone", "STREAMS", queue, ">")
    crashed = Intake(bus, "gone", 1)
    taken = Entry(queue, entry, {name.encode(): value.encode() for name, value in fields.items()})
    if "query" in fields:
        await bus.publish(read_submission(taken, queue, 10_000, utc_now()), "open")
    else:
        with pytest.raises(Exception, match="unknown field") as raised:
            read_submission(taken, queue, 10_000, utc_now())
        await crashed._reject(taken, raised.value)  # type: ignore[arg-type]  # it is one
    await claim(bus, queue, GROUP, entry.encode(), "gone")
    async with running_intake(bus):
        await until_let_in(bus)
    if "query" in fields:
        assert await types_in_log(bus, "mine") == [QuerySubmitted.type]
    else:
        assert await length(bus, bus.keys.rejected()) == 1


async def test_a_burst_waits_outside_the_queue_and_is_admitted_as_sessions_close(bus: Bus) -> None:
    bus.settings = bus.settings.model_copy(update={"max_open_sessions": 2})
    closing = Seen(Outcome(closes_session=True))
    async with running_intake(bus, places=3):
        for n in range(12):
            await submit(bus, {"query": "Why?", "session_id": f"s{n}"})
        await until_let_in(bus)
        waiting = await waiting_sessions(bus)
        for partition in range(bus.keys.partitions):
            assert await bus.batcher.submit("ZCARD", bus.keys.open_sessions(partition)) <= 2
        assert len(waiting) == 12 - len(await opened(bus))
        async with working(bus, {QuerySubmitted: closing}):
            await eventually(lambda: len(closing.deliveries) == 12)
    assert len({delivery.event.subject for delivery in closing.deliveries}) == 12
    assert await keys_of_waiting(bus) == []


async def test_a_submission_beyond_the_waiting_limit_is_rejected_with_a_hint(bus: Bus) -> None:
    bus.settings = bus.settings.model_copy(update={"max_open_sessions": 1, "max_waiting_sessions": 2})
    names = sessions_of_one_partition(bus.keys, 6)
    async with running_intake(bus, places=1):
        for name in names:
            await submit(bus, {"query": "Why?", "session_id": name})
        await until_let_in(bus)
    assert (len(await opened(bus)), len(await waiting_sessions(bus))) == (1, 2)
    rejected = [fields for _, fields in await entries(bus, bus.keys.rejected())]
    assert [fields[b"original.session_id"].decode() for fields in rejected] == names[3:]
    assert {fields[b"code"] for fields in rejected} == {b"overloaded"}
    assert rejected[0][b"reason"].startswith(b"2 queries are already waiting, 2 of them from tenant default.")


async def test_a_rejected_submission_is_not_admitted_on_redelivery(bus: Bus) -> None:
    """A crash between the rejection and its acknowledgement, and meanwhile there is room again."""
    queue = bus.keys.queries()
    entry = await submit(bus, {"query": "Why?", "session_id": "mine"})
    await bus.ensure_groups([(queue, GROUP)])
    taken = Entry(queue, entry, {b"query": b"Why?", b"session_id": b"mine"})
    await Intake(bus, "gone", 1)._reject(taken, Overloaded("too many."))
    await bus.client.execute_command("XREADGROUP", "GROUP", GROUP, "gone", "STREAMS", queue, ">")
    await claim(bus, queue, GROUP, entry.encode(), "gone")
    async with running_intake(bus):
        await until_let_in(bus)
    assert await opened(bus) == []
    assert await length(bus, bus.keys.rejected()) == 1


async def test_two_doors_share_the_queue(bus: Bus) -> None:
    async with running_intake(bus, "i1", places=1), running_intake(bus, "i2", places=1):
        for n in range(20):
            await submit(bus, {"query": "Why?", "session_id": f"s{n}"})
        await until_let_in(bus)
    assert len(await opened(bus)) == 20


async def test_a_submission_that_one_intake_queued_is_admitted_by_another(bus: Bus) -> None:
    bus.settings = bus.settings.model_copy(update={"max_open_sessions": 1})
    async with running_intake(bus):
        for n in range(8):
            await submit(bus, {"query": "Why?", "session_id": f"s{n}"})
        await until_let_in(bus)
    assert len(await opened(bus)) + len(await waiting_sessions(bus)) == 8
    assert all(count == 0 for _, _, _, count in await pending(bus, bus.keys.queries(), GROUP))
    bus.settings = bus.settings.model_copy(update={"max_open_sessions": 100})
    async with running_intake(bus, "i2"):
        await eventually(lambda: _have_opened(bus, 8))
    assert await keys_of_waiting(bus) == []


async def _have_opened(bus: Bus, count: int) -> bool:
    return len(await opened(bus)) == count


async def test_a_queue_of_another_type_is_waited_out(bus: Bus) -> None:
    await bus.batcher.submit("SET", bus.keys.queries(), "a string")
    async with running_intake(bus):
        await asyncio.sleep(0.2)
        await bus.batcher.submit("DEL", bus.keys.queries())
        await submit(bus, {"query": "Why?", "session_id": "mine"})
        await until_let_in(bus)
    assert await opened(bus) == ["mine"]


async def test_signals_reach_only_existing_sessions(bus: Bus) -> None:
    assert await bus.publish(an_event(OUTPUT, "nobody"), "signal") == "unknown"
    await bus.publish(a_query(), "open")
    assert await bus.publish(an_event(OUTPUT), "signal") == "sent"
    assert await types_in_log(bus) == [QuerySubmitted.type, CancellationRequested.type]


async def test_an_inbox_of_another_type_leaves_no_half_open_session(bus: Bus) -> None:
    inbox = bus.keys.inbox(bus.keys.partition("s1"), "coordinator")
    await bus.batcher.submit("SET", inbox, "a string")
    with pytest.raises(Exception, match="WRONGTYPE"):
        await bus.publish(a_query(), "open")
    await bus.batcher.submit("DEL", inbox)
    assert await bus.publish(a_query(), "open") == "sent"


_WAITING = "return redis.call('KEYS', KEYS[1] .. 'waiting*')"
_PROBE = """
local entry = redis.pcall('XADD', KEYS[1], '*', 'probe', '1')
if type(entry) == 'table' then return 0 end
redis.call('XDEL', KEYS[1], entry)
local in_a_day_ms = (tonumber(redis.call('TIME')[1]) + 86400) * 1000
return tonumber(string.match(entry, '^%d+')) < in_a_day_ms and 1 or 0
"""
