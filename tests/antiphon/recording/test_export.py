"""Sessions on their way into files."""

import asyncio
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.bus.wire import Argument
from antiphon_shared.events import QuerySubmitted
from antiphon_shared.process.errors import UnreadableEvent
from hypothesis import given
from hypothesis import strategies as st

from antiphon import Antiphon
from antiphon.errors import AlreadyThere, UnknownSession
from antiphon.recording import export as exporting
from antiphon.recording.export import export, export_session, file_name, sessions_since
from antiphon.recording.files import read_lines
from antiphon.recording.import_session import import_session
from antiphon.recording.lines import EncodedLine, End, EventLine, Header, Line, encode_line
from antiphon.recording.redaction.redact import Redaction as RealRedaction
from antiphon.recording.settings import RecordingSettings
from tests.antiphon.recording.large import large_session
from tests.antiphon.recording.recorded import events
from tests.bus.builders import a_query
from tests.bus.builders import session_in as a_session_in
from tests.envelopes import an_event

FIRST = "azAZ09"
SESSION_IDS = st.tuples(st.sampled_from(FIRST), st.text(FIRST + "._:-", max_size=127)).map("".join)


class Redaction(RealRedaction):
    """Counts its requests, and fails at the given ones."""

    def __init__(self, fails_at: int = 0) -> None:
        self.learned = self.written = 0
        self._fails_at = fails_at

    def anew(self) -> RealRedaction:
        self.learned = self.written = 0
        return self

    def header(self, header: Header) -> Header:
        return header

    def passes(self, lines: Sequence[EncodedLine]) -> bool:
        return False

    def learn(self, line: Line) -> None:
        assert not self.written, "the export learns all lines before it writes any"
        self.learned += 1

    def line(self, line: Line) -> Line:
        self.written += 1
        if self.written == self._fails_at:
            raise UnreadableEvent("no further")
        return line.model_copy(update={"redactions": 7}) if isinstance(line, End) else line


def names_in(folder: Path) -> list[str]:
    return [one.name for one in folder.iterdir()]


@given(SESSION_IDS)
def test_a_file_is_named_for_its_session_by_signs_that_every_file_system_takes(session_id: str) -> None:
    for name in (file_name(session_id), file_name(session_id, is_compressed=True)):
        assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._=-]*", name)
        assert len(name) < 140
        assert name.removesuffix(".gz").removesuffix(".jsonl").replace("=", ":") == session_id


async def test_an_unfinished_session_is_exported_up_to_its_last_event(bus: Bus, tmp_path: Path) -> None:
    await bus.publish(a_query("a:b"), "open")
    written = await export_session(bus, "a:b", tmp_path / "new" / "folder")
    assert (written.path.name, written.events, written.is_answered) == ("a=b.jsonl", 1, False)
    assert written.bytes == written.path.stat().st_size
    assert [type(line).__name__ for line in read_lines(written.path)] == ["Header", "EventLine", "End"]


async def test_a_later_recording_replaces_an_earlier_one(
    bus: Bus, courses_lines: list[Line], tmp_path: Path
) -> None:
    session_id = events(courses_lines)[0].event.subject
    await bus.publish(events(courses_lines)[0].event, "open")
    early = await export_session(bus, session_id, tmp_path)
    await bus.batcher.submit("DEL", bus.keys.log(session_id))
    await import_session(bus, courses_lines)
    late = await export_session(bus, session_id, tmp_path)
    assert (early.is_answered, late.is_answered, early.path) == (False, True, late.path)
    assert list(read_lines(late.path)) == courses_lines
    assert late.path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("content", [b"", b"my notes\n", b'{"line":"header"}\n', b"\x1f\x8b..."])
async def test_a_foreign_file_is_not_overwritten(bus: Bus, tmp_path: Path, content: bytes) -> None:
    await bus.publish(a_query("s1"), "open")
    path = tmp_path / file_name("s1")
    path.write_bytes(content)
    with pytest.raises(AlreadyThere, match="is not a recording of session s1"):
        await export(bus, "s1", tmp_path)
    assert path.read_bytes() == content


async def test_a_recording_of_another_session_and_a_folder_are_not_written_over(
    bus: Bus, tmp_path: Path
) -> None:
    for session_id in ("s1", "s2"):
        await bus.publish(a_query(session_id), "open")
    path = await export(bus, "s1", tmp_path)
    path.rename(tmp_path / file_name("s2"))
    (tmp_path / file_name("s1")).mkdir()
    for session_id in ("s1", "s2"):
        with pytest.raises(AlreadyThere):
            await export(bus, session_id, tmp_path)


async def test_a_failed_export_leaves_no_file_and_keeps_the_earlier_one(bus: Bus, tmp_path: Path) -> None:
    for session_id in ("s1", "s2"):
        await bus.publish(a_query(session_id), "open")
    path = await export(bus, "s1", tmp_path)
    before = path.read_bytes()
    for session_id in ("s1", "s2"):
        with pytest.raises(UnreadableEvent, match="no further"):
            await export(bus, session_id, tmp_path, Redaction(fails_at=2))
    assert names_in(tmp_path) == ["s1.jsonl"]
    assert path.read_bytes() == before


async def test_every_line_is_learned_before_the_first_is_written_and_is_redacted(
    bus: Bus, courses_lines: list[Line], tmp_path: Path
) -> None:
    session_id = await import_session(bus, courses_lines)
    redaction = Redaction()
    written = await export_session(bus, session_id, tmp_path, redaction)
    assert (redaction.learned, redaction.written) == (len(courses_lines), len(courses_lines))
    assert written.redactions == 7


async def test_a_session_that_never_existed_is_reported_as_unknown(bus: Bus, tmp_path: Path) -> None:
    with pytest.raises(UnknownSession, match="session s1 does not exist"):
        await export(bus, "s1", tmp_path)
    assert names_in(tmp_path) == []


async def test_a_session_that_expires_during_an_export_is_not_written(
    bus: Bus, courses_lines: list[Line], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "_CHUNK_BYTES", 1_000)
    session_id = await import_session(bus, courses_lines)

    class Expiry(Redaction):
        def line(self, line: Line) -> Line:
            if isinstance(line, EventLine) and line.n == 3:
                expired.append(bus.batcher.submit("DEL", bus.keys.log(session_id)))
            return line

    expired: list[object] = []
    with pytest.raises(UnknownSession, match="expired during"):
        await export(bus, session_id, tmp_path, Expiry())
    assert expired
    assert names_in(tmp_path) == []


async def test_all_sessions_are_found_and_those_since_a_moment(
    bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "_IDS_PAGE", 3)
    ids, late = set(), set()
    for partition in range(bus.keys.partitions):
        for n in range(17):
            session_id = a_session_in(bus.keys, partition, n)
            at_ms = 1_700_000_000_000 + (n // 8) * 1_000  # eight at the same moment: more than a page
            await bus.batcher.submit("ZADD", bus.keys.sessions(partition), at_ms, session_id)
            ids.add(session_id)
            if n >= 8:
                late.add(session_id)
    found = [session_id async for session_id in sessions_since(bus)]
    assert (len(found), set(found)) == (len(ids), ids)
    since = datetime.fromtimestamp(1_700_000_001, UTC)
    assert {session_id async for session_id in sessions_since(bus, since)} == late


async def test_a_client_writes_the_same_file(courses_lines: list[Line], tmp_path: Path) -> None:
    async with Antiphon.embedded(tools=["examples.courses"], model="offline") as antiphon:
        session_id = (await antiphon.ask("Which courses are there?")).session_id
        path = await antiphon.export(session_id, tmp_path, is_compressed=True)
        assert path == tmp_path / f"{session_id}.jsonl.gz"
        assert any(isinstance(line, EventLine) for line in read_lines(path))
        with pytest.raises(UnknownSession):
            await antiphon.export("unheard-of", tmp_path)


async def test_an_export_without_secrets_still_names_the_rules(
    bus: Bus, courses_lines: list[Line], tmp_path: Path
) -> None:
    session_id = await import_session(bus, courses_lines)
    rules = RecordingSettings(patterns=()).rules
    written = await export_session(bus, session_id, tmp_path, RealRedaction.of(rules, ()))
    header, *rest = read_lines(written.path)
    assert isinstance(header, Header)
    assert (header.redaction, rest) == (rules, courses_lines[1:])


async def test_a_small_session_of_which_something_is_replaced_is_read_once_too(
    bus: Bus, courses_lines: list[Line], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session_id = await import_session(bus, courses_lines)
    rules, asked = RecordingSettings(keys=("lesson*",)).rules, list[str]()
    read = bus.batcher.submit

    def noted(*command: Argument) -> asyncio.Future[Any]:
        asked.append(str(command[0]))
        return read(*command)

    monkeypatch.setattr(bus.batcher, "submit", noted)
    written = await export_session(bus, session_id, tmp_path, RealRedaction.of(rules, ()))
    assert written.redactions
    pages = asked.count("XRANGE")
    asked.clear()
    await export_session(bus, session_id, tmp_path, None)
    assert pages == asked.count("XRANGE")


@pytest.mark.parametrize("is_compressed", [False, True])
async def test_a_secret_that_appears_late_is_redacted_in_earlier_lines(
    bus: Bus, tmp_path: Path, is_compressed: bool
) -> None:
    *lines, last = large_session(1_500_000)
    assert isinstance(last, End)
    n = last.events + 1
    asked = an_event(QuerySubmitted(query='It is {"password": "that was found"}.'), "large")
    await import_session(bus, [*lines, EventLine(n, f"{n}-0", asked), last.model_copy(update={"events": n})])
    redaction = RealRedaction.of(RecordingSettings().rules, ())
    path = await export(bus, "large", tmp_path, redaction, is_compressed)
    exported = b"".join(map(encode_line, read_lines(path)))
    assert b"[redacted 1]" in exported
    assert b"that was found" not in exported
    assert names_in(tmp_path) == [path.name]
