"""`antiphon replay compare`."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, get_args

import typer

from antiphon.cli.output import (
    EXIT_DONE,
    EXIT_FAILED,
    Json,
    UsageError,
    command,
    print_json,
    print_table,
    stderr,
    write_file,
)
from antiphon.cli.pipelines import split_modules
from antiphon.cli.printer import one_line
from antiphon.cli.query_options import Scopes
from antiphon.embedded import PROVIDERS, registry_of
from antiphon.recording.recording_paths import find_recordings
from antiphon.replay.compare.ask import AskOptions
from antiphon.replay.compare.ask import compare as compare_plans
from antiphon.replay.compare.cells import PLANS, Cell, Comparison, Plan, totals
from antiphon.replay.compare.page import page
from antiphon.replay.compare.questions import Question, expecting, of_file, of_recording
from antiphon.replay.compare.scoring import load_rubric
from antiphon.replay.compare.table import HEADINGS, as_json, rows

_ERROR_CHARACTERS_MAX = 200


OptionalPaths = Annotated[
    list[Path] | None, typer.Argument(metavar="[PATH]...", help="Recordings, or folders of them.")
]
PlanNames = Annotated[
    list[str] | None,
    typer.Option(help="linear, single or rounds; repeatable. Default: all three."),
]
Queries = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help='A file with more questions, one per line: plain text or {"query": ..., "id": '
        '..., "expected": {...}}.',
    ),
]
Expected = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help='A file with the right answers, one per line: {"id": ..., "expected": {"contains": [...]}}. The id '
        "is a recording's file name without its suffix, or its session.",
    ),
]
Rubrics = Annotated[
    list[str] | None,
    typer.Option(metavar="MODULE:FUNCTION", help="Your own function that scores answers; repeatable."),
]
RealTools = Annotated[
    list[str] | None,
    typer.Option(
        "--tools",
        metavar="MODULE[:NAME]",
        help="Python modules with real tools, separated by commas or repeated. Default: the "
        "recorded tools, which return their recorded results.",
    ),
]
ModelName = Annotated[
    str | None,
    typer.Option(help="offline, anthropic or auto; or the id of a model. Default: the configured model."),
]
Times = Annotated[
    int,
    typer.Option(min=1, max=100, help="The number of times to ask each question; the table shows medians."),
]
Concurrency = Annotated[
    int,
    typer.Option(
        min=1,
        max=64,
        help="The number of questions asked concurrently; more than one makes latencies longer.",
    ),
]
HtmlFile = Annotated[Path | None, typer.Option(metavar="FILE", help="Write an HTML page with all answers.")]
ScoresMin = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[PLAN=]SCORE",
        help="Exit with code 1 if the mean score of this plan, or of any plan without PLAN=, is "
        "lower; from 0 to 1.",
    ),
]


@command
async def compare(
    paths: OptionalPaths = None,
    plan: PlanNames = None,
    *,
    queries: Queries = None,
    expect: Expected = None,
    rubric: Rubrics = None,
    tools: RealTools = None,
    scope: Scopes = None,
    model: ModelName = None,
    times: Times = 1,
    concurrency: Concurrency = 1,
    html: HtmlFile = None,
    fail_under: ScoresMin = None,
    json: Json = False,
) -> int:
    """Ask the same questions with several plans, and compare answers, tokens, cost and time.

    single is one model call without tools; linear is the round loop in one process, with the whole message history;
    rounds is the event-driven pipeline, embedded. The recorded answer is shown with them. Without --tools, tools
    answer from the recording: the same call gets its recorded result, and any other call gets an error.

    Scores range from 0 to 1. An `expected` can contain exact, contains (a list), numeric (a number, or {"value": 42,
    "tolerance": 0.5}) and sources (the least number of cited sources). A rubric is your own function, sync or async,
    that takes any of query, answer, response and expected, and returns a number or a bool.
    Exit codes: 0 done; 1 a score is too low; 2 usage error; 3 a file is unreadable.

    \b
    antiphon replay compare recordings/ --html compared.html
    antiphon replay compare s1.jsonl --plan linear --plan rounds --tools my_tools --times 5
    antiphon replay compare --queries questions.jsonl --tools examples.courses --model offline --json
    antiphon replay compare recordings/ --expect right.jsonl --rubric my_rubrics:is_polite --fail-under rounds=0.9
    """
    chosen = _plans(plan or ())
    bounds = _bounds(fail_under or (), chosen)
    questions = _questions(paths or (), queries, expect)
    how = AskOptions(
        tools=tuple(registry_of(split_modules(tools)).values()) if tools else None,
        scopes=scope,
        model=next((one for one in PROVIDERS if one == model), None),
        model_id="" if model is None or model in PROVIDERS else model,
        times=times,
        concurrency=concurrency,
        rubrics=tuple(map(load_rubric, rubric or ())),
    )
    comparison = await _asked(questions, chosen, how)
    _show(comparison, html, json)
    return _too_low(comparison, bounds)


async def _asked(questions: Sequence[Question], plans: Sequence[Plan], how: AskOptions) -> Comparison:
    """Ask all questions, with a line on stderr for each finished cell."""
    if how.tools is None and any(question.served is None for question in questions):
        stderr().print(
            "No tools: the questions of --queries are asked without any. Add some with --tools MODULE."
        )
    done = _Progress(len(questions) * len(plans) + sum(one.recorded is not None for one in questions))
    return await compare_plans(questions, plans, how, done.tell)


def _show(comparison: Comparison, html: Path | None, is_json: bool) -> None:
    if html is not None:
        write_file(html, page(comparison), "--html")
    if is_json:
        print_json(as_json(comparison))
    else:
        print_table(HEADINGS, rows(comparison), "No questions were asked.")


def _questions(paths: Sequence[Path], queries: Path | None, expect: Path | None) -> list[Question]:
    """Return all questions, each under a unique id. Raises NoRecordings, UsageError, UnreadableEvent."""
    questions = [of_recording(path) for path in find_recordings(paths)]
    questions += of_file(queries) if queries is not None else []
    if not questions:
        raise UsageError("no questions were given.", hint="Name recordings, or pass a file with --queries.")
    seen: Counter[str] = Counter()
    for index, question in enumerate(questions):
        seen[question.id] += 1
        if seen[question.id] > 1:
            questions[index] = replace(question, id=f"{question.id} ({seen[question.id]})")
    return expecting(questions, expect) if expect is not None else questions


def _plans(names: Sequence[str]) -> tuple[Plan, ...]:
    """Return the plans with these names, or all. Raises UsageError."""
    if unknown := [name for name in names if name not in PLANS]:
        raise UsageError(f"--plan: {unknown[0]!r} does not exist. The plans are {', '.join(PLANS)}.")
    return tuple(one for one in PLANS if not names or one in names)


def _bounds(options: Sequence[str], plans: Sequence[Plan]) -> dict[Plan, float]:
    """Return the score that each plan must reach. Raises UsageError."""
    bounds: dict[Plan, float] = {}
    for one in options:
        name, has_name, score = one.rpartition("=")
        meant = [plan for plan in get_args(Plan) if plan == name] if has_name else list(plans)
        try:
            least = float(score)
        except ValueError:
            least = -1.0
        if not meant or not 0 <= least <= 1:
            raise UsageError(f"--fail-under: {one!r} is not a score from 0 to 1, or plan=score.")
        bounds |= dict.fromkeys(meant, least)
    return bounds


def _too_low(comparison: Comparison, bounds: dict[Plan, float]) -> int:
    """Report each plan below its bound; return the exit code."""
    code = EXIT_DONE
    for plan, least in bounds.items():
        score = totals(comparison, plan).sums.score
        if score is None or score < least:
            result = "has no score" if score is None else f"scores {score:.2f}"
            stderr().print(f"{plan} {result}; the required score is {least:g}.", style="red")
            code = EXIT_FAILED
        runs = [run for cell in comparison.of(plan) for run in cell.runs]
        if unscored := sum(any(one.score is None for one in run.judgements) for run in runs):
            answers = f"{unscored} of {len(runs)} answers of {plan}"
            stderr().print(f"{answers} could not be scored because a rubric failed.", style="red")
            code = EXIT_FAILED
    return code


class _Progress:
    """A line on stderr for each finished cell."""

    def __init__(self, cells: int) -> None:
        self._cells, self._printed = cells, 0

    def tell(self, cell: Cell) -> None:
        self._printed += 1
        outcome = one_line(cell.first.error or cell.status, _ERROR_CHARACTERS_MAX)
        line = f"{self._printed}/{self._cells} {cell.plan} {cell.question.id}: {outcome}"
        stderr().print(one_line(line), style="dim" if cell.first.response else "yellow")
        judgements = [one for run in cell.runs for one in run.judgements if one.score is None]
        for name, note in dict.fromkeys((one.name, one.note) for one in judgements):
            stderr().print(f"  {name}: {one_line(note, _ERROR_CHARACTERS_MAX)}", style="yellow")
