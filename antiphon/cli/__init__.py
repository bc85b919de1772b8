"""The command line: `antiphon`. One file per group of commands."""

import os
import sys
from typing import Annotated

import typer
from antiphon_shared.process.import_path import current_directory_last

from antiphon.cli.on_demand import on_demand
from antiphon.cli.output import write

COMMANDS = {
    "ask": "antiphon.cli.ask:ask",
    "submit": "antiphon.cli.ask:submit",
    "up": "antiphon.cli.processes:up",
    "run": "antiphon.cli.processes:run",
    "status": "antiphon.cli.status:status",
    "health": "antiphon.cli.status:check_health",
    "metrics": "antiphon.cli.metrics:metrics",
    "breakers": "antiphon.cli.breakers:app",
    "sessions": "antiphon.cli.sessions:app",
    "recording": "antiphon.cli.recording:app",
    "replay": "antiphon.cli.replay:app",
    "dead": "antiphon.cli.dead:app",
    "tools": "antiphon.cli.tools:app",
    "workflows": "antiphon.cli.workflows:app",
    "recipes": "antiphon.cli.recipes:app",
    "grants": "antiphon.cli.grants:app",
    "redis": "antiphon.cli.redis_acl:app",
    "events": "antiphon.cli.events:app",
    "settings": "antiphon.cli.settings:settings",
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
