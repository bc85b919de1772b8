"""The table of every setting in docs/settings.md, generated from the settings classes.

`make docs` writes the page; a test keeps it equal to the classes.
"""

import sys
from types import ModuleType

from antiphon_shared.process.breaker_settings import BreakerSettings
from antiphon_shared.process.settings import BusSettings, PipelineSettings, Settings, variables

import antiphon.recipes.settings
import antiphon.recording.settings
import context_synthesizer.settings
import coordinator.settings
import reasoning_engine.settings
import response_assembler.settings
import tool_dispatcher.settings

_INTRODUCTION = """\
# Settings

After this page you know every setting: its variable, its values, its default and its effect.

Settings are environment variables. Each process reads its own once, at its start, and refuses one that is
unknown, malformed or out of range. An empty variable counts as not set.

Two more belong to the Anthropic SDK: `ANTHROPIC_API_KEY`, and `ANTHROPIC_BASE_URL` for any other server that
speaks the Messages API. Without both the offline model answers. Models named `openai:NAME` are reached by the OpenAI
SDK's own `OPENAI_API_KEY`, and `OPENAI_BASE_URL` for any other server of chat completions: [models](models.md).

This page is made from the settings classes by `make docs`.
"""

Group = tuple[str, type[Settings]]


def markdown() -> str:
    """Return the whole page."""
    return "\n".join([_INTRODUCTION, *(_section(title, kind) for title, kind in GROUPS)])


def _section(title: str, kind: type[Settings]) -> str:
    lines = [f"## {title}", "", "| Variable | Value | Default | Meaning |", "| --- | --- | --- | --- |"]
    for variable, value, default, meaning in variables(kind):
        cells = (f"`{variable}`", value, f"`{default}`" if default else "none", meaning)
        lines.append(f"| {' | '.join(_cell(text) for text in cells)} |")
    return "\n".join([*lines, ""])


def _cell(text: str) -> str:
    """Return text that cannot end its cell of the table."""
    return " ".join(text.split()).replace("|", "\\|")


def _groups(title: str, module: ModuleType) -> list[Group]:
    """Return the settings classes that a component's module defines."""
    return [
        (title, kind)
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, Settings) and kind.__module__ == module.__name__
    ]


GROUPS: tuple[Group, ...] = (
    ("All processes", PipelineSettings),
    ("The bus", BusSettings),
    ("Circuit breakers", BreakerSettings),
    *_groups("Coordinator", coordinator.settings),
    *_groups("Reasoning engine", reasoning_engine.settings),
    *_groups("Tool dispatcher", tool_dispatcher.settings),
    *_groups("Context synthesizer", context_synthesizer.settings),
    *_groups("Response assembler", response_assembler.settings),
    *_groups("Recordings", antiphon.recording.settings),
    *_groups("Recipes", antiphon.recipes.settings),
)
"""Every group of settings, with its title."""


if __name__ == "__main__":
    sys.stdout.write(markdown())
