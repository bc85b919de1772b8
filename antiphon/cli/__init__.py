"""The command line: `antiphon`. One file per group of commands."""

import os
import sys
from typing import Annotated

import typer
from antiphon_shared.process.import_path import current_directory_last

from antiphon.cli.on_demand import on_demand

COMMANDS = {
    "ask": ("antiphon.cli.ask:ask", "Ask a question and wait for the answer."),
    "submit": (
        "antiphon.cli.ask:submit",
        "Submit a question to the running pipeline, and print the session's id without waiting for the answer.",
    ),
    "up": (
        "antiphon.cli.processes:up",
        "Run the whole pipeline: one process per component, or all of them in one, restarted when it "
        "ends unexpectedly.",
    ),
    "run": ("antiphon.cli.processes:run", "Run one component until SIGTERM or Ctrl-C."),
    "status": (
        "antiphon.cli.status:status",
        "Show the queued work of the pipeline, and the workers that are alive.",
    ),
    "health": ("antiphon.cli.status:check_health", "Check that a worker of COMPONENT is alive."),
    "metrics": (
        "antiphon.cli.metrics:metrics",
        "Print the state of the pipeline in Prometheus's text format, or serve it over HTTP.",
    ),
    "breakers": (
        "antiphon.cli.breakers:app",
        "Show, open and close circuit breakers; while one is open, its tool or model is not called.",
    ),
    "sessions": (
        "antiphon.cli.sessions:app",
        "List, watch and cancel sessions, approve their calls, and answer their questions.",
    ),
    "recording": (
        "antiphon.cli.recording:app",
        "Export sessions to files, check the files, and import them.",
    ),
    "replay": (
        "antiphon.cli.replay:app",
        "Compare recorded sessions with the current code, and continue from them.",
    ),
    "dead": (
        "antiphon.cli.dead:app",
        "List, requeue and delete dead letters: messages set aside after their last delivery.",
    ),
    "tools": ("antiphon.cli.tools:app", "List, show and check tools, the functions that a model can call."),
    "workflows": (
        "antiphon.cli.workflows:app",
        "Check, publish and run workflows: files that define the order of tool calls.",
    ),
    "recipes": (
        "antiphon.cli.recipes:app",
        "Learn workflows from successful sessions, and manage these recipes.",
    ),
    "grants": ("antiphon.cli.grants:app", "Create and inspect grants: signed permissions of a session."),
    "redis": ("antiphon.cli.redis_acl:app", "Prepare the Redis server of a deployment."),
    "events": ("antiphon.cli.events:app", "Describe the messages that the components exchange."),
    "settings": (
        "antiphon.cli.settings:settings",
        "List every setting: environment variable, accepted values, default and meaning.",
    ),
}

app = typer.Typer(
    cls=on_demand(COMMANDS),
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Answer hard questions in several reasoning rounds. Five programs exchange events over "
    "Redis.\n\n"
    'Start with: antiphon ask "Which course discusses idempotency keys?" --tools '
    "antiphon.examples.courses\n\n"
    "Then use tools of your own (docs/tutorial.md): antiphon ask ... --tools MODULE runs the "
    "whole pipeline for one question; antiphon up --tools MODULE keeps it running on a Redis "
    "server.",
)


def _show_version(is_requested: bool) -> None:
    if is_requested:
        from importlib.metadata import PackageNotFoundError, version

        from antiphon.cli.output import write  # imports pydantic, which takes half of the time of a help

        try:
            write(f"antiphon {version('antiphon')}\n")
        except PackageNotFoundError:
            write("antiphon, not installed: run from its sources\n")
        raise typer.Exit


@app.callback()
def _begin(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    _have_standard_streams()
    current_directory_last()


def _have_standard_streams() -> None:
    """Open /dev/null if this program was started without standard input, output or errors.

    Otherwise every print would fail, and a connection could get the number of a closed stream.
    """
    # In this order, as the lowest free number is the next one.
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115  # open until the program ends
