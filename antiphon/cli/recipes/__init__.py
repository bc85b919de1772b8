"""`antiphon recipes`: workflows learned from sessions that succeeded.

learn.py       learn
kept.py        list, show, forget
"""

import typer

from antiphon.cli.on_demand import on_demand

_KEPT = "antiphon.cli.recipes.kept"
COMMANDS = {
    "learn": "antiphon.cli.recipes.learn:learn_recipe",
    "list": f"{_KEPT}:list_recipes",
    "show": f"{_KEPT}:show",
    "forget": f"{_KEPT}:forget",
}

app = typer.Typer(
    cls=on_demand(COMMANDS),
    no_args_is_help=True,
    help="Learn workflows from successful sessions, and manage these recipes.",
)


@app.callback()
def _group() -> None:
    """Typer takes no group without one."""
