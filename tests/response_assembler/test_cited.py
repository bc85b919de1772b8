"""From the model's text to the answer that is shown."""

from antiphon_shared.memory.session_memory import Memory
from hypothesis import given, settings
from hypothesis import strategies as st

from response_assembler.cited import Answer, cited_answer
from tests.memories import hostile_text
from tests.response_assembler.builders import a_disagreement, courses, some_facts


def kinds(answer: Answer) -> list[str]:
    return [uncertainty.kind for uncertainty in answer.uncertainties]


def test_an_answer_shows_numbers_and_ends_with_their_sources() -> None:
    answer = cited_answer("The second course does [F5]; see *lesson 4* [F7, F5]. \n", courses())
    assert answer.text == (
        "The second course does [1]; see *lesson 4* [1][2].\n\n"
        "**Sources**\n\n"
        "1. **Agents in Practice** — “The chapter on MCP covers authentication by OAuth 2.1.” "
        "(`search_course_content`)\n"
        "2. **MCP: Build Rich-Context Apps** — number: 4; title: Authentication (`get_course_outline`)"
    )
    assert [(source.number, source.id) for source in answer.sources] == [(1, "F5"), (2, "F7")]
    assert answer.uncertainties == ()


def test_an_answer_without_citations_has_the_newest_facts_as_sources_and_no_list() -> None:
    answer = cited_answer("Trust me.", some_facts(3))
    assert answer.text == "Trust me."
    assert [source.number for source in answer.sources] == [0, 0, 0]
    assert kinds(answer) == ["uncited"]


def test_an_answer_without_facts_needs_no_citation() -> None:
    assert cited_answer("Four.", Memory("2 + 2?")) == Answer("Four.")


def test_a_citation_of_a_missing_fact_is_shown_and_named() -> None:
    answer = cited_answer("Known [F1], invented [F7], [F20-F30].", some_facts(2))
    assert answer.text.startswith("Known [1], invented [F7?], [F20-F30?].")
    (uncertainty,) = answer.uncertainties
    assert (uncertainty.kind, uncertainty.severity, uncertainty.about) == (
        "unknown_citation",
        "serious",
        "F7, F20-F30",
    )


def test_strict_mode_marks_and_counts_uncited_statements() -> None:
    text = "The course takes six hours [F3]. It is held every week. Everybody likes it very much."
    assert kinds(cited_answer(text, a_disagreement())) == ["contradicted"]
    answer = cited_answer(text, a_disagreement(), "strict")
    assert answer.text.startswith(
        "The course takes six hours [1]. It is held every week. [no source] Everybody likes it very much. "
        "[no source]\n\n**Sources**"
    )
    uncertainty = answer.uncertainties[0]
    assert (uncertainty.kind, uncertainty.severity) == ("uncited_claims", "caution")
    assert uncertainty.message == (
        "2 statements of the answer cite no source: “It is held every week.”; “Everybody likes it very much.”."
    )


def test_a_mark_does_not_break_a_table() -> None:
    answer = cited_answer("|a|b|\n|-|-|\n|the course takes|six hours|", a_disagreement(), "strict")
    assert answer.text == "|a|b|\n|-|-|\n|the course takes|six hours [no source]|"


def test_verified_problems_are_reported_as_uncertainty() -> None:
    text = "“A course for all of us” takes 36 hours [F1], at 200 euros [F4]."
    assert kinds(cited_answer(text, a_disagreement())) == [
        "quote_not_found", "number_not_found", "superseded_cited", "contradicted"
    ]  # fmt: skip  # one line reads better


def test_code_left_open_is_closed_before_the_sources() -> None:
    answer = cited_answer("So [F1]:\n```\nx = 1", some_facts(1), closing="*Closing.*")
    assert answer.text.startswith("So [1]:\n```\nx = 1\n```\n\n*Closing.*\n\n**Sources**")


@settings(max_examples=60, deadline=None)
@given(st.one_of(st.text(max_size=200), hostile_text), st.sampled_from(["normal", "strict"]))
def test_every_citation_number_has_its_source_for_any_text(text: str, citations: str) -> None:
    answer = cited_answer(text + " [F2] `[F1]`", some_facts(3), citations)  # type: ignore[arg-type]  # sampled
    assert [source.number for source in answer.sources if source.number] == list(
        range(1, len(answer.sources) + 1)
    ) or {source.number for source in answer.sources} == {0}
    for source in answer.sources:
        assert not source.number or f"[{source.number}]" in answer.text
