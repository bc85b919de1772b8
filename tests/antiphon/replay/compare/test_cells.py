"""Medians over runs, sums over questions, and nothing invented where nothing is known."""

from antiphon_shared.values import Usage

from antiphon.replay.compare.cells import Cell, Comparison, Run, totals
from antiphon.replay.compare.questions import Question
from tests.antiphon.replay.compare.builders import a_comparison, a_response, a_run


def test_numbers_are_medians_over_the_runs_and_the_score_is_a_mean() -> None:
    runs = tuple(a_run(score, a_response(duration_ms=took)) for score, took in ((1, 100), (0, 900), (1, 200)))
    cell = Cell(Question("q", "?"), "linear", runs)
    assert cell.numbers.latency_ms == 200
    assert cell.numbers.score == 2 / 3
    assert (cell.numbers.rounds, cell.numbers.calls, cell.numbers.tokens) == (2, 1, 100)


def test_a_run_without_an_answer_counts_only_for_its_score() -> None:
    failed = Run(None, "no model", judgements=a_run(0.0).judgements)
    cell = Cell(Question("q", "?"), "rounds", (a_run(1.0), failed))
    assert cell.status == "complete 1, error 1"
    assert cell.numbers.tokens == 100
    assert cell.numbers.score == 0.5


def test_a_total_cost_is_known_only_if_all_parts_are() -> None:
    unknown = a_response(usage=Usage(input_tokens=1))
    both = a_comparison(("a", "linear", (a_run(),)), ("b", "linear", (a_run(response=unknown),)))
    assert totals(both, "linear").sums.cost_usd is None
    known = a_comparison(("a", "linear", (a_run(),)), ("b", "linear", (a_run(),)))
    assert totals(known, "linear").sums.cost_usd == 0.02


def test_sums_and_medians_are_over_the_questions_of_the_plan() -> None:
    comparison = a_comparison(
        ("a", "recorded", (a_run(),)),
        ("a", "single", (a_run(1.0, a_response(rounds_used=1)),)),
        ("b", "single", (a_run(0.0, a_response(rounds_used=4, status="partial")),)),
    )
    single, recorded = totals(comparison, "single"), totals(comparison, "recorded")
    assert (single.answered, single.questions, recorded.questions) == (1, 2, 1)
    assert (single.sums.rounds, single.medians.rounds) == (5, 2.5)
    assert single.sums.score == 0.5
    assert recorded.sums.score is None


def test_questions_of_the_same_name_have_their_own_cells() -> None:
    first, second = Question("q1", "How long?"), Question("q1", "How high?")
    cells = (Cell(first, "linear", (a_run(1.0),)), Cell(second, "linear", (a_run(0.0),)))
    comparison = Comparison((first, second), ("linear",), cells, times=1)
    assert [comparison.of_question(one) for one in (first, second)] == [[cells[0]], [cells[1]]]
    assert totals(comparison, "linear").sums.score == 0.5
