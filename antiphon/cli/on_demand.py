"""Commands imported on first use: each needs a part of the program, and most parts are large."""

import gc
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import typer
from antiphon_shared.process.import_path import hidden
from antiphon_shared.text.nearest import did_you_mean
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

Commands = Mapping[str, tuple[str, str]]
"""The commands of a group in their order, by name: the function or group, as `module:name`, and a summary.

The summary is the first sentence of the command's help, so that the help of the group imports no command.
"""


def on_demand(commands: Commands) -> type[TyperGroup]:
    """Return a group of `commands`."""

    class OnDemand(TyperGroup):
        def list_commands(self, ctx: object) -> list[str]:
            return list(commands)

        def get_command(self, ctx: object, cmd_name: str) -> Any:
            return _read(cmd_name, commands[cmd_name][0]) if cmd_name in commands else None

        def resolve_command(self, ctx: Any, args: list[str]) -> Any:
            name = args[0]
            if name not in commands and not name.startswith("-"):
                ctx.fail(f"No such command {name!r}. {did_you_mean(name, commands)}")
            return super().resolve_command(ctx, args)

        def format_commands(self, ctx: Any, formatter: Any) -> None:
            summaries = [TyperCommand(name, help=summary) for name, (_, summary) in commands.items()]
            TyperGroup(commands=summaries).format_commands(ctx, formatter)

    return OnDemand


def group_of(commands: Commands, about: str) -> typer.Typer:
    """Return the group of these commands; `about` is its help."""
    app = typer.Typer(cls=on_demand(commands), no_args_is_help=True, help=about)
    app.callback()(_group)
    return app


def _read(name: str, target: str) -> Any:
    module, _, attribute = target.partition(":")
    gc.disable()  # imported objects stay, and collecting among them takes a tenth of the time
    try:
        # structlog imports rich for coloured tracebacks; a command that prints with it imports it later.
        with hidden("rich"):
            command = getattr(import_module(module), attribute)
    finally:
        gc.enable()
    group = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    group.callback()(_group)
    if isinstance(command, typer.Typer):
        group.add_typer(command, name=name)
    else:
        group.command(name)(command)
    return get_command(group).commands[name]  # type: ignore[attr-defined]  # a group, as it has a callback


def _group() -> None:
    """Make the group valid: Typer requires a callback for a group of one command."""
