"""The differences of a rewritten recording."""

from antiphon_shared.events import ReasoningRequested, ResponseReady

from antiphon.recording.lines import Line
from antiphon.replay.event_changes import Change, changes
from antiphon.replay.reports.event_changes import reported
from antiphon.replay.update import updated
from tests.antiphon.recording.changed import with_event, with_words


def test_a_recording_does_not_differ_from_itself(courses_lines: list[Line]) -> None:
    assert changes(courses_lines, courses_lines) == []


def test_each_event_that_differs_is_named_and_the_same_difference_once(courses_lines: list[Line]) -> None:
    hurried = with_words(courses_lines, '"notice":""', '"notice":"Hurry."')
    found = changes(hurried, courses_lines)
    assert found[0] == Change((5, 11, 17), ReasoningRequested.type, "notice", "Hurry.", "")
    assert len(found) == 1, "the prompts were written without it"


def test_a_difference_of_an_answer_is_named_by_its_field(courses_lines: list[Line]) -> None:
    def other(data: ResponseReady) -> ResponseReady:
        return data.model_copy(update={"termination_reason": "max_rounds_reached"})

    (one,) = changes(with_event(courses_lines, ResponseReady, other), courses_lines)
    assert (one.what, one.path) == (ResponseReady.type, "termination_reason")
    assert reported("a.jsonl", [one])[2:] == [
        "  event 20: antiphon.response.ready.v1 termination_reason",
        '    - "max_rounds_reached"',
        '    + "natural_completion"',
    ]


def test_a_record_missing_on_either_side_is_a_difference(courses_lines: list[Line]) -> None:
    record = courses_lines[-2]
    found = changes(courses_lines, [line for line in courses_lines if line is not record])
    assert [(one.what, one.got) for one in found] == [("record of the decision", "(absent)")]


def test_requests_are_compared_in_their_sent_form(courses_lines: list[Line]) -> None:
    """Prompts are compared separately from the requests that name them; a hash would be meaningless to a reader."""
    today = list(updated(with_words(courses_lines, "Payments Engineering", "Baking")))
    found = changes(courses_lines, today)
    assert any("Baking" in str(one.got) for one in found if one.what == "record of the exchange")
    assert not any("$content" in f"{one.path}{one.got}" for one in found)
