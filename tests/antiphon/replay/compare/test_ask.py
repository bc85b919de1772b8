"""Every plan answers, also from a recording alone; an error in one cell does not affect others."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from antiphon_shared.events.session import Response

from antiphon.replay.compare.ask import AskOptions, compare
from antiphon.replay.compare.cells import PLANS, Cell
from antiphon.replay.compare.matchers import Expected
from antiphon.replay.compare.questions import Question, of_recording
from antiphon.replay.compare.scoring import Rubric
from tests.messages_server import Scripted, serving

OFFLINE = AskOptions(model="offline")


@pytest.fixture(autouse=True)
def _without_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(("ANTIPHON", "ANTHROPIC"))]:
        monkeypatch.delenv(name)


async def test_a_recording_is_enough_to_compare_all_plans(courses_path: Path) -> None:
    question = replace(
        of_recording(courses_path), expected=Expected(contains=("Payments Engineering",), sources=2)
    )
    cells: list[Cell] = []
    comparison = await compare([question], PLANS, OFFLINE, cells.append)
    assert comparison.plans == ("recorded", "single", "linear", "rounds")
    assert [cell.plan for cell in cells] == list(comparison.plans)
    found = {cell.plan: cell for cell in comparison.cells}
    assert {plan: cell.numbers.score for plan, cell in found.items()} == {
        "recorded": 1.0,
        "single": 0.0,
        "linear": 1.0,
        "rounds": 1.0,
    }
    assert [found[plan].numbers.rounds for plan in comparison.plans] == [3, 1, 3, 3]
    recorded, again = (found[plan].first.response for plan in ("recorded", "rounds"))
    assert recorded is not None
    assert again is not None
    assert again.answer == recorded.answer
    assert again.usage == recorded.usage


async def test_real_tools_answer_questions_without_a_recording() -> None:
    question = Question("q1", "Which course discusses vector clocks?")
    how = replace(OFFLINE, tools=["examples.courses"], times=2)
    comparison = await compare([question], ("rounds", "linear"), how, lambda _: None)
    assert comparison.plans == ("rounds", "linear")
    for cell in comparison.cells:
        assert cell.status == "complete"
        assert len(cell.runs) == 2
        assert cell.first.response is not None
        assert "Operating Distributed Systems" in cell.first.response.answer


async def test_a_plan_that_makes_unrecorded_calls_reports_misses(
    courses_path: Path,
) -> None:
    question = replace(
        of_recording(courses_path), query="Which lessons does the course Practical Statistics have?"
    )
    comparison = await compare([question], ("linear",), OFFLINE, lambda _: None)
    (cell,) = comparison.of("linear")
    assert cell.numbers.misses


async def test_a_failed_cell_shows_its_reason_and_does_not_affect_the_others() -> None:
    good, bad = Question("good", "Which course?"), Question("bad", " ")
    comparison = await compare([bad, good], PLANS, replace(OFFLINE, concurrency=2), lambda _: None)
    assert [cell.status for cell in comparison.cells] == ["error"] * 3 + ["complete"] * 3
    assert "no words" in comparison.cells[0].first.error


async def test_one_model_answers_all_plans_and_rubrics_judge_them(monkeypatch: pytest.MonkeyPatch) -> None:
    def is_short(response: Response) -> float:
        return 1.0 if len(response.answer) < 200 else 0.25

    how = AskOptions(model_id="model-of-mine", rubrics=(Rubric("is_short", is_short, ("response",)),))
    async with serving(Scripted(text="It is 42.", repeat=True)) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        question = Question("q1", "What is it?", expected=Expected.model_validate({"numeric": 42}))
        comparison = await compare([question], PLANS, how, lambda _: None)
        assert {request.body["model"] for request in server.requests} == {"model-of-mine"}
    for cell in comparison.cells:
        assert [(one.name, one.score) for one in cell.first.judgements] == [
            ("numeric", 1.0),
            ("is_short", 1.0),
        ]
