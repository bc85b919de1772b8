"""The comparison of two recordings."""

from pathlib import Path

import pytest
from antiphon_shared.events import ReasoningRequested, ToolsCompleted

from antiphon.recording.lines import EventLine, Line
from antiphon.replay.diff import diff
from antiphon.replay.reports.compared import document, reported
from tests.antiphon.recording.changed import with_event, with_words
from tests.antiphon.recording.recorded import events, recorded

NAMES = ("a.jsonl", "b.jsonl")


async def test_two_runs_of_one_question_are_the_same_but_for_ids_and_times(courses_lines: list[Line]) -> None:
    again = await recorded()
    assert events(again)[0].event.subject != events(courses_lines)[0].event.subject
    comparison = diff(courses_lines, again)
    assert comparison.is_same, comparison.event_differences[0]
    assert list(reported(NAMES, comparison)) == ["a.jsonl and b.jsonl: same, except for ids and times"]


async def test_another_question_is_reported_by_its_first_difference_and_by_figures(
    courses_lines: list[Line],
) -> None:
    comparison = diff(courses_lines, await recorded("What is taught in the course on bread?", max_rounds=1))
    first = comparison.event_differences[0]
    assert (first.kind, first.a, first.b) == ("antiphon.query.submitted.v1", 1, 1)
    assert first.differences[0].path == "query"
    assert comparison.a.rounds == 3
    assert comparison.b.rounds == 1
    lacking = [place for place in comparison.event_differences if place.b is None]
    assert {(place.kind, place.round) for place in lacking} >= {
        ("antiphon.tools.completed.v1", 2),
        ("model exchange", 3),
    }
    lines = list(reported(NAMES, comparison))
    assert "first at event 1: antiphon.query.submitted.v1" in lines[0]
    assert any(line.split() == ["rounds", "3", "1", "*"] for line in lines)


def test_call_ids_and_idempotency_keys_of_a_model_do_not_count(courses_lines: list[Line]) -> None:
    assert diff(courses_lines, with_words(courses_lines, "toolu_offline_", "toolu_other_")).is_same


def test_a_changed_word_of_a_result_is_found_wherever_it_is_repeated(
    courses_lines: list[Line],
) -> None:
    comparison = diff(courses_lines, with_words(courses_lines, "Payments Engineering", "Baking"))
    assert [(place.kind, place.round) for place in comparison.event_differences] == [
        ("antiphon.tools.completed.v1", 2),
        ("antiphon.reasoning.completed.v1", 3),
        ("model exchange", 3),
        ("antiphon.response.ready.v1", None),
    ]
    assert "    - **Payments Engineering**: “Idempotent Charges” speaks of the same [1]." in reported(
        NAMES, comparison
    )
    assert '"is_same": false' in document(NAMES, comparison)


@pytest.mark.parametrize("field", ["notice", "last_round_because"])
def test_a_field_of_one_event_is_named(courses_lines: list[Line], field: str) -> None:
    changed = with_event(
        courses_lines, ReasoningRequested, lambda data: data.model_copy(update={field: "Hurry."})
    )
    (place,) = diff(courses_lines, changed).event_differences
    assert [(found.path, found.expected, found.got) for found in place.differences] == [(field, "", "Hurry.")]


def test_fields_of_tools_are_not_taken_for_our_own(courses_lines: list[Line]) -> None:
    """A result may well have a field `duration_ms`: only our measurements do not count."""

    def lasting(ms: int) -> list[Line]:
        def change(data: ToolsCompleted) -> ToolsCompleted:
            result = data.results[0].model_copy(update={"data": {"duration_ms": ms}, "duration_ms": ms})
            return data.model_copy(update={"results": (result,)})

        return with_event(courses_lines, ToolsCompleted, change)

    (place,) = diff(lasting(1), lasting(2)).event_differences
    assert [found.path for found in place.differences] == ["results[0].data.duration_ms"]


def test_an_event_only_in_the_second_recording_is_reported_with_its_line(
    courses_lines: list[Line],
) -> None:
    without = [line for line in courses_lines if not (isinstance(line, EventLine) and line.n == 7)]
    comparison = diff(without, courses_lines)
    place = next(place for place in comparison.event_differences if place.a is None)
    assert (place.kind, place.round, place.b) == ("antiphon.tools.requested.v1", 1, 7)


def test_two_empty_recordings_are_the_same(tmp_path: Path) -> None:
    assert diff([], []).is_same
