"""Commands imported on first use: each needs a part of the program, and most parts are large."""

import gc
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command


def on_demand(commands: Mapping[str, str]) -> type[TyperGroup]:
    """Return a group of `commands`, in that order: each name with its function or group, as `module:name`."""

    class OnDemand(TyperGroup):
        def list_commands(self, ctx: object) -> list[str]:
            return list(commands)

        def get_command(self, ctx: object, cmd_name: str) -> Any:
            return _read(cmd_name, commands[cmd_name]) if cmd_name in commands else None

    return OnDemand


def group_of(commands: Mapping[str, str], about: str) -> typer.Typer:
    """Return the group of these commands, as `on_demand` takes them; `about` is its help."""
    app = typer.Typer(cls=on_demand(commands), no_args_is_help=True, help=about)
    app.callback()(_group)
    return app


def _read(name: str, target: str) -> Any:
    module, _, attribute = target.partition(":")
    gc.disable()  # imported objects stay, and collecting among them takes a tenth of the time
    try:
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
