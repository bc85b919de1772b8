"""The tools that a question needs are among the eight that are offered, of sixty."""

from statistics import fmean

import pytest
from antiphon_shared.tools.relevance import most_relevant

from benchmarks.routing.__main__ import OFFERED, halves, plain_bm25, recalls, routed
from benchmarks.routing.questions import QUESTIONS
from benchmarks.routing.tools import TOOLS

HELD = 0.80
"""What the routing reaches on the whole set, with a little room below the figure in docs/tools.md."""


def test_the_set_is_sixty_tools_and_eighty_questions_each_with_tools_that_exist() -> None:
    assert len({tool.name for tool in TOOLS}) == 60
    assert len({question.text for question in QUESTIONS}) == 80
    assert {name for question in QUESTIONS for name in question.needs} <= {tool.name for tool in TOOLS}


def test_a_seed_draws_which_half_of_the_questions_is_for_the_report_alone() -> None:
    parts = halves()
    assert len(parts["development"]) == len(parts["report"]) == 40
    assert set(parts["development"]).isdisjoint(parts["report"])
    assert parts == halves()


def test_the_tools_that_paraphrased_questions_need_are_offered_far_more_often_than_by_their_words() -> None:
    ours, words = fmean(recalls(routed, QUESTIONS)), fmean(recalls(plain_bm25, QUESTIONS))
    assert ours >= HELD
    assert ours > 2 * words


@pytest.mark.parametrize("question", ["Zxqv bnmtr?", "¿Cuándo?", "", "ᚠᚢᚦ"])
def test_what_no_word_is_known_of_is_answered_too_and_alike_whatever_the_order_of_the_tools(
    question: str,
) -> None:
    offered = [tool.name for tool in most_relevant(TOOLS, (question,), OFFERED)]
    assert sorted(offered) == sorted(tool.name for tool in TOOLS)
    again = [tool.name for tool in most_relevant(tuple(reversed(TOOLS)), (question,), OFFERED)]
    assert offered == again


def test_five_hundred_tools_are_ranked_too() -> None:
    many = [tool.model_copy(update={"name": f"{tool.name}_{n}"}) for n in range(9) for tool in TOOLS]
    ranked = most_relevant(many, ("Do I need an umbrella in Lyon tomorrow?",), OFFERED)
    assert len(ranked) == 540
    assert "get_forecast" in {tool.name.rsplit("_", 1)[0] for tool in ranked[:OFFERED]}
