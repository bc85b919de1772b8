"""Commands that are read when they are asked for: each needs a part of the program, and most parts are not small."""

import gc
from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

_FRAME_WORDS = 1 << 15
"""A quarter of a megabyte, of which only what is used takes memory."""


def on_demand(commands: Mapping[str, str]) -> type[TyperGroup]:
    """A group of `commands`, in that order: each by its name the function, or the group, as `module:name`."""

    class OnDemand(TyperGroup):
        def list_commands(self, ctx: Any) -> list[str]:
            return list(commands)

        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            return _read(cmd_name, commands[cmd_name]) if cmd_name in commands else None

    return OnDemand


def _read(name: str, place: str) -> Any:
    module, _, attribute = place.partition(":")
    gc.disable()  # what is imported stays: looking it through again and again takes a tenth of the time
    try:
        found = getattr(_imported(module), attribute)
    finally:
        gc.enable()
    group = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    group.callback()(_group)
    if isinstance(found, typer.Typer):
        group.add_typer(found, name=name)
    else:
        group.command(name)(found)
    return get_command(group).commands[name]  # type: ignore[attr-defined]  # a group, as it has a callback


def _imported(module: str) -> ModuleType:
    """Import a module, from a frame so large that those of all nested imports find room behind it.

    CPython keeps frames in pieces of 16 kB, and gives a piece back when the first frame in it ends. Imports nest a
    hundred frames deep: where the code of a module calls functions across the end of a piece, each call took a piece
    from the system and gave it back, a tenth of the time from start to the first result. A larger frame gets a larger
    piece.
    """
    return import_module(module)


_imported.__code__ = _imported.__code__.replace(co_stacksize=_FRAME_WORDS)


def _group() -> None:
    """Typer takes no group of one command without one."""
