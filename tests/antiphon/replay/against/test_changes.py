"""The differences between two versions, from the divergences of each."""

from typing import Any

from antiphon.replay.against.changes import compare_results
from antiphon.replay.against.results import DifferingValue, Result


def a_place(path: str = "tokens", got: Any = 2, *, expected: Any = 1, event: int = 4) -> DifferingValue:
    return DifferingValue(
        event=event,
        type="antiphon.briefing.requested.v1",
        component="context_synthesizer",
        output="antiphon.briefing.ready.v1",
        path=path,
        expected=expected,
        got=got,
    )


def a_result(*places: DifferingValue, **more: Any) -> Result:
    fields = {
        "path": "a.jsonl",
        "result": "diverged" if places else "same",
        "divergences_in_all": len(places),
    }
    return Result(divergences=places, **(fields | more))


def test_a_difference_of_todays_code_alone_is_a_change_from_the_record() -> None:
    found = compare_results(a_result(), a_result(a_place(got=2)))
    (change,) = found.steps[0].changes
    assert (found.result, change.before, change.now) == ("changed", 1, 2)


def test_a_difference_of_the_other_code_alone_is_a_change_back_to_the_record() -> None:
    (change,) = compare_results(a_result(a_place(got=2)), a_result()).steps[0].changes
    assert (change.before, change.now) == (2, 1)


def test_a_difference_that_both_codes_share_is_not_a_change() -> None:
    found = compare_results(a_result(a_place(got=2)), a_result(a_place(got=2)))
    assert (found.result, found.alike) == ("same", 1)


def test_both_values_are_shown_where_both_codes_differ_from_the_record() -> None:
    (change,) = compare_results(a_result(a_place(got=2)), a_result(a_place(got=3))).steps[0].changes
    assert (change.recorded, change.before, change.now) == (1, 2, 3)


def test_a_path_below_one_that_differs_as_a_whole_is_not_counted_again() -> None:
    whole, inside = a_place("facts", got=[]), a_place("facts[0].text", got="x")
    (change,) = compare_results(a_result(whole), a_result(inside)).steps[0].changes
    assert change.path == "facts"


def test_an_error_that_moved_to_another_line_of_code_is_not_a_change() -> None:
    then, now = (
        a_place("", got=f"today's code raises ValueError: no (coordinator.decide, line {line})")
        for line in (3, 9)
    )
    assert compare_results(a_result(then), a_result(now)).result == "same"


def test_changes_are_grouped_by_step_in_the_order_of_events() -> None:
    found = compare_results(
        a_result(a_place("b", event=9)), a_result(a_place("a", event=4), a_place("b", event=4))
    )
    assert [(step.event, len(step.changes)) for step in found.steps] == [(4, 2), (9, 1)]


def test_a_step_that_either_code_did_not_check_is_unchecked_and_not_same() -> None:
    for before, now in (({"no record": 2}, {}), ({}, {"no record": 2})):
        found = compare_results(a_result(unchecked=before), a_result(unchecked=now))
        assert (found.result, found.unchecked) == ("unchecked", {"no record": 2})


def test_divergences_that_were_not_kept_are_unchecked() -> None:
    found = compare_results(a_result(), a_result(a_place(), divergences_in_all=1_200))
    assert found.unchecked == {"divergences now beyond the first 1": 1_199}


def test_a_recording_that_one_code_cannot_read_is_unreadable_with_the_reason() -> None:
    found = compare_results(a_result(error="format 2 is newer"), a_result())
    assert (found.result, found.errors) == ("unreadable", {"before": "format 2 is newer"})
