"""Rubrics are the user's own: the table is made whatever a rubric does."""

import sys
from pathlib import Path
from typing import Any

import pytest
from antiphon_shared.process.errors import ConfigurationError

from antiphon.replay.compare.cells import Judgement
from antiphon.replay.compare.matchers import Expected
from antiphon.replay.compare.questions import Question
from antiphon.replay.compare.scoring import Rubric, Score, judged, load_rubric
from tests.antiphon.replay.compare.builders import a_response

QUESTION = Question("q1", "How long?", expected=Expected(contains=("42",), sources=2))


def rubric(function: Any, *takes: str) -> Rubric:
    return Rubric(function.__name__, function, takes)


async def test_matchers_and_rubrics_all_produce_judgements() -> None:
    def short(answer: str) -> bool:
        return len(answer) < 100

    async def kind(query: str, response: Any, expected: Any) -> Score:
        return Score(0.5, f"asked {query}, {response.status}, {expected.sources}")

    number = await judged(
        QUESTION,
        a_response(),
        [rubric(short, "answer"), rubric(kind, "query", "response", "expected")],
    )
    assert number == (
        Judgement("contains", 1.0),
        Judgement("sources", 0.0),
        Judgement("short", 1.0),
        Judgement("kind", 0.5, "asked How long?, complete, 2"),
    )


@pytest.mark.parametrize("returned", [2, -0.1, float("nan"), "good", None, Score(7.0)])
async def test_an_invalid_score_is_reported_and_hides_no_other_score(returned: Any) -> None:
    def odd() -> Any:
        return returned

    *_, last = await judged(QUESTION, a_response(), [rubric(odd)])
    assert last.score is None
    assert "The rubric failed" in last.note
    assert len(_) == 2


async def test_a_rubric_that_raises_is_reported_and_hides_no_other_score() -> None:
    def broken() -> float:
        raise LookupError("no such thing")

    async def fine() -> float:
        return 1

    *_, first, second = await judged(QUESTION, a_response(), [rubric(broken), rubric(fine)])
    assert first == Judgement("broken", None, "The rubric failed: LookupError: no such thing")
    assert second == Judgement("fine", 1.0)


async def test_every_scorer_scores_a_missing_answer_zero() -> None:
    def fine() -> float:
        raise AssertionError("there is nothing to judge")

    scores = await judged(QUESTION, None, [rubric(fine)])
    assert [(one.name, one.score) for one in scores] == [("contains", 0.0), ("sources", 0.0), ("fine", 0.0)]


def test_a_rubric_receives_the_arguments_it_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_rubrics.py").write_text(
        "def short(answer, most=100): ...\ndef every(**told): ...\ndef odd(reply): ...\nnothing = 3\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    try:
        assert load_rubric("my_rubrics:short").takes == ("answer",)
        assert load_rubric("my_rubrics:every").takes == ("query", "answer", "response", "expected")
        for spec, message in (
            ("my_rubrics:odd", "takes reply"),
            ("my_rubrics:nothing", "cannot be used"),
            ("my_rubrics:gone", "gone"),
            ("no_rubrics:short", "No module"),
            ("my_rubrics", "is not"),
        ):
            with pytest.raises(ConfigurationError, match=message):
                load_rubric(spec)
    finally:
        sys.modules.pop("my_rubrics", None)
