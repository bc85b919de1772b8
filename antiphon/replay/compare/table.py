"""A comparison as rows for a terminal, and as JSON. Pure."""

from collections.abc import Iterator
from typing import Any

from antiphon.replay.compare.cells import Cell, Comparison, Numbers, Run, Totals, totals

HEADINGS = ("question", "plan", "status", "score", "rounds", "calls", "tokens", "cost", "latency")
_QUESTION_CHARACTERS = 40
_NOTHING = "—"


def rows(comparison: Comparison) -> list[tuple[str, ...]]:
    """Return one row for each cell; for several questions, also the sum and the median of each plan."""
    lines = [
        (*_cell_name(cell), *cells_of(cell.numbers))
        for question in comparison.questions
        for cell in comparison.of_question(question)
    ]
    return lines if len(comparison.questions) < 2 else [*lines, *rows_of_totals(comparison)]


def rows_of_totals(comparison: Comparison) -> Iterator[tuple[str, ...]]:
    """Yield the sum and the median of each plan as rows."""
    for plan in comparison.plans:
        sums = totals(comparison, plan)
        complete = f"{sums.answered} of {sums.questions} complete"
        yield ("sum", plan, complete, *cells_of(sums.sums))
        yield ("median", plan, "", *cells_of(sums.medians))


def cells_of(numbers: Numbers) -> tuple[str, ...]:
    """Return score, rounds, calls, tokens, cost and latency, as they are shown."""
    calls = _count(numbers.calls)
    if numbers.misses:
        calls += f" ({_count(numbers.misses)} not recorded)"
    return (
        _NOTHING if numbers.score is None else f"{numbers.score:.2f}",
        _count(numbers.rounds),
        calls,
        _count(numbers.tokens),
        _NOTHING if numbers.cost_usd is None else f"${numbers.cost_usd:.4f}",
        _time(numbers.latency_ms),
    )


def as_json(comparison: Comparison) -> dict[str, Any]:
    """Return the whole comparison, for programs."""
    return {
        "plans": list(comparison.plans),
        "times": comparison.times,
        "questions": [
            {
                "id": question.id,
                "query": question.query,
                "expected": question.expected.model_dump(mode="json", exclude_defaults=True)
                if question.expected
                else None,
                "cells": {cell.plan: _cell(cell) for cell in comparison.of_question(question)},
            }
            for question in comparison.questions
        ],
        "totals": {plan: _totals(totals(comparison, plan)) for plan in comparison.plans},
    }


def _cell_name(cell: Cell) -> tuple[str, str, str]:
    id = cell.question.id
    shown = id if len(id) <= _QUESTION_CHARACTERS else f"{id[: _QUESTION_CHARACTERS - 1]}…"
    return shown, cell.plan, cell.status


def _cell(cell: Cell) -> dict[str, Any]:
    return {"status": cell.status, **vars(cell.numbers), "runs": [_run(run) for run in cell.runs]}


def _run(run: Run) -> dict[str, Any]:
    return {
        "error": run.error,
        "response": run.response.model_dump(mode="json") if run.response else None,
        "scores": [{"name": one.name, "score": one.score, "note": one.note} for one in run.judgements],
    }


def _totals(sums: Totals) -> dict[str, Any]:
    return {
        "complete": sums.answered,
        "asked": sums.questions,
        "sums": vars(sums.sums),
        "medians": vars(sums.medians),
    }


def _count(number: float | None) -> str:
    if number is None:
        return _NOTHING
    return f"{number:,.0f}" if number == int(number) else f"{number:,.1f}"


def _time(milliseconds: float | None) -> str:
    if milliseconds is None:
        return _NOTHING
    return f"{milliseconds:,.0f} ms" if milliseconds < 10_000 else f"{milliseconds / 1000:,.1f} s"
