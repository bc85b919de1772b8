"""Answers without any model."""

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from response_assembler.partial import FACTS_MAX, compose_partial, most_relevant
from response_assembler.sources import cited_ids
from shared.memory import Memory
from tests.memories import a_course_memory, a_memory, a_round, memories

GOLDEN = Path(__file__).parent / "golden"


def test_a_partial_answer_reads_as_it_always_did() -> None:
    answer, _ = compose_partial(a_course_memory(), "model_unavailable", "partial", (("c9", "search_rooms"),))
    assert answer + "\n" == (GOLDEN / "partial.md").read_text()


def test_without_facts_it_says_so_and_what_to_do() -> None:
    answer, quoted = compose_partial(a_memory(question="Who?"), "deadline_exceeded", "failed", ())
    assert quoted == ()
    assert answer == (
        "You asked: “Who?”\n\nI have no answer, because the time ran out before the question was worked "
        "through, and nothing was found that I could quote.\n\n**What to try next**\n\nAsk again with more "
        "time (`deadline_s`), or ask for less at once."
    )


def test_of_many_facts_the_ones_close_to_the_question_are_quoted_in_order() -> None:
    records = [{"name": f"n{n}", "text": "the price of tea" if n % 10 == 0 else "rain"} for n in range(100)]
    memory = a_memory(a_round(("t", {}, records)), question="What is the price of tea?")
    ids = [fact.id for fact in most_relevant(memory.facts, memory.intent)]
    assert len(ids) == FACTS_MAX
    assert ids == sorted(ids, key=lambda id: int(id[1:]))
    assert {f"F{n}" for n in range(1, 100, 10)} <= set(ids)
    answer, _ = compose_partial(memory, "cancelled", "cancelled", ())
    assert "88 more facts were found" in answer


@settings(max_examples=60, deadline=None)
@given(memories(), st.sampled_from(["cancelled", "model_unavailable", "natural_completion"]))
def test_what_tools_returned_adds_no_citation_link_or_markup(memory: Memory, reason: str) -> None:
    memory = memory.model_copy(update={"intent": "Why?"})
    answer, quoted = compose_partial(memory, reason, "partial", ())  # type: ignore[arg-type]  # sampled words
    assert list(cited_ids(answer)) == [fact.id for fact in quoted]
    assert "<" not in answer
    headings = ("**What is known**", "**What is missing**", "**What to try next**")
    assert all(line in headings or not line.startswith("#") for line in answer.split("\n"))
