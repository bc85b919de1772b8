"""Runs the tasks without enforcement and with steps, and compares the results."""

import asyncio
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from antiphon_shared.events.session import Response
from antiphon_shared.output.step_file import read_steps
from antiphon_shared.process.logs import silence

from antiphon import Antiphon
from benchmarks.steps.model import ErringModel
from benchmarks.steps.tasks import Task, drawn
from examples.assembly.checks import with_defaults
from examples.assembly.configuration import catalogue
from examples.assembly.database import DATABASE
from examples.assembly.lines import Line
from tests.mutants.result import wilson

STEPS = Path("examples/assembly/steps.yaml")
_AT_ONCE = 8
_ROUNDS_MAX = 60

TASKS, SEED = 60, 1

Row = tuple[str, str, str]
"""The name of a figure, its value with all tools and nothing enforced, and its value with steps."""


@dataclass(frozen=True)
class Outcome:
    """One task after its session has ended."""

    response: Response
    is_right: bool
    """The newest deployment of the line is the line that was wanted, and the answer says so."""
    deployments: int
    refusals: int

    @property
    def is_lie(self) -> bool:
        return self.response.status == "complete" and not self.is_right


def measure(number: int = TASKS, seed: int = SEED) -> list[Row]:
    """Return a row for each figure, over that many tasks drawn by the seed."""
    tasks = drawn(number, seed)
    steps = read_steps(STEPS.read_text())
    silence("critical")  # failed calls are what is measured
    free = {
        "tools": [tool for step in steps for tool in step.tools],
        "max_rounds": _ROUNDS_MAX,
    }
    every = [
        asyncio.run(run(tasks, seed, options))
        for options in (free, {"steps": [step.model_dump(exclude_none=True) for step in steps]})
    ]

    def row(name: str, figure: Callable[[list[Outcome]], str]) -> Row:
        without, with_steps = map(figure, every)
        return (name, without, with_steps)

    return [
        row("right results", lambda them: share([one.is_right for one in them])),
        row("says complete, and is not right", lambda them: share([one.is_lie for one in them])),
        row(
            "deployments beyond the first", lambda them: f"{sum(max(0, one.deployments - 1) for one in them)}"
        ),
        row("refusals in a session", lambda them: f"{fmean(one.refusals for one in them):.1f}"),
        row("rounds of a session", lambda them: f"{fmean(one.response.rounds_used for one in them):.1f}"),
        row(
            "tokens of a session",
            lambda them: f"{fmean(one.response.usage.total_tokens for one in them):.0f}",
        ),
    ]


async def run(tasks: Sequence[Task], seed: int, options: dict[str, Any]) -> list[Outcome]:
    """Return the outcome of each task, with a pipeline and a database of their own."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ASSEMBLY_DATABASE"] = f"{folder}/assembly.sqlite3"
        model = ErringModel(tasks, seed)
        limit = asyncio.Semaphore(_AT_ONCE)

        async def outcome(antiphon: Antiphon, task: Task) -> Outcome:
            async with limit:
                response = await antiphon.ask(
                    task.question, max_tool_calls=200, max_tokens=5_000_000, **options
                )
            rows = _deployments(task.line.name)
            is_there = bool(rows) and Line.model_validate_json(rows[-1]) == with_defaults(
                task.line, catalogue()
            )
            return Outcome(
                response=response,
                is_right=is_there and response.status == "complete",
                deployments=len(rows),
                refusals=model.works[task.line.name].refusals,
            )

        async with Antiphon.embedded(
            ["examples.assembly"], model=model, scopes=["read", "write"]
        ) as antiphon:
            return await asyncio.gather(*(outcome(antiphon, task) for task in tasks))


def share(them: Sequence[bool]) -> str:
    """Return a share in percent with its 95 % interval."""
    low, high = wilson(sum(them), len(them))
    return f"{fmean(them):.0%} ({low:.0%} to {high:.0%})"


def _deployments(name: str) -> list[str]:
    with DATABASE.reading() as connection:
        rows = connection.execute(
            "SELECT line FROM deployments WHERE name = ? ORDER BY version", (name,)
        ).fetchall()
    return [row["line"] for row in rows]
