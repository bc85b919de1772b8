"""The kinds of uncertainty, and the conditions of each."""

import re
from pathlib import Path
from typing import get_args

from antiphon_shared.events.session import Severity, TerminationReason, Uncertainty
from antiphon_shared.memory.layers import Summary

from response_assembler.uncertainty import (
    KINDS,
    WHY_INCOMPLETE,
    Kind,
    ending_uncertainties,
    memory_uncertainties,
    tool_uncertainties,
    uncertain,
    with_severity,
)
from tests.response_assembler.builders import a_memory, a_use


def test_the_documentation_and_the_table_of_uncertainties_agree() -> None:
    page = (Path(__file__).parents[2] / "docs" / "uncertainty.md").read_text()
    rows = re.findall(r"(?m)^\| `(\w+)` \| (\w+) \| (.+) \|$", page)
    assert {kind: Kind(meaning, severity) for kind, severity, meaning in rows} == KINDS
    assert len(rows) == len(KINDS)


def test_every_ending_but_the_natural_one_adds_an_uncertainty_of_its_own_kind() -> None:
    for reason in get_args(TerminationReason):
        kinds = [uncertain.kind for uncertain in ending_uncertainties(reason)]
        assert kinds == ([] if reason == "natural_completion" else [reason])
    assert set(WHY_INCOMPLETE) < set(KINDS)


def test_an_uncertainty_has_the_severity_and_by_default_the_message_of_its_kind() -> None:
    assert {kind.severity for kind in KINDS.values()} == set(get_args(Severity))
    for kind, (meaning, severity) in KINDS.items():
        made = uncertain(kind)
        assert (made.message, made.severity) == (meaning, severity)


def test_a_severity_given_with_an_uncertainty_is_kept() -> None:
    uncertainty = Uncertainty(kind="model_failed", message="It failed.", severity="serious")
    assert with_severity(uncertainty) is uncertainty
    assert with_severity(uncertainty.model_copy(update={"severity": "caution"})).severity == "note"


def test_a_tool_that_failed_and_never_succeeded_is_named_once_with_the_reason() -> None:
    down = a_use("search", "api_failure", message="Down. Ask for less at once.", what_happened="Down.")
    memory = a_memory(a_use("search", "timeout"), down)
    (uncertainty,) = tool_uncertainties(memory, ())
    assert (uncertainty.kind, uncertainty.about, uncertainty.severity) == ("tool_failed", "search", "caution")
    assert uncertainty.message == "`search` failed (api_failure): Down."


def test_the_cause_is_omitted_when_only_the_message_for_the_model_is_known() -> None:
    (uncertainty,) = tool_uncertainties(
        a_memory(a_use("search", "timeout", message="Too late. Call search again.")), ()
    )
    assert uncertainty.message == "`search` failed (timeout)."


def test_only_a_tool_name_that_was_not_corrected_leaves_an_uncertainty() -> None:
    slip = a_use("serch", "unknown_tool", what_happened="There is no tool 'serch'.")
    assert [uncertainty.about for uncertainty in tool_uncertainties(a_memory(slip), ())] == ["serch"]
    assert list(tool_uncertainties(a_memory(slip, a_use("search", round=2)), ())) == []
    before = a_memory(a_use("search"), slip.model_copy(update={"round": 2}))
    assert [uncertainty.about for uncertainty in tool_uncertainties(before, ())] == ["serch"], (
        "what came before corrects nothing"
    )


def test_only_arguments_that_were_not_corrected_leave_an_uncertainty() -> None:
    wrong = a_use("search", "validation_error", what_happened="search takes no `q`.")
    assert list(tool_uncertainties(a_memory(wrong, a_use("search", round=2)), ())) == []
    assert [
        uncertainty.about
        for uncertainty in tool_uncertainties(a_memory(wrong, a_use("outline", round=2)), ())
    ] == ["search"]


def test_a_failure_resolved_later_and_a_search_without_hits_leave_no_uncertainty() -> None:
    memory = a_memory(a_use("search", "timeout"), a_use("outline", "not_found"), a_use("search", round=2))
    assert list(tool_uncertainties(memory, ())) == []


def test_a_failure_among_successes_of_the_same_round_is_an_uncertainty_in_any_order() -> None:
    """Two of ten cities timed out: the eight do not make up for them."""
    slow, well = a_use("weather", "timeout"), a_use("weather")
    for uses in ((slow, well), (well, slow)):
        assert [uncertainty.kind for uncertainty in tool_uncertainties(a_memory(*uses), ())] == [
            "tool_failed"
        ]


def test_a_write_of_unknown_outcome_stays_uncertain_after_later_calls() -> None:
    memory = a_memory(a_use("book", "outcome_unknown", call_id="toolu_10"), a_use("book"))
    assert [(uncertainty.kind, uncertainty.about) for uncertainty in tool_uncertainties(memory, ())] == [
        ("outcome_unknown", "book toolu_10")
    ]


def test_a_write_settled_by_a_later_call_adds_no_uncertainty() -> None:
    first, last = a_use("book", "outcome_unknown", call_id="c1"), a_use("book", call_id="c2", settles="c1")
    assert list(tool_uncertainties(a_memory(first, last), ())) == []


def test_a_tool_that_another_answered_for_is_named_once_with_the_reason() -> None:
    why = "The course search was unavailable; the outline was used instead."
    replaced = a_use("search", substitute="outline", substitute_because=why)
    failed = a_use("search", "timeout", substitute="failed too", substitute_because=why)
    uncertainties = list(tool_uncertainties(a_memory(replaced, replaced, failed), ()))
    assert [(uncertainty.kind, uncertainty.about) for uncertainty in uncertainties] == [
        ("tool_failed", "search"),
        ("substituted", "search"),
    ]
    assert uncertainties[1].message == why


def test_lost_facts_are_counted_and_a_summary_is_reported() -> None:
    memory = a_memory(
        a_use("search", facts_lost=2), a_use("read", facts_lost=3), Summary(round=1, text="s", facts=("F1",))
    )
    full, summarized = memory_uncertainties(memory)
    assert (full.kind, summarized.kind) == ("memory_full", "summarized")
    assert full.message == (
        "5 facts were found by `search`, `read` but not kept: the session's memory was full."
    )
    assert list(memory_uncertainties(a_memory(a_use()))) == []


def test_a_call_still_in_flight_is_named() -> None:
    assert [uncertain.kind for uncertain in tool_uncertainties(a_memory(), (("c1", "book"),))] == [
        "call_unfinished"
    ]
