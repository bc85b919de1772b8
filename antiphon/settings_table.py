"""The table of every setting in docs/settings.md, generated from the settings classes.

`make docs` writes the page; a test keeps it equal to the classes.
"""

import sys
from types import ModuleType, NoneType
from typing import Any, Literal, get_args, get_origin

from antiphon_shared.process.breaker_settings import BreakerSettings
from antiphon_shared.process.settings import BusSettings, PipelineSettings, Settings
from pydantic import SecretStr
from pydantic.fields import FieldInfo
from pydantic_settings import NoDecode

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
_TYPES: dict[Any, str] = {
    int: "int",
    float: "float",
    bool: "true or false",
    str: "text",
    SecretStr: "text",
}
_BOUNDS = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below"}


def markdown() -> str:
    """Return the whole page."""
    return "\n".join([_INTRODUCTION, *(_section(title, kind) for title, kind in GROUPS)])


def _section(title: str, kind: type[Settings]) -> str:
    lines = [f"## {title}", "", "| Variable | Value | Default | Meaning |", "| --- | --- | --- | --- |"]
    for variable, value, default, meaning in variables(kind):
        cells = (f"`{variable}`", value, f"`{default}`" if default else "none", meaning)
        lines.append(f"| {' | '.join(_cell(text) for text in cells)} |")
    return "\n".join([*lines, ""])


def variables(kind: type[Settings]) -> list[tuple[str, str, str, str]]:
    """Return (variable, type and range, default, description) of each setting, for the generated table."""
    prefix = str(kind.model_config.get("env_prefix", ""))
    return [
        (prefix + name.upper(), _accepted_values(info), _default(info), info.description or "")
        for name, info in kind.model_fields.items()
    ]


def _accepted_values(info: FieldInfo) -> str:
    """Return the values that a setting accepts: `int, 1 to 1024`, `text like ^[a-z]+$`, `auto or offline`, `JSON`."""
    alternatives = get_args(info.annotation) or (info.annotation,)
    if any(part is NoDecode or isinstance(part, NoDecode) for part in info.metadata):
        word = "comma list"
    elif get_origin(info.annotation) in (dict, list, tuple):
        word = "JSON"
    elif get_origin(info.annotation) is Literal:
        word = " or ".join(alternatives)
    else:
        word = " or ".join(_TYPES.get(part, str(part)) for part in alternatives if part is not NoneType)
    rule = {
        name: _plain(value)
        for part in info.metadata
        for name in ("ge", "gt", "le", "lt", "pattern")
        if (value := getattr(part, name, None)) is not None
    }
    if "ge" in rule and "le" in rule:
        return f"{word}, {rule['ge']} to {rule['le']}"
    bounds = [f", {_BOUNDS[name]} {value}" for name, value in rule.items() if name in _BOUNDS]
    return "".join([word, f" like {rule['pattern']}" if "pattern" in rule else "", *bounds])


def _default(info: FieldInfo) -> str:
    default = info.get_default(call_default_factory=True)
    if isinstance(default, tuple):
        return ",".join(default)
    return str(_plain(default)) if default or default == 0 else ""


def _plain(value: object) -> Any:
    """Return a whole number without its `.0`, and any other value unchanged."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _cell(text: str) -> str:
    """Return text on one line without a character that would end the cell."""
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
