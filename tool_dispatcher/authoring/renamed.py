"""Options under an earlier name: accepted for one release, with a warning that names the new one."""

import warnings
from collections.abc import Callable, Mapping
from typing import Any

from antiphon_shared.tools.contract import RENAMED

from tool_dispatcher.authoring.failures import InvalidTool
from tool_dispatcher.authoring.source import source_of


def under_todays_names(tool: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options with each earlier name replaced. Raises InvalidTool when both names are given."""
    for name, today in RENAMED.items():
        if name in options and today in options:
            raise InvalidTool(
                tool,
                f"it has both {name} and {today}, the new name of the same option",
                hint=f"Write {today} alone.",
            )
    return {RENAMED.get(name, name): value for name, value in options.items()}


def warn_of_renamed(tool: str, options: Mapping[str, Any], function: Callable[..., Any]) -> None:
    """Warn of each option under an earlier name, at the line where the tool's function is defined."""
    for name in RENAMED.keys() & options.keys():
        today = RENAMED[name]
        message = (
            f"Tool {tool!r}: {name} was renamed to {today}. Write {today}={options[name]!r}; the next "
            f"release refuses {name}."
        )
        file, _, line = source_of(function).rpartition(":")
        warnings.warn_explicit(message, DeprecationWarning, file or "<unknown>", int(line or 0))
