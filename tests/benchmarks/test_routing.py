"""The tools that a question needs are among the eight that are offered, of sixty."""

from statistics import fmean

import pytest
from antiphon_shared.tools.relevance import most_relevant

from benchmarks.routing.__main__ import OFFERED, SETS, plain_bm25, recalls, routed
from benchmarks.routing.tools import TOOLS

HELD = {"development": 0.86, "report": 0.75}
"""The minimum of the routing on each set, a little below the figures in docs/tools.md."""


@pytest.mark.parametrize("name", SETS)
def test_a_set_is_sixty_tools_and_eighty_questions_each_with_tools_that_exist(name: str) -> None:
    tools, questions = SETS[name]
    assert len({tool.name for tool in tools}) == 60
    assert len({question.text for question in questions}) == 80
    assert {name for question in questions for name in question.needs} <= {tool.name for tool in tools}


@pytest.mark.parametrize("name", SETS)
def test_the_tools_that_paraphrased_questions_need_are_offered_far_more_often_than_by_their_words(
    name: str,
) -> None:
    ours, words = fmean(recalls(routed, SETS[name])), fmean(recalls(plain_bm25, SETS[name]))
    assert ours >= HELD[name]
    assert ours > 2 * words


@pytest.mark.parametrize("question", ["Zxqv bnmtr?", "¿Cuándo?", "", "ᚠᚢᚦ"])
def test_a_question_without_known_words_is_offered_the_same_tools_in_any_order(
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
