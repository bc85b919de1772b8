"""Recordings that are imported into Redis, and exported from there again."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from antiphon_shared.bus.handling import RECORDS, RESPONSE, STATE
from antiphon_shared.bus.keys import Keys
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.signing import BadSignature, Signer
from antiphon_shared.events import COMPONENTS
from antiphon_shared.events.step_records import DecisionRecord, ForkRecord, LeftOut
from antiphon_shared.process.errors import UnreadableEvent
from antiphon_shared.process.settings import BusSettings
from antiphon_shared.tools.calls import Catalogue

from antiphon import Antiphon
from antiphon.errors import AlreadyThere
from antiphon.observe import recent_sessions
from antiphon.recording.export import export
from antiphon.recording.files import read_lines
from antiphon.recording.import_session import import_session
from antiphon.recording.lines import CatalogueLine, ContentLine, EventLine, Line, RecordLine
from antiphon.recording.session_lines import session_lines
from antiphon.replay.verify import verify
from tests.antiphon.recording.recorded import COURSES_QUERY, end, events, is_closed
from tests.bus.builders import a_bus, a_query, eventually
from tests.redis_server import RedisServer

SIGNER = Signer((b"0123456789abcdef",))


def another_bus(bus: Bus, name: str = "elsewhere", signer: Signer | None = None) -> Bus:
    """Return another namespace of the same Redis, over the same connection."""
    keys = Keys(f"{bus.keys.namespace}{name}", bus.keys.partitions)
    other = Bus(bus.connections, keys, bus.settings, signer=signer)
    other.batcher = bus.batcher
    return other


async def lines_of(bus: Bus, session_id: str) -> list[Line]:
    return [line async for line in session_lines(session_id, bus)]


async def is_there(bus: Bus, key: str) -> bool:
    return bool(await bus.batcher.submit("EXISTS", key))


@pytest.mark.parametrize("is_compressed", [False, True])
async def test_an_imported_session_is_exported_unchanged(
    bus: Bus, courses_lines: list[Line], tmp_path: Path, is_compressed: bool
) -> None:
    session_id = await import_session(bus, courses_lines)
    first = await export(bus, session_id, tmp_path / "first", is_compressed=is_compressed)
    other = another_bus(bus)
    assert await import_session(other, read_lines(first)) == session_id
    second = await export(other, session_id, tmp_path / "second", is_compressed=is_compressed)
    assert first.read_bytes() == second.read_bytes()
    assert list(read_lines(second)) == courses_lines
    assert verify(second).is_same


async def test_a_fork_is_imported_with_its_changes(bus: Bus, courses_lines: list[Line]) -> None:
    changed = {"models": {"own": "another-model"}}
    fork = ForkRecord(of=events(courses_lines)[-1].event.id, changed=changed, document_version=2)
    last = end(courses_lines)
    more = last.model_copy(update={"records": last.records + 1})
    whole = [*courses_lines[:-1], RecordLine(record=fork), more]
    session_id = await import_session(bus, whole)
    _, document = await bus.session(session_id).document(STATE)
    assert b'"own":"another-model"' in (document or b"")


async def test_an_imported_session_keeps_its_final_state(bus: Bus) -> None:
    async with Antiphon.embedded(tools=["examples.courses"], model="offline") as antiphon:
        session_id = (await antiphon.ask(COURSES_QUERY)).session_id
        target = antiphon.open_bus()

        async def has_ended() -> bool:
            return is_closed(await lines_of(target, session_id))

        await eventually(has_ended)
        lines = await lines_of(target, session_id)
        documents = [await target.session(session_id).document(name) for name in (STATE, RESPONSE)]
        (summary,) = await recent_sessions(target, 10)
    await import_session(bus, lines)
    assert [await bus.session(session_id).document(name) for name in (STATE, RESPONSE)] == documents
    assert await lines_of(bus, session_id) == lines
    assert await recent_sessions(bus, 10) == [summary]


async def test_an_import_leaves_nothing_to_be_processed(bus: Bus, courses_lines: list[Line]) -> None:
    await import_session(bus, courses_lines)
    keys = bus.keys
    for partition in range(keys.partitions):
        idle = [keys.inbox(partition, component) for component in COMPONENTS]
        idle += [keys.timers(partition), keys.timer_messages(partition), keys.open_sessions(partition)]
        idle += [keys.responses(partition), keys.feed(partition), keys.dead(partition)]
        assert not [key for key in idle if await is_there(bus, key)]


async def test_an_imported_session_expires(bus: Bus, courses_lines: list[Line]) -> None:
    session_id = await import_session(bus, courses_lines)
    names = ("events", RECORDS, STATE, RESPONSE)
    own = [bus.keys.of_session(session_id, name) for name in names]
    shared = [bus.keys.content(line.hash) for line in courses_lines if isinstance(line, ContentLine)]
    shared += [
        bus.keys.catalogue_content(line.hash) for line in courses_lines if isinstance(line, CatalogueLine)
    ]
    retention_ms = bus.settings.retention_s * 1000
    for key in own:
        assert 0 < await bus.batcher.submit("PTTL", key) <= retention_ms
    for key in shared:
        assert retention_ms < await bus.batcher.submit("PTTL", key) <= 2 * retention_ms


async def test_the_same_again_changes_nothing_and_another_is_refused(
    bus: Bus, courses_lines: list[Line]
) -> None:
    session_id = await import_session(bus, courses_lines)
    assert await import_session(bus, courses_lines) == session_id
    last = events(courses_lines)[-1]
    longer = replace(last, n=last.n + 1, entry=f"{last.entry}9")
    others = (
        [line for line in courses_lines if line is not last],
        [replace(line, event=a_query(session_id)) if line is last else line for line in courses_lines],
        [*courses_lines[:-1], longer, end(courses_lines)],
        [*courses_lines[:-2], end(courses_lines)],
    )
    for other in others:
        with pytest.raises(AlreadyThere, match=session_id):
            await import_session(bus, counted(other))
    assert await lines_of(bus, session_id) == courses_lines


def counted(lines: list[Line]) -> list[Line]:
    """Return the lines with a matching end line."""
    records = sum(isinstance(line, RecordLine) for line in lines)
    return [*lines[:-1], end(lines).model_copy(update={"events": len(events(lines)), "records": records})]


async def test_an_interrupted_import_leaves_nothing_and_can_be_repeated(
    bus: Bus, courses_lines: list[Line]
) -> None:
    session_id = events(courses_lines)[0].event.subject

    def torn() -> Iterator[Line]:
        yield from courses_lines[:30]
        raise UnreadableEvent("torn")

    with pytest.raises(UnreadableEvent, match="torn"):
        await import_session(bus, torn())
    with pytest.raises(UnreadableEvent, match="is incomplete"):
        await import_session(bus, courses_lines[:-1])
    for name in ("events", RECORDS, STATE, RESPONSE):
        assert not await is_there(bus, bus.keys.of_session(session_id, name))
    assert await recent_sessions(bus, 10) == []
    await import_session(bus, courses_lines)
    assert await lines_of(bus, session_id) == courses_lines


async def test_a_whole_import_leaves_nothing_that_was_staged(
    namespace: str, redis_server: RedisServer, courses_lines: list[Line]
) -> None:
    async with a_bus(redis_server.url, namespace, BusSettings()) as bus:
        session_id = await import_session(bus, courses_lines)
        with pytest.raises(UnreadableEvent):
            await import_session(
                bus, [line for line in elsewhere(courses_lines) if line is not end(courses_lines)]
            )
        # By the same connection, as the reply to the script that drops staged keys is not awaited.
        keys = await bus.batcher.submit("KEYS", f"{namespace}:*")
        mine = {key.decode().removeprefix(f"{namespace}:{{0}}:") for key in keys if b"{0}" in key}
        kept = {f"session:{session_id}:{name}" for name in ("events", RECORDS, STATE, RESPONSE)}
        assert mine == {*kept, "sessions"}


def elsewhere(lines: list[Line], session_id: str = "another") -> list[Line]:
    """Return the same events in another session."""
    return [
        replace(line, event=line.event.model_copy(update={"subject": session_id}))
        if isinstance(line, EventLine)
        else line.model_copy(update={"session_id": session_id})
        if line is lines[0] and not isinstance(line, EventLine)
        else line
        for line in lines
    ]


async def test_events_of_another_session_are_refused(bus: Bus, courses_lines: list[Line]) -> None:
    with pytest.raises(UnreadableEvent, match="another session"):
        await import_session(bus, [courses_lines[0], *elsewhere(courses_lines)[1:]])


async def test_an_imported_session_is_signed_and_an_altered_one_is_not_exported(
    bus: Bus, courses_lines: list[Line], tmp_path: Path
) -> None:
    signing = another_bus(bus, "signed", SIGNER)
    session_id = await import_session(signing, courses_lines)
    path = await export(signing, session_id, tmp_path)
    assert list(read_lines(path)) == courses_lines
    entry = f"{events(courses_lines)[-1].entry}9"
    await bus.batcher.submit("XADD", signing.keys.log(session_id), entry, "event", "{}")
    with pytest.raises(BadSignature, match="missing"):
        await export(signing, session_id, tmp_path)


async def test_a_state_that_the_recording_lacks_in_part_is_left_out(
    bus: Bus, courses_lines: list[Line]
) -> None:
    _, second, *_ = (
        line
        for line in courses_lines
        if isinstance(line, RecordLine) and isinstance(line.record, DecisionRecord)
    )
    lost = LeftOut(of=second.record.of, outputs=second.record.outputs, component="coordinator", bytes=9)
    redacted = second.record.model_copy(update={"changed": {"limits": "[redacted]"}})
    for n, other in enumerate((lost, redacted)):
        target = another_bus(bus, str(n))
        line = second.model_copy(update={"record": other})
        session_id = await import_session(target, [line if one is second else one for one in courses_lines])
        assert not await is_there(target, target.keys.of_session(session_id, STATE))
        (summary,) = await recent_sessions(target, 10)
        assert summary.status == "complete"


async def test_a_queued_session_is_not_replaced_by_an_import(bus: Bus, courses_lines: list[Line]) -> None:
    query = events(courses_lines)[0].event
    partition = bus.keys.partition(query.subject)
    await bus.batcher.submit("HSET", bus.keys.queries_waiting(partition), query.subject, "a query")
    with pytest.raises(AlreadyThere):
        await import_session(bus, courses_lines)
    assert not await is_there(bus, bus.keys.log(query.subject))


async def test_content_shared_by_sessions_is_kept_unchanged_and_longer(
    bus: Bus, courses_lines: list[Line]
) -> None:
    (line,) = (line for line in courses_lines if isinstance(line, CatalogueLine))
    key = bus.keys.catalogue_content(line.hash)
    await bus.batcher.submit("SET", key, line.catalogue.model_dump_json(), "PX", 60_000)
    redacted = line.model_copy(update={"catalogue": Catalogue()})
    await import_session(bus, [redacted if one is line else one for one in courses_lines])
    assert await bus.catalogue(line.hash) == line.catalogue
    assert await bus.batcher.submit("PTTL", key) > 60_000
