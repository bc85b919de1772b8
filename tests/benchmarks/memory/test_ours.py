"""Our own method is the real code, and its briefings are read without their fences."""

from benchmarks.memory.form import Question, read
from benchmarks.memory.measure import OURS, measure, missing
from benchmarks.memory.methods import METHODS
from benchmarks.memory.ours import statements
from benchmarks.memory.prose import DATA
from tests.rows import each_row

SAMPLE = read(DATA / "sample.jsonl")


@each_row("question", SAMPLE, ids=lambda question: question.id)
@each_row("method", [OURS, *METHODS])
def test_with_enough_room_nothing_is_missing(question: Question, method: str) -> None:
    outcome = measure(question, share=300, method=method)
    assert outcome.missing == ()


@each_row("question", SAMPLE, ids=lambda question: question.id)
@each_row("method", [OURS, *METHODS])
@each_row("share", [1, 5, 10, 20])
def test_no_method_shows_more_than_it_may(question: Question, method: str, share: int) -> None:
    assert not measure(question, share, method).is_over


BRIEFING = """# Question
What of (F1) the harbour?

# Facts
<result call="c" tool="search" round="1" trust="tool">
## A title of it
F1 (superseded by F2) One.
  F16 jets flew over.
F2 &#40;1990) Three &lt; four.
</result>

# Further facts
<result tool="search" trust="tool">
F7 (shortened) Five …
</result>

# Summaries
<result call="summary" tool="summary" round="3" trust="untrusted">
  F20: A summary.
</result>

# Tools tried
- round 1: search {"q": "a query"} -> ok: F1-F9
<result call="c2" tool="search" round="1" trust="tool">
  Said of a failure.
</result>"""


def test_only_the_statements_of_the_facts_of_a_briefing_count() -> None:
    assert statements(BRIEFING).split("\n") == [
        "One.", "F16 jets flew over.", "&#40;1990) Three &lt; four.", "Five …",
    ]  # fmt: skip  # a list, not a column
    assert missing(("One. F16 jets flew over.", "(1990) Three < four."), statements(BRIEFING)) == ()


def test_a_sentence_that_is_several_facts_is_found_in_both_sections() -> None:
    line = '<result tool="search" trust="tool">'
    text = f"# Facts\n{line}\nF1 Of the\nF3 harbour.\n</result>\n\n# Further facts\n{line}\nF2 old\n</result>"
    assert missing(("Of the old harbour.",), statements(text)) == ()


def test_a_passage_of_several_lines_and_one_in_parentheses_are_counted() -> None:
    text = "(In 1990 she moved to Calden, where the harbour is.)\nF16 jets flew over it:\n  all of\n  them at once."
    gold = ("(In 1990 she moved to Calden, where the harbour is.)", "F16 jets flew over it:")
    question = Question.model_validate(
        {
            "question": "Who?",
            "rounds": [{"query": "x", "results": [{"title": "T", "text": text}]}],
            "gold": gold,
        }
    )
    assert measure(question, share=300, method=OURS).missing == ()


def test_the_newest_results_are_filled_up_past_one_that_does_not_fit() -> None:
    results = [{"text": "word " * 500}, {"text": "A short one."}]
    question = Question.model_validate(
        {"question": "Who?", "rounds": [{"query": "x", "results": results}], "gold": ["A"]}
    )
    assert METHODS["keep last"](question, 100) == "A short one."
