"""Verdicts of validating tools and refusals, read from briefings."""

from reasoning_engine.offline.briefing_text import read_briefing
from reasoning_engine.offline.verdicts import Complaint, digest_of, refusal_in, runs_of
from tests.reasoning_engine.offline.briefings import a_briefing

LONG = {"parts": ["x" * 600]}


def test_runs_are_read_with_what_they_found() -> None:
    errors = [{"property": "a.b", "message": "Too long"}, "Wrong", {"path": ["a", 0], "msg": "Bad"}, 3]
    text = a_briefing(
        "Which?",
        ("check", {"plan": {"a": 1}}, {"valid": True}),
        ("check", {"plan": {"a": 2}}, {"valid": False, "errors": errors}),
        ("other", {}, 1),
    )
    notes = read_briefing(text)
    passed, failed = runs_of(("check",), notes.tried, notes.facts, notes.replies)
    assert (passed.has_passed, passed.complaints, failed.has_passed) == (True, (), False)
    assert failed.complaints == (
        Complaint("a.b", "Too long"),
        Complaint("", "Wrong"),
        Complaint("a.0", "Bad"),
    )
    assert passed.was_on({"a": 1}, {"plan": {"a": 1}})
    assert not passed.was_on({"a": 2}, {"plan": {"a": 2}})


def test_a_value_that_is_not_shown_whole_is_known_by_what_was_written_beside_it() -> None:
    text = a_briefing("Which?", ("check", {"plan": LONG}, {"valid": True}))
    text = text.replace("I look.", f"Offline model: `check`, to validate {digest_of(LONG)}.")
    notes = read_briefing(text)
    (run,) = runs_of(("check",), notes.tried, notes.facts, notes.replies)
    assert run.call.arguments is None, "it is too long to be shown"
    assert run.was_on(LONG, {"plan": LONG})
    assert not run.was_on({"parts": []}, {"plan": {"parts": []}})


def test_a_refusal_is_read_fault_by_fault() -> None:
    told = (
        "Round 3 of at most 4.\nYour last answer does not count. Validation Errors Found: 1. Property: a/b, Message: "
        "3 is less than 4 2. Property: (the whole), Message: It is wrong Read each error, mend what it names, and give "
        "the whole answer again."
    )
    assert refusal_in(told) == (Complaint("a/b", "3 is less than 4"), Complaint("(the whole)", "It is wrong"))
    assert refusal_in("Round 3 of at most 4.") == ()
