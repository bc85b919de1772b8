"""Statements that cite nothing."""

from response_assembler.claims import uncited
from response_assembler.markdown import parse_markdown
from tests.rows import each_row

KNOWN = {"F1", "F2"}


def claims(text: str) -> list[str]:
    return [claim.text for claim in uncited(parse_markdown(text).blocks, KNOWN)]


def test_a_statement_that_cites_nothing_is_found() -> None:
    assert claims("The course takes six hours.") == ["The course takes six hours."]


@each_row(
    "text",
    [
        "The course takes six hours [F1].",
        "The course takes six hours. [F1]",
        "It takes six hours.",
        "# The course takes six long hours",
        "```\nThe course takes six hours.\n```",
        "Does the course take six hours?",
        "I could not find how long the course takes.",
        "Unfortunately, I didn't find out who teaches the course.",
        "I found nothing that answers the question.",
        "Nothing returned mentions “teachers” of the course.",
        "The sources do not say who teaches the course.",
        "Its price is not stated anywhere in the catalogue.",
        "_Answered by rules and quotation; no model was used._",
        "These are the lessons of the course:",
        "| A head of five words | and more |\n|---|---|\n| one | two |",
        "课程需要六个小时。",
    ],
)
def test_a_covered_sentence_or_one_without_a_statement_makes_no_claim(text: str) -> None:
    assert claims(text) == []


def test_a_citation_at_the_end_of_a_paragraph_covers_it_back_to_the_previous_one() -> None:
    first, second, third = "One is said here first.", "Two is said here next.", "Three is said here last."
    assert claims(f"{first} {second} {third} [F1]") == []
    assert claims(f"{first} {second} [F1] {third}") == [first, third]
    assert claims(f"{first} {second} [F1] {third} And so it goes on [F2].") == [first]
    assert claims(f"{first}\n\n{second} [F1]") == [first]


def test_a_citation_above_a_list_covers_it_only_after_a_colon() -> None:
    items = "\n\n- One is said here first.\n- Two is said here next."
    assert claims("It has these two lessons [F1]:" + items) == []
    assert claims("It has these two lessons: [F1]" + items) == []
    assert len(claims("It has these two lessons [F1]." + items)) == 2
    assert len(claims("It has these two lessons:" + items)) == 2
    assert claims("Tried without success:" + items) == []


def test_a_quotation_is_covered_by_the_line_above_it() -> None:
    assert claims("**Title** [F1]\n\n> The course takes six hours.") == []
    assert claims("**Title**\n\n> The course takes six hours.") == ["The course takes six hours."]


def test_a_citation_of_a_missing_fact_covers_nothing() -> None:
    assert len(claims("The course takes six hours [F9].")) == 1


def test_rows_items_and_unspaced_scripts_are_statements() -> None:
    assert len(claims("- The course takes six hours.")) == 1
    assert len(claims("|a|b|\n|-|-|\n|the course takes|six hours|")) == 1
    assert len(claims("这门课程总共需要六个小时才能完成。")) == 1
