"""`antiphon workflows run`: begin a run, follow it node by node, and print its output."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from antiphon_shared.bus.redis_bus import Bus
from antiphon_shared.events.session import Response
from antiphon_shared.process.ids import new_id
from antiphon_shared.process.settings import PipelineSettings, load
from antiphon_shared.workflows.specification import Specification

from antiphon import workflows
from antiphon.cli import event_lines
from antiphon.cli.dialogue import is_terminal
from antiphon.cli.input_files import read_grant
from antiphon.cli.output import (
    EXIT_DONE,
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    Json,
    UsageError,
    print_json,
    run,
    stderr,
    write,
)
from antiphon.cli.pipelines import cancelled, client_of, command_of, introduce
from antiphon.cli.query_options import GrantOption, Model, Scopes, ToolModules
from antiphon.cli.workflows.dialogue import RunDialogue
from antiphon.cli.workflows.params import OutputOf, UnfitValue, read_params
from antiphon.cli.workflows.progress import show_run
from antiphon.cli.workflows.sources import find_in, find_workflow, published_in
from antiphon.client import Antiphon
from antiphon.errors import StillRunning
from antiphon.submission import checked_session_id

NO_TOOLS = "No tools: a workflow that calls tools cannot start. Name them with --tools MODULE."


Files = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="[FILE...]",
        help="Workflow files. Default: the published workflows; in a private pipeline, ANTIPHON_WORKFLOWS.",
    ),
]
TypedParams = Annotated[
    list[str] | None,
    typer.Option(
        "--param",
        metavar="NAME=VALUE",
        help="A param: plain text for type str, else JSON; repeatable. @RUN_ID.path takes a value "
        "from the output of an earlier run; use @{RUN_ID}.path if the id contains dots, and @@ "
        "for a text that begins with @.",
    ),
]
ParamsFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="A JSON or YAML file with params by name; --param overrides it."),
]
RunId = Annotated[
    str | None,
    typer.Option(help="Your own id. The same workflow and params with the same id are one run."),
]
Detach = Annotated[bool, typer.Option("--detach", help="Print the run's id without waiting for its end.")]
Timeout = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS", min=0.0, help="The time to wait for the end; the run continues after it."
    ),
]


def run_workflow(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of the workflow.")],
    files: Files = None,
    *,
    param: TypedParams = None,
    params: ParamsFile = None,
    run_id: RunId = None,
    tools: ToolModules = None,
    model: Model = None,
    scope: Scopes = None,
    grant: GrantOption = None,
    detach: Detach = False,
    timeout: Timeout = None,
    json: Json = False,
) -> None:
    """Run a workflow, and wait for its end.

    It uses the running pipeline when ANTIPHON_REDIS_URL is set. Otherwise it runs a private pipeline for this run.

    The output goes to stdout as JSON, with --json the whole response; progress goes to stderr, node by node. If the
    run waits for a person, you are asked at a terminal; otherwise the command to answer with is shown. After Ctrl-C a
    run in a running pipeline continues, and a run in a private pipeline is cancelled.

    Exit codes: 0 completed; 1 another end, or still running after --timeout; 2 usage error, or an invalid param; 3 a
    file is unreadable, or cannot connect to Redis; 130 interrupted.

    \b
    antiphon workflows run book_trip travel.yaml --tools examples.travel --scope read --scope write --param ...
    antiphon workflows run book_trip --params trip.json --param nights=3
    id=$(antiphon workflows run find_flight --param origin=NYC --detach)
    antiphon workflows runs watch $id
    antiphon workflows run book_flight --param flight=@$id.flights.0.id
    """
    options = Options(
        name,
        files or [],
        param or [],
        params,
        str(new_id()) if run_id is None else run_id,
        timeout,
        is_detached=detach,
        is_json=json,
    )
    run(_run(options, grant, partial(client_of, tools, model, scope, NO_TOOLS)))


@dataclass(frozen=True)
class Options:
    """The arguments of the run itself."""

    name: str
    files: list[Path]
    typed: list[str]
    params: Path | None
    run_id: str
    timeout_s: float | None
    is_detached: bool
    is_json: bool

    async def read(self, specification: Specification, output_of: OutputOf) -> dict[str, Any]:
        """Return the params. Raises UsageError."""
        declared = specification.workflows[self.name].params
        return await read_params(declared, self.typed, self.params, output_of)


async def _run(options: Options, grant: str | None, new_client: Callable[[], Antiphon]) -> int:
    checked_session_id(options.run_id, "--run-id")
    grant, settings = read_grant(grant), load(PipelineSettings)
    specification: Specification | None = None
    own_params: dict[str, Any] | None = None
    if options.files or settings.redis_url is None:
        specification = _specification(options, settings)
    if settings.redis_url is None:
        if options.is_detached:
            raise UsageError(
                "--detach: a private pipeline ends with this command.",
                hint="Set ANTIPHON_REDIS_URL to use a running pipeline.",
            )
        assert specification is not None, "it was read from files"
        own_params = await options.read(specification, _no_earlier_runs)
    async with new_client() as antiphon:
        params = own_params
        if params is None:
            bus = antiphon.open_bus()
            read = specification or find_in(await published_in(bus), options.name)[0]
            params = await options.read(read, lambda id: _output(bus, id))
        if not options.is_detached:
            await introduce(antiphon, bool(grant))
        begun = workflows.start(
            antiphon, options.name, params, source=specification, run_id=options.run_id, grant=grant
        )
        if options.is_detached:
            show_id(await begun, options.is_json)
            return EXIT_DONE
        return await _to_its_end(antiphon, options, begun)


async def _to_its_end(antiphon: Antiphon, options: Options, begun: Any) -> int:
    dialogue = RunDialogue(antiphon) if is_terminal() else None
    try:
        async with asyncio.timeout(options.timeout_s):
            await begun
            return await follow(antiphon, options.run_id, options.is_json, dialogue)
    except TimeoutError:
        if antiphon.storage:
            return await _cancel(antiphon, options, "it took longer than --timeout", EXIT_FAILED)
        raise StillRunning(
            f"run {options.run_id} has not ended within {options.timeout_s:g} s; it continues.",
            hint=f"`antiphon workflows runs watch {options.run_id}` waits for its end.",
        ) from None
    except asyncio.CancelledError:
        if antiphon.storage:
            return await _cancel(antiphon, options, "the user pressed Ctrl-C", EXIT_INTERRUPTED)
        stderr().print(f"\nRun {options.run_id} continues.")
        stderr().print(f"    to watch:  antiphon workflows runs watch {options.run_id}")
        stderr().print(f"    to cancel: antiphon workflows runs cancel {options.run_id}")
        return EXIT_INTERRUPTED
    finally:
        if dialogue is not None:
            dialogue.stop()


async def follow(antiphon: Antiphon, run_id: str, is_json: bool, dialogue: RunDialogue | None = None) -> int:
    """Show a run to its end, then its output; return the exit code."""
    async with aclosing(antiphon.stream(run_id)) as stream:
        await show_run(stream, command_of(antiphon), dialogue)
    return show_end(await antiphon.result(run_id), is_json, is_stored=not antiphon.storage)


def show_end(response: Response, is_json: bool, *, is_stored: bool) -> int:
    """Print a run's output to stdout, and the details to stderr; return the exit code.

    `is_stored`: whether the run outlives the command, so that it can be resumed.
    """
    is_completed = response.run is not None and response.run.status == "completed"
    if is_json:
        print_json(response)
    elif is_completed and response.result is not None:
        print_json(response.result, is_indented=True)
    else:
        write(response.answer.rstrip("\n") + "\n")
    for line in event_lines.uncertainty_lines(response.uncertainty) if not is_json else []:
        stderr().print(line, style="yellow")
    if is_stored and response.run is not None and response.run.is_resumable:
        stderr().print(
            f"It can be resumed: antiphon workflows runs resume {response.session_id}", style="dim"
        )
    stderr().print(event_lines.statistics(response), style="dim")
    return EXIT_DONE if is_completed else EXIT_FAILED


def show_id(run_id: str, is_json: bool) -> None:
    """Print the id of a run that has begun."""
    if is_json:
        print_json({"run_id": run_id})
    else:
        write(f"{run_id}\n")


async def _cancel(antiphon: Antiphon, options: Options, why: str, code: int) -> int:
    """End a run of a private pipeline; show its end, if it comes soon."""
    notice = f"\nCancelling: {why}. Press Ctrl-C again to exit at once."
    response = await cancelled(antiphon, options.run_id, why, notice)
    if response is not None:
        show_end(response, options.is_json, is_stored=False)
    return code


async def _output(bus: Bus, run_id: str) -> Any:
    """Return the output of an earlier run. Raises UnfitValue."""
    response = await bus.session(run_id).response()
    if response is None:
        raise UnfitValue(f"@{run_id}: no finished run has this id")
    if response.status != "complete":
        ended = response.run.status if response.run is not None else response.status
        raise UnfitValue(f"@{run_id}: the run has no output, it ended as {ended}")
    if response.result is None:
        raise UnfitValue(f"@{run_id}: the answer of the run contains no output")
    return response.result


async def _no_earlier_runs(run_id: str) -> Any:
    raise UnfitValue(f"@{run_id}: a private pipeline has no earlier runs; set ANTIPHON_REDIS_URL")


def _specification(options: Options, settings: PipelineSettings) -> Specification:
    """Return the specification of a file; end the command where it has errors, or no such workflow."""
    files = options.files or [Path(one) for one in settings.workflows]
    if not files:
        raise UsageError(
            "no workflows are available.",
            hint="Name a file, set ANTIPHON_WORKFLOWS, or set ANTIPHON_REDIS_URL to use the "
            "published workflows.",
        )
    return find_workflow(options.name, files)[0]
