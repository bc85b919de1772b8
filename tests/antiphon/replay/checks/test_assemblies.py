"""Answers, recorded by the real assembler and composed again."""

import pytest
from antiphon_shared.events import ResponseReady
from antiphon_shared.events.step_records import AssemblyRecord

from antiphon.recording.lines import Line, RecordLine
from antiphon.replay.verify import verify_lines
from response_assembler import compose
from response_assembler.uncertainty import uncertain
from tests.antiphon.replay.checks.conftest import Record
from tests.antiphon.replay.checks.verdicts import data_of, differs_first, is_complete, records
from tests.messages_server import Scripted, Use

LOOK = Use(name="read_archive", input={"topic": "lighthouses"})
TOOLS = ["tests.flows.archive_tools"]


async def test_an_answer_from_facts_alone_is_composed_the_same_again(record: Record) -> None:
    broken = Scripted(status=401, error="authentication_error", repeat=True)
    lines = await record(Scripted(when="Round 1 of", uses=(LOOK,)), broken, tools=TOOLS)
    (response,) = data_of(lines, ResponseReady)
    assert response.status == "partial"
    is_complete(lines)


async def test_the_answer_of_a_last_round_that_was_never_filed_is_the_same_again(record: Record) -> None:
    lines = await record(Scripted(uses=(LOOK,), repeat=True), tools=TOOLS, max_rounds=2)
    is_complete(lines)
    (assembly,) = records(lines, AssemblyRecord)
    assert assembly.filings == 1


def test_an_answer_that_is_composed_otherwise_is_different(
    courses_lines: list[Line], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        compose, "without_repeats", lambda uncertainties: (uncertain("record_missing", about="x"),)
    )
    report = differs_first(courses_lines, "response_assembler", ResponseReady.type)
    assert report.answer == "different"


def test_an_answer_omits_facts_filed_after_the_memory_was_read(courses_lines: list[Line]) -> None:
    """The assembler reads the memory once; a briefing may be committed before its answer is."""
    early = [
        RecordLine(record=line.record.model_copy(update={"filings": 0}))
        if isinstance(line, RecordLine) and isinstance(line.record, AssemblyRecord)
        else line
        for line in courses_lines
    ]
    report = verify_lines(early)
    assert report.answer == "different"
    assert {one.component for one in report.divergences} == {"response_assembler"}
