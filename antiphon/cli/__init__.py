"""The command line: `antiphon`. One file per group of commands."""

from importlib.metadata import PackageNotFoundError, version
from typing import Annotated

import typer
from antiphon_shared.process import logs
from antiphon_shared.process.import_path import current_directory_last
from antiphon_shared.redaction.secret_values import secret_values

from antiphon.cli import (
    ask,
    breakers,
    dead,
    events,
    grants,
    metrics,
    processes,
    recording,
    redis_acl,
    replay,
    sessions,
    settings,
    status,
    tools,
)
from antiphon.cli.output import have_standard_streams, write

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Hard questions answered in rounds, by five programs that answer each other.\n\n"
    'Begin with: antiphon ask "Which course discusses idempotency keys?" --tools antiphon.examples.courses\n\n'
    "Then with tools of your own (docs/tutorial.md): antiphon ask ... --tools MODULE runs everything for one question; "
    "antiphon up --tools MODULE keeps it running over a Redis.",
)


def _show_version(is_wanted: bool) -> None:
    if is_wanted:
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
    have_standard_streams()
    current_directory_last()
    logs.silence("error", secret_values())


app.command()(ask.ask)
app.command()(ask.submit)
app.command()(processes.up)
app.command()(processes.run)
app.command()(status.status)
app.command("health")(status.check_health)
app.command()(metrics.metrics)
app.add_typer(breakers.app, name="breakers")
app.add_typer(sessions.app, name="sessions")
app.add_typer(recording.app, name="recording")
app.add_typer(replay.app, name="replay")
app.add_typer(dead.app, name="dead")
app.add_typer(tools.app, name="tools")
app.add_typer(grants.app, name="grants")
app.add_typer(redis_acl.app, name="redis")
app.add_typer(events.app, name="events")
app.command()(settings.settings)
