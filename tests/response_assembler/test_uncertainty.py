"""The kinds of uncertainty, and when each is said."""

import re
from pathlib import Path
from typing import get_args

from response_assembler.uncertainty import KINDS, LIMITS, of_ending, of_tools
from shared.session import TerminationReason
from tests.memories import a_memory, a_round, an_error


def test_the_page_and_the_table_say_the_same() -> None:
    page = (Path(__file__).parents[2] / "docs" / "uncertainty.md").read_text()
    assert dict(re.findall(r"(?m)^\| `(\w+)` \| (.+) \|$", page)) == KINDS


def test_every_ending_but_the_natural_one_leaves_a_doubt_of_its_own_kind() -> None:
    for reason in get_args(TerminationReason):
        kinds = [doubt.kind for doubt in of_ending(reason)]
        assert kinds == ([] if reason == "natural_completion" else [reason])
    assert set(LIMITS) < set(KINDS)


def test_a_tool_that_failed_and_never_succeeded_is_named_once_with_the_reason() -> None:
    memory = a_memory(
        a_round(("search", {}, an_error()), ("search", {"q": 2}, an_error("api_failure", "Down.")))
    )
    (doubt,) = of_tools(memory, ())
    assert (doubt.kind, doubt.about) == ("tool_failed", "search")
    assert doubt.message == "`search` failed (api_failure): Down. Ask for less at once."


def test_a_failure_made_good_later_and_a_search_in_vain_leave_no_doubt() -> None:
    memory = a_memory(
        a_round(("search", {}, an_error()), ("outline", {}, an_error("not_found"))),
        a_round(("search", {}, "found"), round=2),
    )
    assert list(of_tools(memory, ())) == []


def test_a_write_of_unknown_outcome_stays_in_doubt_whatever_follows() -> None:
    memory = a_memory(
        a_round(("book", {}, an_error("outcome_unknown"))), a_round(("book", {}, "booked"), round=2)
    )
    assert [(doubt.kind, doubt.about) for doubt in of_tools(memory, ())] == [
        ("outcome_unknown", "book toolu_10")
    ]


def test_a_tool_that_another_answered_for_is_named_once_with_the_reason() -> None:
    memory = a_memory(
        a_round(("search", {}, "found"), ("search", {"q": 2}, "found"), ("search", {}, an_error()))
    )
    why = "The course search was unavailable; the outline was used instead."
    uses = tuple(
        use.model_copy(update={"substitute": substitute, "substitute_because": why})
        for use, substitute in zip(memory.tool_usage, ("outline", "outline", "failed too"), strict=True)
    )
    doubts = list(of_tools(memory.model_copy(update={"tool_usage": uses}), ()))
    assert [(doubt.kind, doubt.about) for doubt in doubts] == [
        ("tool_failed", "search"),
        ("substituted", "search"),
    ]
    assert doubts[1].message == why


def test_a_call_still_under_way_is_named() -> None:
    assert [doubt.kind for doubt in of_tools(a_memory(), (("c1", "book"),))] == ["call_unfinished"]
