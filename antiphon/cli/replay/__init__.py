"""`antiphon replay`: what can be done with recordings. One file per verb."""

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

VERBS = ("verify", "update", "diff", "context", "fork", "call", "rerun", "compare")


class Verbs(TyperGroup):
    """Each verb from its own file, read when it is asked for: most commands need none of the code that they replay."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in VERBS:
            return None
        verb = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
        verb.command(cmd_name)(getattr(import_module(f"{__name__}.{cmd_name}"), cmd_name))
        return get_command(verb)


app = typer.Typer(
    cls=Verbs,
    no_args_is_help=True,
    help="Hold recorded sessions against today's code, and go on from them.",
)


@app.callback()
def _group() -> None:
    """Typer takes no group without one."""
