"""From pages of a session to lines."""

from typing import cast

import pytest
from antiphon_shared.bus.handling import RECORDS
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events import encode
from antiphon_shared.events.step_records import ExchangeRecord, LeftOut, encode_record
from antiphon_shared.tools.calls import Catalogue
from pydantic_core import from_json, to_json

from antiphon import Antiphon
from antiphon.recording import session_lines as pages
from antiphon.recording.lines import ContentLine, EventLine, Header, Line, RecordLine, encode_line
from antiphon.recording.session_lines import logged_lines, session_lines
from antiphon.replay.verify import Verification
from tests.antiphon.recording.recorded import COURSES_QUERY, closed_lines, end, events
from tests.bus.builders import a_query


class Kept:
    """A session and its shared contents, in memory; notes the sizes of its pages."""

    def __init__(self, lines: list[Line]) -> None:
        self.log = [(line.entry, encode(line.event)) for line in events(lines)]
        self.records = [
            encode_record(line.record, line.record.outputs) for line in lines if isinstance(line, RecordLine)
        ]
        self.pages: list[list[int]] = []
        self.looks_at_records = 0

    def session(self, session_id: str) -> "Kept":
        return self

    async def log_page(self, after: str, count: int) -> list[tuple[str, bytes]]:
        start = 0 if after == "-" else [entry for entry, _ in self.log].index(after) + 1
        page = self.log[start : start + count]
        self.pages.append([len(raw) for _, raw in page])
        return page

    async def records_page(self, start: int, count: int) -> list[bytes]:
        self.looks_at_records += 1
        return self.records[start : start + count]

    async def catalogue(self, content_hash: str) -> Catalogue:
        return Catalogue()

    async def content(self, content_hash: str) -> bytes | None:
        return None

    async def specification(self, content_hash: str) -> bytes | None:
        return None


async def lines_of(kept: Kept) -> list[Line]:
    return [line async for line in session_lines("s1", cast(Bus, kept))]


async def test_events_and_records_come_with_their_bytes_which_are_those_that_are_written(
    courses_lines: list[Line],
) -> None:
    kept = Kept(courses_lines)
    logged = [(line, raw) async for line, raw in logged_lines("s1", cast(Bus, kept)) if raw is not None]
    assert len(logged) == len(kept.log) + len(kept.records)
    for line, raw in logged:
        assert raw in encode_line(line, raw) == encode_line(line)


async def test_contents_come_with_their_bytes_which_are_those_that_are_written(
    courses_lines: list[Line], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Kept(courses_lines)
    contents = {line.hash: to_json(line.content) for line in courses_lines if isinstance(line, ContentLine)}

    async def content(content_hash: str) -> bytes | None:
        return contents.get(content_hash)

    monkeypatch.setattr(kept, "content", content)
    logged = [(line, raw) async for line, raw in logged_lines("s1", cast(Bus, kept))]
    found = [(line, raw) for line, raw in logged if isinstance(line, ContentLine)]
    assert [raw for _, raw in found] == [*contents.values()]
    for line, raw in found:
        assert encode_line(line, raw) == encode_line(line)


async def test_prompts_that_are_stored_as_differences_are_whole_in_the_lines() -> None:
    async with Antiphon.embedded(tools=["examples.courses"], model="offline") as antiphon:
        session_id = (await antiphon.ask(COURSES_QUERY)).session_id
        lines = await closed_lines(antiphon, session_id)
        stored = await antiphon.open_bus().session(session_id).records_page(0, 1_000)
    assert any(raw.startswith(b'{"kind":"difference"') for raw in stored)
    records = [line.record for line in lines if isinstance(line, RecordLine)]
    prompts = [record.calls[0].request for record in records if isinstance(record, ExchangeRecord)]
    assert all(prompt["messages"][0]["content"].startswith("# Question") for prompt in prompts)
    assert len(prompts) > 2
    checked = Verification()
    for line in lines:
        checked.read(line)
    assert checked.report().is_same


async def test_a_record_difference_without_its_base_is_left_out() -> None:
    async with Antiphon.embedded(tools=["examples.courses"], model="offline") as antiphon:
        session_id = (await antiphon.ask(COURSES_QUERY)).session_id
        whole = await closed_lines(antiphon, session_id)
        bus = antiphon.open_bus()
        stored = await bus.session(session_id).records_page(0, 1_000)
        differences = [from_json(raw) for raw in stored if raw.startswith(b'{"kind":"difference"')]
        base = next(raw for raw in stored if from_json(raw)["of"] == differences[0]["base"])
        await bus.batcher.submit("LREM", bus.keys.of_session(session_id, RECORDS), 1, base)
        lines = await closed_lines(antiphon, session_id)
    left_out = [
        line.record for line in lines if isinstance(line, RecordLine) and isinstance(line.record, LeftOut)
    ]
    assert len(left_out) == len(differences) > 0
    assert {record.component for record in left_out} == {"reasoning_engine"}
    assert len(lines) > len(whole) - len(stored)
    assert [one for one in lines if isinstance(one, EventLine)] == [
        one for one in whole if isinstance(one, EventLine)
    ]


@pytest.mark.parametrize("letter", [b"\\u0061", b"\\/", b"\n", b"\r"])
def test_an_event_logged_in_another_form_is_encoded_again(courses_lines: list[Line], letter: bytes) -> None:
    line = events(courses_lines)[0]
    logged = encode(line.event).replace(b'"', letter + b'"', 1)
    assert encode_line(line, logged) == encode_line(line)


async def test_large_events_come_in_small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "_PAGE_BYTES", 100_000)
    kept = Kept([])
    small, large = encode(a_query("s1")), encode(a_query("s1", "x" * 60_000))
    kept.log = [(f"{n + 1}-0", large if 100 <= n < 160 else small) for n in range(400)]
    lines = await lines_of(kept)
    assert [line.n for line in lines if isinstance(line, EventLine)] == list(range(1, 401))
    # The first page with large events was requested when only small ones were known; it is bounded too.
    first = next(n for n, page in enumerate(kept.pages) if sum(page) > 100_000)
    assert len(kept.pages[first]) <= 64
    assert all(len(page) == 1 for page in kept.pages[first + 1 :] if page and page[0] == len(large))
    assert len(kept.pages[-3]) > 8


async def test_many_small_events_take_few_round_trips() -> None:
    kept = Kept([])
    kept.log = [(f"{n + 1}-0", encode(a_query("s1"))) for n in range(1_000)]
    assert end(await lines_of(kept)).events == 1_000
    assert len(kept.pages) < 30
    assert kept.looks_at_records <= len(kept.pages) + 1


async def test_a_record_of_an_unread_event_is_left_out(courses_lines: list[Line]) -> None:
    kept = Kept(courses_lines)
    kept.log = kept.log[:5]
    lines = await lines_of(kept)
    records = [line.record.of for line in lines if isinstance(line, RecordLine)]
    seen = {line.event.id for line in lines if isinstance(line, EventLine)}
    assert 0 < len(records) < 5
    assert set(records) <= seen
    assert end(lines).records == len(records)


async def test_an_expired_catalogue_is_not_exported_as_empty(
    courses_lines: list[Line],
) -> None:
    lines = await lines_of(Kept(courses_lines))
    assert isinstance(lines[0], Header)
    assert lines[0].catalogues
    assert isinstance(lines[1], EventLine)
