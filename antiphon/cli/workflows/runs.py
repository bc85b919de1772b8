"""`antiphon workflows runs`: list, show, watch, answer, settle, resume, cancel."""

from contextlib import aclosing
from typing import Annotated

import typer
from antiphon_shared.workflows.params import Param

from antiphon import workflows
from antiphon.cli.input_files import json_of
from antiphon.cli.live import print_events
from antiphon.cli.options import Reason
from antiphon.cli.output import (
    EXIT_DONE,
    EXIT_FAILED,
    Json,
    UsageError,
    command,
    print_json,
    print_table,
    stderr,
    stdout,
    write,
)
from antiphon.cli.printer import one_line
from antiphon.cli.unconfirmed import print_unconfirmed
from antiphon.cli.workflows.params import read_values
from antiphon.cli.workflows.run import follow
from antiphon.cli.workflows.view import show_view
from antiphon.client import Antiphon
from antiphon.observe import connected
from antiphon.workflows.run import requested_input
from antiphon.workflows.run_view import run_view
from antiphon.workflows.run_view import runs as newest_runs

app = typer.Typer(
    no_args_is_help=True,
    help="List, watch and cancel workflow runs, answer their requests, settle their writes, and resume them.",
)
RunId = Annotated[str, typer.Argument(metavar="RUN", help="The id of the run.")]
By = Annotated[str, typer.Option(metavar="NAME", help="Your name, for the record.")]
Node = Annotated[
    str, typer.Option("--node", metavar="PATH", help="The path of the waiting node, if several wait.")
]


@app.command("list")
@command
async def list_runs(
    limit: Annotated[
        int, typer.Option(min=1, max=10_000, help="The limit of runs shown, the newest first.")
    ] = 20,
    json: Json = False,
) -> None:
    """List the newest runs with their status: queued, running, waiting for a person, or their end."""
    async with connected() as bus:
        runs = await newest_runs(bus, limit)
    if json:
        print_json(runs)
        return
    rows = [
        (
            one.run_id,
            one.workflow,
            f"{one.opened:%Y-%m-%d %H:%M:%S}",
            one.status,
            ", ".join(one.waits_at[:5]),
        )
        for one in runs
    ]
    print_table(("run", "workflow", "opened (UTC)", "status", "waits at"), rows, "No runs.")


@app.command()
@command
async def show(
    run_id: RunId,
    token: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="Print the token of the waiting node instead. Anyone who has the token can answer once.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Show a run: its params, nodes and remaining writes, and the person's input that it waits for.

    \b
    antiphon workflows runs show $id
    antiphon workflows runs show $id --token ask_traveller
    """
    async with Antiphon() as antiphon:
        if token is not None:
            answer_token = await workflows.token_of(antiphon, run_id, token)
            print_json({"run_id": run_id, "token": answer_token}) if json else write(f"{answer_token}\n")
            return
        view = await run_view(antiphon.open_bus(), run_id)
    print_json(view) if json else show_view(view)


@app.command()
@command
async def watch(run_id: RunId, json: Json = False) -> int:
    """Show the progress of a run until its end, and print its output; with --json print one event per line.

    Exit codes: 0 completed; 1 another end; 2 unknown run.
    """
    async with Antiphon() as antiphon:
        await run_view(antiphon.open_bus(), run_id)
        if not json:
            return await follow(antiphon, run_id, is_json=False)
        async with aclosing(antiphon.stream(run_id)) as stream:
            await print_events(stream)
        response = await antiphon.result(run_id)
    return EXIT_DONE if response.run and response.run.status == "completed" else EXIT_FAILED


@app.command()
@command
async def answer(
    run_id: RunId,
    values: Annotated[
        list[str],
        typer.Argument(metavar="NAME=VALUE...", help="The values: plain text for type str, else JSON."),
    ],
    node: Node = "",
    token: Annotated[
        str | None, typer.Option(metavar="TOKEN", help="The token of the waiting node, if you received one.")
    ] = None,
    by: By = "",
    json: Json = False,
) -> int:
    """Send a run the values that it waits for, and wait until they are accepted or refused, at most 5 s.

    Exit codes: 0 accepted; 1 refused, with the reason, or the run is not waiting for values, or another person's came
    first; 2 a value does not match its type, or unknown run; 4 sent, but not confirmed: `is_accepted` is null.

    \b
    antiphon workflows runs show $id              # the requested values
    antiphon workflows runs answer $id agreed=true seat=aisle --by ann
    """
    async with Antiphon() as antiphon:
        request = await requested_input(antiphon, run_id, node)
        expects = {name: Param.model_validate(one) for name, one in request.expects.items()}
        parsed = read_values(expects, values)
        given = await workflows.give(antiphon, run_id, parsed, node=request.node, token=token, by=by)
    if json:
        is_accepted = not given.refused if given.is_confirmed else None
        print_json({"run_id": run_id, "node": given, "is_accepted": is_accepted, "because": given.refused})
    elif given.is_confirmed and not given.refused:
        stdout().print(f"Accepted at {one_line(given)} of {run_id}.")
    if not given.is_confirmed:
        return print_unconfirmed(f"Sent the values for {one_line(given)} of {run_id}", is_json=json)
    if given.refused:
        stderr().print(f"antiphon: {one_line(given)} refused it: {one_line(given.refused)}.", style="red")
    return EXIT_FAILED if given.refused else EXIT_DONE


@app.command()
@command
async def settle(
    run_id: RunId,
    node: Annotated[str, typer.Argument(metavar="NODE", help="The path of the node that called the write.")],
    *,
    happened: Annotated[
        bool | None,
        typer.Option("--happened/--did-not-happen", help="The outcome of the write; required."),
    ] = None,
    result: Annotated[
        str | None, typer.Option(metavar="JSON", help="With --happened: the result of the call.")
    ] = None,
    by: By = "",
    reason: Reason = "",
    json: Json = False,
) -> None:
    """Report whether a write of unknown outcome took effect, so that the run can be resumed.

    Check it in the target system first: after --did-not-happen, a resumed run repeats the write.

    \b
    antiphon workflows runs settle $id book --happened --result '{"id": "B7"}' --by ann
    antiphon workflows runs settle $id book --did-not-happen --reason "not in the ledger"
    antiphon workflows runs resume $id
    """
    if happened is None:
        raise UsageError("the outcome is missing.", hint="Pass --happened or --did-not-happen.")
    if result is not None and not happened:
        raise UsageError("--result cannot be combined with --did-not-happen.")
    value = None if result is None else json_of(result, "--result")
    async with Antiphon() as antiphon:
        await workflows.settle(antiphon, run_id, node, happened, result=value, by=by, reason=reason)
    if json:
        print_json({"run_id": run_id, "node": node, "happened": happened})
        return
    outcome = "happened" if happened else "did not happen"
    stdout().print(f"Settled: {one_line(node)} {outcome}.")
    stderr().print(f"    to resume: antiphon workflows runs resume {run_id}", style="dim")


@app.command()
@command
async def resume(run_id: RunId, by: By = "", reason: Reason = "", json: Json = False) -> None:
    """Resume a run that failed, timed out or needs review, if none of its writes was undone.

    Completed nodes are not repeated; failed nodes and nodes that were not reached run.

    \b
    antiphon workflows runs resume $id && antiphon workflows runs watch $id
    """
    async with Antiphon() as antiphon:
        await workflows.resume(antiphon, run_id, by=by, reason=reason)
    if json:
        print_json({"run_id": run_id, "resuming": True})
        return
    stdout().print(f"Resuming {run_id}.")
    stderr().print(f"    to watch: antiphon workflows runs watch {run_id}", style="dim")


@app.command()
@command
async def cancel(run_id: RunId, reason: Reason = "", json: Json = False) -> None:
    """Cancel a run: stop its running calls where possible, and compensate its completed writes."""
    async with Antiphon() as antiphon:
        await run_view(antiphon.open_bus(), run_id)
        is_accepted = await antiphon.cancel(run_id, reason)
    if json:
        print_json({"run_id": run_id, "cancelling": is_accepted})
    elif is_accepted:
        stdout().print(f"Cancelling {run_id}.")
    else:
        stderr().print(f"Run {run_id} had already ended.")
