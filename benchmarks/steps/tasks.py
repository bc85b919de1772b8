"""Tasks for the assembly example: lines of components drawn by lot, each with the question that asks for it."""

from dataclasses import dataclass
from random import Random
from typing import Any

from examples.assembly.catalogue import CATALOGUE
from examples.assembly.lines import ComponentDetails, Kind, Line, Setting

_TEXTS = {
    "time": ("06:30", "12:00", "23:15"),
    "path": ("/alarm", "/check", "/report"),
    "channel": ("#harbour", "#weather", "#watch"),
    "to": ("watch@skagen.example", "office@gedser.example"),
    "table": ("water_levels", "observations"),
}
"""Values of the settings that have a pattern."""


@dataclass(frozen=True)
class Task:
    """A line to deploy."""

    question: str
    line: Line


def drawn(number: int, seed: int) -> list[Task]:
    """Return that many tasks, each line with a name of its own."""
    return [_task(place, Random(f"{seed}/{place}")) for place in range(number)]  # a draw, no secret


def value_of(setting: Setting, draw: Random) -> Any:
    """Return a value that fits a setting."""
    if setting.choices:
        return draw.choice(setting.choices)
    if setting.type == "string":
        return draw.choice(_TEXTS[setting.name])
    low, high = setting.minimum or 0, setting.maximum or 100
    return (
        draw.randint(int(low), int(high)) if setting.type == "integer" else round(draw.uniform(low, high), 1)
    )


def _task(place: int, draw: Random) -> Task:
    filters = [_component("filter", draw) for _ in range(draw.randint(0, 2))]
    components = [
        _component("trigger", draw),
        _component("source", draw),
        *filters,
        _component("action", draw),
    ]
    parts = [
        {
            "component": one.component,
            "settings": {setting.name: value_of(setting, draw) for setting in one.settings},
        }
        for one in components
    ]
    line = Line.model_validate({"name": f"line-{place:02}", "parts": parts})
    wanted = "; ".join(
        f"{part.component} ({', '.join(f'{name} {value}' for name, value in part.settings.items())})"
        for part in line.parts
    )
    return Task(f"Deploy a line named {line.name}, of these components in order: {wanted}.", line)


def _component(kind: Kind, draw: Random) -> ComponentDetails:
    return draw.choice([one for one in CATALOGUE if one.kind == kind])
