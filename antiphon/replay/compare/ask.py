"""The shell of a comparison: it asks every question with every plan, by default one after another."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from antiphon_shared.events.session import Response
from antiphon_shared.process.errors import AntiphonError
from antiphon_shared.process.settings import load

from antiphon.client import Antiphon
from antiphon.linear import OneProcessPlan, ask_linear
from antiphon.replay.compare.cells import Cell, Comparison, Plan, Run
from antiphon.replay.compare.questions import Question
from antiphon.replay.compare.scoring import Rubric, judged
from antiphon.submission import Options
from coordinator.settings import CoordinatorSettings
from reasoning_engine.settings import Provider

_PATIENCE_S = 30.0
"""The time to wait beyond the deadline of a question, in seconds."""
_LOOKS_MAX, _LOOK_EVERY_S = 1_000, 0.01


@dataclass(frozen=True)
class AskOptions:
    """The options for asking questions."""

    tools: Sequence[Any] | None = None
    """Real tools; None for the tools of each question's recording, which answer as recorded."""
    scopes: Sequence[str] | None = None
    model: Provider | None = None
    model_id: str = ""
    times: int = 1
    concurrency: int = 1
    rubrics: tuple[Rubric, ...] = ()


OnCell = Callable[[Cell], None]
"""A callback for each finished cell."""


async def compare(
    questions: Sequence[Question], plans: Sequence[Plan], how: AskOptions, on_cell: OnCell
) -> Comparison:
    """Ask every question with every plan. An error is stored in its cell, and does not end the comparison."""
    is_recorded = any(question.recorded for question in questions)
    recorded: tuple[Plan, ...] = ("recorded",) if is_recorded else ()
    every = (*recorded, *dict.fromkeys(plans))
    slots = asyncio.Semaphore(how.concurrency)

    async def one(question: Question) -> list[Cell]:
        async with slots:
            return await _row(question, every, how, on_cell)

    async with asyncio.TaskGroup() as group:
        rows = [group.create_task(one(question)) for question in questions]
    cells = [cell for row in rows for cell in row.result()]
    return Comparison(tuple(questions), every, tuple(cells), how.times)


async def _row(question: Question, plans: Iterable[Plan], how: AskOptions, on_cell: OnCell) -> list[Cell]:
    cells = []
    for plan in plans:
        if plan == "recorded":
            runs = [Run(question.recorded)] if question.recorded else []
        else:
            runs = await _runs(question, plan, how)
        if runs:
            scored = [
                replace(run, judgements=await judged(question, run.response, how.rubrics)) for run in runs
            ]
            cells.append(Cell(question, plan, tuple(scored)))
            on_cell(cells[-1])
    return cells


async def _runs(question: Question, plan: Plan, how: AskOptions) -> list[Run]:
    """Return the answers of a plan to a question; an error replaces a missing answer."""
    runs: list[Run] = []
    try:
        async with _asking(question, plan, how) as ask:
            while len(runs) < how.times:
                runs.append(await _run(question, ask))
    except AntiphonError as error:
        runs.append(Run(None, str(error)))
    return runs


async def _run(question: Question, ask: Callable[[], Any]) -> Run:
    if question.served is not None:
        question.served.begin()
    try:
        response: Response = await ask()
    except AntiphonError as error:
        return Run(None, str(error))
    return Run(response, misses=question.served.misses if question.served else 0)


@asynccontextmanager
async def _asking(question: Question, plan: Plan, how: AskOptions) -> AsyncIterator[Callable[[], Any]]:
    """Yield a function that asks the question once. The pipeline of `rounds` runs during the whole block."""
    tools = list(how.tools if how.tools is not None else question.served.tools if question.served else ())
    options = Options(**question.options)
    if how.model_id:
        options["model"] = how.model_id
    if plan != "rounds":
        one_process: OneProcessPlan = "single" if plan == "single" else "linear"

        async def ask_here() -> Response:
            return await ask_linear(
                question.query, tools, model=how.model, scopes=how.scopes, plan=one_process, options=options
            )

        yield ask_here
        return
    async with Antiphon.embedded(tools, model=how.model, scopes=how.scopes) as antiphon:
        await _warm(antiphon)
        deadline_s = options.get("deadline_s") or load(CoordinatorSettings).deadline_s
        timeout_s = deadline_s + _PATIENCE_S
        yield lambda: antiphon.ask(question.query, timeout_s=timeout_s, **options)


async def _warm(antiphon: Antiphon) -> None:
    """Wait until the tools are published, as this delay must not count for the first session."""
    for _ in range(_LOOKS_MAX):
        if await antiphon.open_bus().current_catalogue() is not None:
            return
        await asyncio.sleep(_LOOK_EVERY_S)
