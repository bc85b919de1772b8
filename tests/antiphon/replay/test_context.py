"""The facts that the model was shown, from a recording."""

from dataclasses import replace

import pytest
from antiphon_shared.events import BriefingReady
from antiphon_shared.memory.briefing import Outline, ids_in
from antiphon_shared.process.errors import UnreadableEvent

from antiphon.recording.lines import EventLine, Line
from antiphon.replay.context import context
from tests.antiphon.recording.recorded import events


def outlines(lines: list[Line]) -> list[Outline]:
    return [line.event.data.briefing for line in events(lines) if isinstance(line.event.data, BriefingReady)]


def with_outlines(lines: list[Line], **changed: object) -> list[Line]:
    """Return the recording with another outline of the last briefing."""
    last = [line for line in events(lines) if isinstance(line.event.data, BriefingReady)][-1]
    data = last.event.data
    assert isinstance(data, BriefingReady)
    outline = data.briefing.model_copy(update=changed)
    other = last.event.model_copy(update={"data": data.model_copy(update={"briefing": outline})})
    return [replace(line, event=other) if line is last else line for line in lines]


def test_each_round_lists_its_shown_and_its_new_facts(courses_lines: list[Line]) -> None:
    report = context(courses_lines)
    first, second, third = report.briefings
    assert (first.shown, first.facts) == ((), 0)
    assert second.new == second.shown == ids_in(outlines(courses_lines)[1].shown)
    assert third.retained == second.shown
    assert set(third.new) == set(third.shown) - set(second.shown)
    assert [one.tokens for one in report.briefings] == [one.tokens for one in outlines(courses_lines)]
    assert third.omitted == ()


def test_each_source_of_the_answer_was_in_the_briefing_it_was_written_from(courses_lines: list[Line]) -> None:
    report = context(courses_lines)
    assert report.answered_from == report.briefings[-1].event
    assert report.sources
    assert {one.shown for one in report.sources} == {"whole"}
    assert all(one.source.id in report.facts for one in report.sources)


def test_a_source_that_the_model_had_not_seen_is_reported(courses_lines: list[Line]) -> None:
    lines = with_outlines(courses_lines, shown=("F1-F5",), shortened=("F5",), omitted=19)
    report = context(lines)
    shown = {one.source.id: one.shown for one in report.sources}
    assert shown.pop("F5") == "shortened"
    assert set(shown.values()) == {"absent"}
    assert report.briefings[-1].dropped == ("F6", "F7")
    assert report.briefings[-1].shortened_now == ("F5",)


def test_a_recording_filed_differently_today_is_reported_from_its_own_lines(
    courses_lines: list[Line],
) -> None:
    report = context(with_outlines(courses_lines, shown=("F1-F500",)))
    assert len(report.briefings[-1].shown) == 500
    assert (report.facts, report.briefings[-1].omitted) == ({}, None)


@pytest.mark.parametrize("shown", [("F1-F999999999",), ("all",), ("F1-F900000000", "F7-F3")])
def test_a_briefing_that_no_code_of_ours_has_made_is_unreadable(
    courses_lines: list[Line], shown: tuple[str, ...]
) -> None:
    with pytest.raises(UnreadableEvent, match="fact ids of a briefing are invalid"):
        context(with_outlines(courses_lines, shown=shown))


def test_a_session_that_was_not_answered_has_no_sources(courses_lines: list[Line]) -> None:
    report = context(line for line in courses_lines if not isinstance(line, EventLine) or line.n <= 17)
    assert (report.answered_from, report.sources) == (None, ())
    assert len(report.briefings) == 3
