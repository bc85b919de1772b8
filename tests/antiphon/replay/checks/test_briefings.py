"""Briefings, recorded by the real synthesizer and built again."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from antiphon_shared.events import BriefingReady, BriefingRequested, ToolsCompleted
from antiphon_shared.events.step_records import BriefingRecord
from antiphon_shared.memory.layers import MemoryDelta
from antiphon_shared.memory.session_memory import Memory

from antiphon.recording.lines import Line, RecordLine
from antiphon.replay.checks import briefings
from antiphon.replay.steps.repeat import Replay
from antiphon.replay.verify import verify_lines
from context_synthesizer import render, select, turn
from context_synthesizer.session_index_cache import CachedIndex
from context_synthesizer.turn import RoundEvents
from tests.antiphon.replay.checks.conftest import Record
from tests.antiphon.replay.checks.verdicts import data_of, differs_first, is_complete, lines_of
from tests.messages_server import Scripted, Use

TOOLS = ["tests.flows.archive_tools"]
LIGHTHOUSES = Use(name="read_archive", input={"topic": "lighthouses"})
SCRIPT = (
    Scripted(when="Round 1 of", text="I look. <note>open: Which one?</note>", uses=(LIGHTHOUSES,)),
    Scripted(when="Round 2 of", uses=(Use(name="recall", input={"id": "F120"}), LIGHTHOUSES)),
    Scripted(text="Holm 4 has one [F4].", repeat=True),
)


async def embed(texts: Sequence[str]) -> list[list[float]]:
    """Embed texts by their lengths."""
    return [[1.0, float(len(text) % 7)] for text in texts]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"BRIEFING_TOKENS": 500},
        {"MEMORY_BYTES_MAX": 12_345},
        {
            "MEMORY_BYTES_MAX": 12_345,
            "EMBEDDINGS": "tests.antiphon.replay.checks.test_briefings:embed",
        },
    ],
    ids=["as it is", "little room in a briefing", "little room in memory", "embeddings"],
)
async def test_a_briefing_is_built_the_same_again(record: Record, settings: dict[str, Any]) -> None:
    prefixed = {f"ANTIPHON_CONTEXT_SYNTHESIZER_{name}": value for name, value in settings.items()}
    lines = await record(*SCRIPT, tools=TOOLS, **prefixed)
    report = is_complete(lines)
    assert report.steps["context_synthesizer"] == 3
    if "EMBEDDINGS" in settings:
        assert data_of(lines, BriefingReady)[1].salience
    if "MEMORY_BYTES_MAX" in settings:
        (*_, last) = replayed(lines).briefings.items
        assert sum(map(len, replayed(lines).briefings.items)) <= 13_000, last


async def test_a_continued_conversation_verifies_the_same(record: Record) -> None:
    lines = await record(
        *SCRIPT, tools=TOOLS, queries=["Which harbour?", "And since when?"], conversation_id="c1"
    )
    (first, *_) = data_of(lines, BriefingRequested)
    assert first.conversation
    is_complete(lines)


def replayed(lines: Sequence[Line]) -> Replay:
    replay = Replay()
    for line in lines:
        replay.read(line)
    return replay


async def test_memory_and_text_are_those_that_the_synthesizer_had(courses_lines: list[Line]) -> None:
    """The digest of the text is the recorded one; the items fold into the memory that the answer was made of."""
    built = replayed(courses_lines).briefings
    (*_, last) = data_of(courses_lines, BriefingReady)
    assert built.newest[last.briefing.digest] == built.text
    assert Memory.of(built.memory.query, map(MemoryDelta.model_validate_json, built.items)) == built.memory
    assert built.to_summarize is None


async def test_unreferenced_results_are_released(record: Record) -> None:
    lines = await record(*SCRIPT, tools=TOOLS)
    first, last = (line.entry for line in lines_of(lines, ToolsCompleted))
    known = replayed(lines).content
    assert first not in known.by_entry
    assert last in known.by_entry


async def test_the_truncation_of_the_memory_is_decided_again(
    record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = await record(*SCRIPT, tools=TOOLS, ANTIPHON_CONTEXT_SYNTHESIZER_MEMORY_BYTES_MAX=12_345)
    monkeypatch.setattr(turn, "truncate_delta", lambda delta, bytes_left: delta)
    report = differs_first(lines, "context_synthesizer", BriefingReady.type)
    assert report.first is not None
    (_, second, _) = lines_of(lines, BriefingRequested)
    assert report.first.event == second.n


def test_a_filing_difference_is_reported_though_the_briefing_is_the_same(
    courses_lines: list[Line], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(briefings, "file_round_delta", filed_otherwise)
    report = differs_first(courses_lines, "context_synthesizer", "memory")
    assert report.first is not None
    assert report.first.path == "filed"
    assert report.first.expected in [record.filed for record in _records(courses_lines)]


def test_a_recording_without_filing_digests_is_checked_by_its_briefings(
    courses_lines: list[Line], monkeypatch: pytest.MonkeyPatch
) -> None:
    digests = {record.of: record.model_copy(update={"filed": None}) for record in _records(courses_lines)}
    earlier = [
        line.model_copy(update={"record": digests[line.record.of]})
        if isinstance(line, RecordLine) and isinstance(line.record, BriefingRecord)
        else line
        for line in courses_lines
    ]
    monkeypatch.setattr(briefings, "file_round_delta", filed_otherwise)
    assert verify_lines(earlier).is_same


def filed_otherwise(
    kept: CachedIndex, request: BriefingRequested, brought: RoundEvents
) -> tuple[MemoryDelta, str]:
    """File the round with a difference that no briefing shows."""
    delta, refused = turn.file_round_delta(kept, request, brought)
    uses = tuple(use.model_copy(update={"results": "7-0"}) for use in delta.tool_usage)
    return delta.model_copy(update={"tool_usage": uses}), refused


def _records(lines: Sequence[Line]) -> list[BriefingRecord]:
    kept = (line.record for line in lines if isinstance(line, RecordLine))
    return [record for record in kept if isinstance(record, BriefingRecord)]


def test_a_changed_briefing_is_reported_and_its_exchange_checked_against_the_sent_one(
    courses_lines: list[Line], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(select, "render", lambda sections: render.render(sections) + "\n\n# Mind\nThe gap.")
    report = differs_first(courses_lines, "context_synthesizer", BriefingReady.type)
    assert {one.component for one in report.divergences} == {"context_synthesizer"}
    assert report.first is not None
    assert report.first.path == "briefing.text"
    assert report.first.got == report.first.expected + "\n\n# Mind\nThe gap."
    assert report.answer == "same", "the answer was composed of the same replies"


def test_a_filing_that_lacks_data_is_reported_as_unknown_and_not_compared(courses_lines: list[Line]) -> None:
    """The finding for a recording in which an event has another kind than its name says."""
    (_, asked, _) = lines_of(courses_lines, BriefingRequested)
    data = asked.event.data.model_copy(update={"results": asked.entry})
    other = replace(asked, event=asked.event.model_copy(update={"data": data}))
    report = verify_lines([other if line is asked else line for line in courses_lines])
    assert report.answer == "unknown"
    assert report.unchecked_steps["context_synthesizer"] == 2
