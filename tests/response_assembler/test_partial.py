"""Answers without any model."""

from datetime import timedelta
from pathlib import Path

import pytest
from antiphon_shared.events.session import TerminationReason
from antiphon_shared.memory.findings import Findings
from antiphon_shared.memory.note import Note
from antiphon_shared.memory.session_memory import Memory
from antiphon_shared.text.citations import cited_ids
from hypothesis import given, settings
from hypothesis import strategies as st

from response_assembler.compose import compose
from response_assembler.partial import compose_partial
from tests.envelopes import START
from tests.memories import memories
from tests.response_assembler.builders import (
    a_disagreement,
    a_document,
    a_memory,
    a_request,
    courses,
)

GOLDEN = Path(__file__).parent / "golden"
HEADINGS = {"**What is known**", "**What is missing**", "**What to try next**"}


@pytest.mark.parametrize(
    ("name", "memory", "reason", "unfinished"),
    [
        ("courses", courses(), "max_rounds_reached", (("c9", "search_prices"),)),
        ("disagreement", a_disagreement(), "deadline_exceeded", ()),
    ],
)
def test_the_text_of_a_partial_answer_is_unchanged(
    name: str, memory: Memory, reason: TerminationReason, unfinished: tuple[tuple[str, str], ...]
) -> None:
    request, findings = a_request("partial", reason), Findings(memory, unfinished=unfinished)
    response = compose("s1", request, START + timedelta(seconds=1), findings)
    assert response.answer + "\n" == (GOLDEN / f"{name}.md").read_text()


def test_a_partial_answer_without_facts_names_the_reason_and_the_next_step() -> None:
    answer, quoted = compose_partial(a_memory(query="Who?"), "deadline_exceeded", "failed")
    assert quoted == ()
    assert answer == (
        "You asked: “Who?”\n\nI have no answer, because the time ran out before the question was worked "
        "through, and nothing was found that I could quote.\n\n**What to try next**\n\nAsk again with more "
        "time (`deadline_s`), or ask for less at once."
    )


def test_a_cancelled_session_without_facts_reports_that_none_were_found() -> None:
    answer, _ = compose_partial(a_memory(query="Who?"), "cancelled", "cancelled")
    assert "There is no answer, because the session was cancelled before the work was done." in answer


def test_facts_unrelated_to_the_question_are_marked_as_such() -> None:
    answer, quoted = compose_partial(
        a_memory(a_document("", "Rain."), query="Who?"), "cancelled", "cancelled"
    )
    assert "None of it speaks of the question in its own words.\n\n- “Rain.” [F1]" in answer
    assert quoted == ("F1",)


def test_unquoted_facts_are_counted() -> None:
    document = a_document("", "Tea is wet.", *(["Rain."] * 5), "Old rain.", superseded_by=())
    answer, _ = compose_partial(a_memory(document, query="What of tea?"), "cancelled", "cancelled")
    assert "6 more facts were found, less close to the question." in answer


def test_a_note_without_a_source_is_not_in_the_answer() -> None:
    note = Note(concluded=("It is surely so", "It is so [F9]"), answered=("Why? Because.", "Who? Ada [F1]"))
    answer, _ = compose_partial(a_memory(a_document("", "Ada."), note), "cancelled", "cancelled")
    assert "- *Who?* Ada [F1]" in answer
    assert "surely" not in answer
    assert "F9" not in answer
    assert "Because" not in answer


def test_a_note_that_is_cut_keeps_its_citations() -> None:
    note = Note(answered=(f"Who? {'Ada ' * 200} [F1]",))
    answer, _ = compose_partial(a_memory(a_document("", "Ada."), note), "cancelled", "cancelled")
    assert "… [F1]\n" in answer


@settings(max_examples=60, deadline=None)
@given(memories(), st.sampled_from(["cancelled", "model_unavailable", "natural_completion"]))
def test_tool_results_add_no_citation_link_or_markup(memory: Memory, reason: TerminationReason) -> None:
    answer, quoted = compose_partial(memory, reason, "partial")
    assert set(cited_ids(answer)) == set(quoted)
    assert "<" not in answer
    lines = answer.split("\n")
    assert all(line in HEADINGS for line in lines if line.startswith("**W"))
    assert all(not line.startswith(("#", ">", "|", "```", "~~~", "=")) for line in lines)
