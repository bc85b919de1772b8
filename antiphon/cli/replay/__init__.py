"""`antiphon replay`: what can be done with recordings. One file per verb."""

import typer

from antiphon.cli.replay.call import call
from antiphon.cli.replay.compare import compare
from antiphon.cli.replay.context import context
from antiphon.cli.replay.diff import diff
from antiphon.cli.replay.fork import fork
from antiphon.cli.replay.rerun import rerun
from antiphon.cli.replay.update import update
from antiphon.cli.replay.verify import verify

app = typer.Typer(
    no_args_is_help=True, help="Hold recorded sessions against today's code, and go on from them."
)

app.command()(verify)
app.command()(fork)
app.command()(call)
app.command()(context)
app.command()(update)
app.command()(diff)
app.command()(compare)
app.command()(rerun)
