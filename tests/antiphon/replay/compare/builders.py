"""Answers and comparisons, made up."""

from typing import Any

from antiphon_shared.events.session import Response, Source
from antiphon_shared.values import Usage

from antiphon.replay.compare.cells import Cell, Comparison, Judgement, Plan, Run
from antiphon.replay.compare.questions import Question


def a_response(answer: str = "It takes 42 minutes [1].", sources: int = 1, **fields: Any) -> Response:
    known: dict[str, Any] = {
        "session_id": "s1",
        "status": "complete",
        "answer": answer,
        "termination_reason": "natural_completion",
        "sources": tuple(
            Source(id=f"F{n}", number=n, tool="look_up", call_id="c1", title="", excerpt="")
            for n in range(1, sources + 1)
        ),
        "rounds_used": 2,
        "tool_calls_used": 1,
        "usage": Usage(input_tokens=80, output_tokens=20, cost_usd=0.01),
        "duration_ms": 1_000,
    }
    return Response(**known | fields)


def a_run(score: float | None = None, response: Response | None = None, **fields: Any) -> Run:
    judgements = () if score is None else (Judgement("contains", score),)
    return Run(response or a_response(), judgements=judgements, **fields)


def a_comparison(*cells: tuple[str, Plan, tuple[Run, ...]], query: str = "How long?") -> Comparison:
    ids = dict.fromkeys(id for id, _, _ in cells)
    questions = {id: Question(id, query) for id in ids}
    return Comparison(
        tuple(questions.values()),
        tuple(dict.fromkeys(plan for _, plan, _ in cells)),
        tuple(Cell(questions[id], plan, runs) for id, plan, runs in cells),
        times=max(len(runs) for _, _, runs in cells),
    )
