"""`antiphon replay`: the operations on recordings. One file per verb."""

import typer

from antiphon.cli.on_demand import on_demand

VERBS = ("verify", "update", "diff", "context", "fork", "call", "rerun", "compare")

app = typer.Typer(
    cls=on_demand({verb: f"{__name__}.{verb}:{verb}" for verb in VERBS}),
    no_args_is_help=True,
    help="Compare recorded sessions with the current code, and continue from them.",
)


@app.callback()
def _group() -> None:
    """Typer takes no group without one."""
